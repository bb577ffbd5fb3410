"""How boxes of keys act on boxes of queries: near ones directly, farther ones in larger boxes."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

Scores = Callable[[np.ndarray], np.ndarray]


def polynomials(places: np.ndarray, count: int) -> np.ndarray:
    """``T_0`` to ``T_(count - 1)`` at places in [-1, 1], ``(count, ...)``."""
    found = np.empty((count, *places.shape))
    found[0] = 1.0
    found[1] = places
    double = 2.0 * places
    for k in range(2, count):
        np.multiply(double, found[k - 1], out=found[k])
        found[k] -= found[k - 2]
    return found


@lru_cache
def nodes(count: int) -> np.ndarray:
    """The zeros of ``T_count``."""
    return np.cos((np.arange(count) + 0.5) * np.pi / count)


@lru_cache
def to_coefficients(count: int) -> np.ndarray:
    """Values at the nodes to coefficients, ``(count, count)``."""
    table = polynomials(nodes(count), count) * (2.0 / count)
    table[0] *= 0.5
    return table


@lru_cache
def halves(count: int) -> np.ndarray:
    """``T_k((u - 1) / 2)`` and ``T_k((u + 1) / 2)`` as sums of ``T_j(u)``, ``(2, k, j)``."""
    places = [(nodes(count) + side) / 2 for side in (-1.0, 1.0)]
    return np.stack([polynomials(at, count) @ to_coefficients(count).T for at in places])


class Transfer:
    """A kernel K between boxes of one size, as coefficients, and how well they fit.

    Of ``scores``, ``log K``, at ``offsets (o,)``: query's box minus key's box, not negative.

    Attributes:
        kernel: ``(o, p, p)``, with ``K(q - k) = sum A_ij T_i(q) T_j(k)`` of ``count`` p
        polynomials.
        entropic: the same of ``K log K``.
        errors: the largest difference between the two sides that was seen, for either, ``(o,)``.
    """

    def __init__(self, scores: Scores, size: float, offsets: np.ndarray, count: int) -> None:
        probe = np.linspace(-1.0, 1.0, count + 3)
        change, basis = to_coefficients(count), polynomials(probe, count)
        at_nodes, at_probe = (
            scores(size * (offsets[:, None, None] + (at[:, None] - at) / 2))
            for at in (nodes(count), probe)
        )
        found, self.errors = [], np.zeros(len(offsets))
        for make in (np.exp, lambda scores: np.exp(scores) * scores):
            matrices = change @ make(at_nodes) @ change.T
            seen = np.abs(basis.T @ matrices @ basis - make(at_probe)).max(axis=(1, 2))
            self.errors = np.maximum(self.errors, seen)
            found.append(matrices)
        self.kernel, self.entropic = found


def mirrored(matrices: np.ndarray) -> np.ndarray:
    """The matrices of the negative offsets, of those of the positive ones."""
    signs = np.where(np.arange(matrices.shape[-1]) % 2, -1.0, 1.0)
    return matrices * signs[:, None] * signs


NOTHING = 1e-16  # of the kernel's peak: what is left out of a sum
_CHUNK = 1 << 9


class Boxes(NamedTuple):
    """Boxes of one size: numbers of the queries' and of the keys', increasing, ``(t,)``, ``(s,)``.

    ``held (s, c, p)`` are moments of the keys' boxes, of which the first channel is the keys'
    number; ``amounts (s,)`` are what an error of each box is multiplied by.
    """

    size: float
    targets: np.ndarray
    sources: np.ndarray
    held: np.ndarray
    amounts: np.ndarray


class Local(NamedTuple):
    """What acts on the targets.

    ``coefficients (t, c + 1, p)``, the last channel of ``K log K``; ``slips (t,)`` bound errors.
    """

    coefficients: np.ndarray
    slips: np.ndarray

    def plus(self, other: "Local") -> "Local":
        """Both together."""
        return Local(self.coefficients + other.coefficients, self.slips + other.slips)


def acting(scores: Scores, boxes: Boxes, finest: Transfer) -> Local:
    """All boxes on all others, by ``log K`` of differences, 0 at 0.

    Near ones act directly: ``finest`` has the matrices of 0 to the most boxes that they are apart.
    """
    whole = np.ones(len(boxes.targets), dtype=bool)[:, None]
    near = len(finest.errors) - 1
    offsets = np.arange(-near, near + 1)
    direct = _transferred(boxes, offsets, finest, np.abs(offsets), whole)
    return direct.plus(_beyond(scores, near, boxes))


def _beyond(scores: Scores, near: int, boxes: Boxes) -> Local:
    """Boxes more than ``near`` apart: at this size, if their parents are near; else above."""
    count = boxes.held.shape[-1]
    nothing = Local(
        np.zeros((len(boxes.targets), boxes.held.shape[1] + 1, count)),
        np.zeros(len(boxes.targets)),
    )
    ends = (boxes.targets[[0, -1]], boxes.sources[[0, -1]])
    if max(end[1] for end in ends) - min(end[0] for end in ends) <= near:
        return nothing
    score = float(scores(np.array([near * boxes.size]))[0])
    left = np.exp(score) * (1.0 - score)
    if not left > NOTHING * 100:
        return nothing._replace(slips=nothing.slips + left * boxes.amounts.sum())
    farther = np.arange(near + 1, 2 * near + 2)
    offsets = np.concatenate([-farther, farther])
    # The parents of boxes 2 near + 1 apart are near on one side of a pair of boxes only.
    odd = (boxes.targets % 2 == 1)[:, None]
    allowed = (np.abs(offsets) <= 2 * near) | np.where(offsets > 0, odd, ~odd)
    found = _transferred(
        boxes, offsets, Transfer(scores, boxes.size, farther, count),
        np.abs(offsets) - near - 1, allowed,
    )  # fmt: skip
    above = _beyond(scores, near, _parents(boxes))
    up = np.unique(boxes.targets >> 1, return_inverse=True)[1]
    inherited = np.empty_like(nothing.coefficients)
    for side in (0, 1):
        mine = boxes.targets % 2 == side
        inherited[mine] = above.coefficients[up[mine]] @ halves(count)[side]
    return found.plus(Local(inherited, above.slips[up]))


def _parents(boxes: Boxes) -> Boxes:
    sources, up = np.unique(boxes.sources >> 1, return_inverse=True)
    held = np.zeros((len(sources), *boxes.held.shape[1:]))
    for side in (0, 1):
        mine = boxes.sources % 2 == side
        held[up[mine]] += boxes.held[mine] @ halves(held.shape[-1])[side].T
    amounts = np.bincount(up, boxes.amounts, len(sources))
    return Boxes(2.0 * boxes.size, np.unique(boxes.targets >> 1), sources, held, amounts)


def _transferred(
    boxes: Boxes, offsets: np.ndarray, transfer: Transfer, of: np.ndarray, allowed: np.ndarray
) -> Local:
    """What acts over offsets ``(o,)``, target minus source, each by its matrix of the transfer.

    Which offsets count for which targets, ``allowed`` says, ``(t, o)`` or broadcasting to it.
    """
    channels, count = boxes.held.shape[1:]
    negative = (offsets < 0)[:, None, None]
    kernel, entropic = (
        np.where(negative, mirrored(each[of]), each[of]).swapaxes(1, 2).reshape(-1, count)
        for each in (transfer.kernel, transfer.entropic)
    )
    held = np.concatenate([boxes.held, np.zeros((1, channels, count))])
    amounts = np.concatenate([boxes.amounts, [0.0]])
    allowed = np.broadcast_to(allowed, (len(boxes.targets), len(offsets)))
    coefficients = np.empty((len(boxes.targets), channels + 1, count))
    slips = np.empty(len(boxes.targets))
    for start in range(0, len(boxes.targets), _CHUNK):
        part = slice(start, start + _CHUNK)
        wanted = boxes.targets[part, None] - offsets
        at = np.minimum(np.searchsorted(boxes.sources, wanted), len(boxes.sources) - 1)
        at = np.where((boxes.sources[at] == wanted) & allowed[part], at, len(boxes.sources))
        met = held[at].swapaxes(1, 2).reshape(len(at), channels, -1)  # (t, c, o p)
        coefficients[part, :-1] = met @ kernel
        coefficients[part, -1] = met[:, 0] @ entropic
        slips[part] = amounts[at] @ transfer.errors[of]
    return Local(coefficients, slips)

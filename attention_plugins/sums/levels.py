"""How boxes of keys act on boxes of queries: near ones directly, farther ones in larger boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from attention_plugins.sums.chebyshev import Scores, Transfer, halves, mirrored

NOTHING = 1e-16  # of the kernel's peak: what is left out of a sum
_CHUNK = 1 << 9


class Boxes(NamedTuple):
    """Boxes of one size: of queries (``targets``) and of keys (``sources``).

    Args:
        size: of every box.
        targets, sources: their numbers, increasing, ``(t,)`` and ``(s,)``.
        held: moments of the keys' boxes, ``(s, c, p)``; the first channel is the keys' number.
        amounts: what an error of each box is multiplied by, ``(s,)``.
    """

    size: float
    targets: np.ndarray
    sources: np.ndarray
    held: np.ndarray
    amounts: np.ndarray


class Local(NamedTuple):
    """What acts on the targets.

    Args:
        coefficients: ``(t, c + 1, p)``; the last channel is of ``K log K``.
        slips: a bound on the error of any sum, ``(t,)``.
    """

    coefficients: np.ndarray
    slips: np.ndarray


def acting(scores: Scores, near: int, boxes: Boxes, finest: Transfer) -> Local:
    """All boxes on all others.

    Args:
        scores: ``log K`` of differences, 0 at 0.
        near: boxes at most so many apart act directly.
        finest: the matrices of 0 to ``near`` boxes apart.
    """
    whole = np.ones(len(boxes.targets), dtype=bool)[:, None]
    offsets = np.arange(-near, near + 1)
    direct = _transferred(boxes, offsets, finest, np.abs(offsets), whole)
    return _plus(direct, _beyond(scores, near, boxes))


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
    return _plus(found, Local(inherited, above.slips[up]))


def _parents(boxes: Boxes) -> Boxes:
    """The same in boxes of twice the size."""
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
    """What acts over some offsets (target minus source).

    Args:
        offsets: ``(o,)``.
        of: which matrix of the transfer each offset has, ``(o,)``.
        allowed: ``(t, o)`` or broadcasting to it.
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
        there = (boxes.sources[at] == wanted) & allowed[part]
        at = np.where(there, at, len(boxes.sources))
        met = held[at].swapaxes(1, 2).reshape(len(at), channels, -1)  # (t, c, o p)
        coefficients[part, :-1] = met @ kernel
        coefficients[part, -1] = met[:, 0] @ entropic
        slips[part] = amounts[at] @ transfer.errors[of]
    return Local(coefficients, slips)


def _plus(one: Local, other: Local) -> Local:
    return Local(one.coefficients + other.coefficients, one.slips + other.slips)

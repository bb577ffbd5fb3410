"""Where each number of an attention step comes from, with its arithmetic written out.

Arithmetic is only said of numbers that it gives: what comes out differently when it is computed
again is said to come from its scoring or its normaliser.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dashboard.charts.summary import fixed, number
from dashboard.language import gettext, gettext_noop

STEP = ("q", "k", "v", "scores", "allowed", "weights", "dropped", "pooled")
PROJECTED = ("x", "w_q", "w_k", "w_v")
_BLOCKS = {  # from left to right: the groups whose matrices stand below each other, and titles
    "x": (0, gettext_noop("Embeddings")), "w_q": (1, "W_q"), "w_k": (1, "W_k"), "w_v": (1, "W_v"),
    "q": (2, "Q"), "k": (2, "K"), "v": (2, "V"), "scores": (3, gettext_noop("Scores")),
    "exp": (4, "exp"), "weights": (5, gettext_noop("Weights")),
    "pooled": (6, gettext_noop("Output")),
}  # fmt: skip
_DIGITS = (4, 3, 2)  # behind the point
Numbers = Sequence[float] | np.ndarray


class Block(NamedTuple):
    """A matrix with its labels; those of one ``group`` stand below each other."""

    title: str
    group: int
    rows: Sequence[str]
    columns: Sequence[str]


class Cell(NamedTuple):
    """A number of a block, the ids of its ``parents``, its name, and its arithmetic."""

    block: int
    row: int
    column: int
    value: float
    parents: tuple[int, ...]
    name: str
    said: str


class Words(NamedTuple):
    """What the parts of a step are called; ``needs``: what a scoring reads beside q and k."""

    queries: Sequence[str]
    keys: Sequence[str]
    scoring: str = ""
    normaliser: str = ""
    needs: str = ""


class Lineage(NamedTuple):
    """All numbers of a step; the id of a cell is its place in ``cells``."""

    blocks: list[Block]
    cells: list[Cell]


def written(value: float, digits: int = 3, fine: bool = False) -> str:
    """So many digits behind the point; where ``fine``, significant ones for what would be 0."""
    if fine and value and not round(value, digits):
        return number(value, digits)
    if not math.isfinite(value):
        return gettext("−∞, ruled out") if value == -math.inf else gettext("not finite")
    whole = value == round(value) and abs(value) < 1e15
    return fixed(value, 0 if whole else digits)


def equation(
    form: Callable[..., str], compute: Callable[..., float], terms: Numbers, result: float,
    fine: bool = False,
) -> str:  # fmt: skip
    """``form`` of the terms, and the result; ``fine`` as of :func:`written`.

    The fewest digits with which the written terms give the written result; with none, it is ≈.
    """
    near = (lambda v, d: round(v, d) or float(f"{v:.{d}g}")) if fine else round
    digits, sign = 3, "≈"
    for fewer in _DIGITS:
        again = compute(*(near(float(term), fewer) for term in terms))
        if math.isclose(near(float(again), fewer), near(float(result), fewer)):
            digits, sign = fewer, "="
    left = form(*(written(float(term), digits, fine) for term in terms))
    return f"{left} {sign} {written(result, digits, fine)}"


def paired(
    left: Numbers, right: Numbers, result: float, each: str = "{}·{}",
    around: str = "{}", compute: Callable[[np.ndarray, np.ndarray], float] = np.dot,
) -> str:  # fmt: skip
    """``each`` of the pairs, added up, with something ``around``: ``0.24·1 + 0.67·8 = 5.60``."""
    half = len(left)

    def form(*numbers: str) -> str:
        safe = [f"({n})" if n.startswith("−") else n for n in numbers]
        return around.format(" + ".join(map(each.format, safe[:half], safe[half:])))

    def total(*numbers: float) -> float:
        return float(compute(np.array(numbers[:half]), np.array(numbers[half:])))

    return equation(form, total, (*left, *right), result)


def lineage(tensors: Mapping[str, np.ndarray], words: Words) -> Lineage:
    """Every number of one attention step, from left to right.

    ``tensors``: :data:`STEP` of one batch row and head, each ``(rows, columns)``, with nothing
    dropped; where given matrices make queries, keys and values also :data:`PROJECTED`.
    """
    return _Walk(tensors, words).made


class _Walk:
    def __init__(self, tensors: Mapping[str, np.ndarray], words: Words) -> None:
        self.made, self._held, self._words = Lineage([], []), dict(tensors), words
        self._ids: dict[str, np.ndarray] = {}
        for name in PROJECTED if "x" in tensors else "qkv":
            numbers = self._held[name]
            self._add(name, lambda *_: (), lambda i, j, numbers=numbers: gettext(
                "{number}, as given", number=written(numbers[i, j], 4)))  # fmt: skip
        if "x" in tensors:
            for name in "qkv":
                self._project(name, f"w_{name}")
        self._score()
        self._weigh()
        self._pool()

    def _add(
        self, name: str, parents: Callable[[int, int], tuple[np.ndarray, ...]],
        said: Callable[[int, int], str],
    ) -> None:  # fmt: skip
        values, words, (group, title) = self._held[name], self._words, _BLOCKS[name]
        down, across = ([*map(str, range(count))] for count in values.shape)
        if not name.startswith("w_"):
            down = words.keys if name in "kv" else words.queries
        across = words.keys if name in ("scores", "exp", "weights") else across
        if name not in ("exp", "weights"):  # what a sum leaves where it should be 0
            values = self._held[name] = np.where(np.abs(values) < 1e-12, 0.0, values)
        block = Block(gettext(title), group, down, across)
        first = len(self.made.cells)
        self._ids[name] = np.arange(first, first + values.size).reshape(values.shape)
        self.made.blocks.append(block)
        for i, j in np.ndindex(values.shape):
            ids = tuple(int(one) for part in parents(i, j) for one in np.ravel(part))
            place = f"{block.title} ({down[i]}, {across[j]})"
            number = len(self.made.blocks) - 1, i, j, float(values[i, j])
            self.made.cells.append(Cell(*number, ids, place, said(i, j)))

    def _project(self, name: str, by: str) -> None:
        of, x, w, made = self._ids, *(self._held[each] for each in ("x", by, name))
        self._add(
            name, lambda i, j: (of["x"][i], of[by][:, j]),
            lambda i, j: paired(x[i], w[:, j], made[i, j]),
        )  # fmt: skip

    def _score(self) -> None:
        of, q, k, scores = self._ids, *(self._held[name] for name in ("q", "k", "scores"))
        known = _form_of(q, k, scores)

        def said(i: int, j: int) -> str:
            if known is not None:
                return paired(q[i], k[j], scores[i, j], **known)
            form = gettext_noop("{number}, by {scoring} from query and key")
            if self._words.needs:
                form = gettext_noop("{number}, by {scoring} from query, key and {needs}")
            return gettext(form, number=written(scores[i, j]), **self._words._asdict())

        self._add("scores", lambda i, j: (of["q"][i], of["k"][j]), said)

    def _weigh(self) -> None:
        of, scores, weights = self._ids, self._held["scores"], self._held["weights"]
        counts = (self._held["allowed"] > 0) & ~np.isneginf(scores)
        with np.errstate(all="ignore"):
            raised = np.where(counts, np.exp(scores), 0.0)
            most = np.where(counts, scores, -np.inf).max(axis=-1, keepdims=True)
            shares = np.where(counts, np.exp(scores - most), 0.0)
            shares = np.where(counts, shares / shares.sum(axis=-1, keepdims=True), 0.0)
        before, allowed = "scores", self._held["allowed"] > 0

        def out(i: int, j: int) -> str:
            if allowed[i, j]:
                return gettext("0: the score rules this key out")
            return gettext("0: this key is masked")

        def sharing(i: int, j: int) -> str:
            if before == "exp" and not counts[i, j]:
                return out(i, j)
            if before == "scores" or not 0 < raised[i].sum() < np.inf:
                form = gettext_noop("{number}, by {normaliser} from the scores")
                return gettext(form, number=written(weights[i, j]), **self._words._asdict())
            return equation(
                lambda one, *row: f"{one} / ({' + '.join(row)})",
                lambda one, *row: one / sum(row) if sum(row) else math.nan,
                (raised[i, j], *raised[i]), weights[i, j], fine=True,
            )  # fmt: skip

        if np.allclose(shares, weights):  # a softmax
            before, self._held["exp"] = "exp", raised
            self._add(
                "exp", lambda i, j: (of["scores"][i, j],),
                lambda i, j: out(i, j) if not counts[i, j] else equation(
                    "exp({})".format, np.exp, scores[i, [j]], raised[i, j], fine=True),
            )  # fmt: skip
        self._add("weights", lambda i, _: (of[before][i],), sharing)

    def _pool(self) -> None:
        of, v, weights, pooled = self._ids, *(self._held[n] for n in ("v", "weights", "pooled"))
        summed = np.allclose(weights @ v, pooled)

        def said(i: int, j: int) -> str:
            if summed:
                return paired(weights[i], v[:, j], pooled[i, j])
            form = gettext_noop("{number}, by {scoring} from weights and values")
            return gettext(form, number=written(pooled[i, j]), **self._words._asdict())

        values = (lambda j: of["v"][:, j]) if summed else lambda _: of["v"]
        self._add("pooled", lambda i, j: (of["weights"][i], values(j)), said)


def _form_of(q: np.ndarray, k: np.ndarray, scores: np.ndarray) -> dict[str, Any] | None:
    """How :func:`paired` writes a score: a dot product, scaled or not, or a distance squared."""
    size = q.shape[-1]
    if size != k.shape[-1] or not np.isfinite(scores).all():
        return None
    products, root = q @ k.T, math.sqrt(size)
    if np.allclose(scores, products):
        return {}
    if np.allclose(scores, products / root):
        return {"around": f"({{}}) / √{size}", "compute": lambda a, b: a @ b / root}
    squares = ((q[:, None] - k) ** 2).sum(axis=-1)
    times = float(f"{(scores * squares).sum() / max((squares**2).sum(), 1e-12):.4g}")
    if not times or not np.allclose(scores, times * squares):
        return None
    around = f"{times:.4g}·({{}})".replace("-", "−")
    return {"each": "({} − {})²", "around": around,
            "compute": lambda a, b: times * ((a - b) ** 2).sum()}  # fmt: skip

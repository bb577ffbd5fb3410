"""Lessons 1 to 4: queries and keys, a kernel, scorings, and the mask."""

from __future__ import annotations

import numpy as np

from dashboard.features.lessons.lesson import Figures, Lesson, Try, curve, lines, numbers, stage
from dashboard.language import gettext, gettext_noop
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

_ERROR = 0.12
_FLAT = 0.15  # of the spread of the points
_ONE = 2.0  # neighbours: a curve through every point


def _kernel_request(width: Scalar, _: Catalogue) -> Request:
    return Request.make(
        "regression", model="nadaraya_watson", scoring="gaussian", parameters={"width": width},
        data="sine",
    )  # fmt: skip


def _kernel_measured(result: Result, width: Scalar) -> Figures:
    spread = np.ptp(result.tables["curve"]["prediction"].to_numpy())
    metrics = result.facts["metrics"]
    return {
        "width": float(width), "error": metrics["truth_mse"],
        "neighbours": metrics["effective_neighbours"],
        "spread": float(spread / np.ptp(result.tables["points"]["y"].to_numpy())),
        "points": result.tables["points"].num_rows,
    }  # fmt: skip


def _kernel_answer(figures: Figures) -> str:
    if figures["spread"] < _FLAT:
        return "b"
    return "a" if figures["neighbours"] < _ONE else "c"


KERNEL = Lesson(
    name="kernel",
    title="Kernel regression",
    section="10.2",
    papers="Nadaraya 1964; Watson 1964",
    idea="To predict at a query x, take the mean of the known y, weighed by how near their points "
    "are. The points are the keys, their y the values. The Gaussian kernel's weights fall off "
    "with the square of the distance; the width σ says how fast.",
    formulas=(
        r"f(x)=\sum_i \frac{\exp\left(-\frac{(x-x_i)^2}{2\sigma^2}\right)}"
        r"{\sum_j \exp\left(-\frac{(x-x_j)^2}{2\sigma^2}\right)}\,y_i",
    ),
    terms=("kernel", "width", "average pooling", "effective neighbours"),
    control=Parameter(name="at", title="Width σ", default=1.0, low=0.05, high=3.0, step=0.05),
    given=1.0,
    asked=3.0,
    question="The points span 5 units of x. What becomes of the curve at a width of 3?",
    choices={
        "a": "It goes through every point",
        "b": "It is almost flat, at the mean of all y",
        "c": "It follows the dashed truth more closely",
    },
    request=_kernel_request,
    figure=lambda result, _: curve(result),
    measured=_kernel_measured,
    answer=_kernel_answer,
    reason="At this width a prediction rests on {neighbours:.0f} of {points} points, and the "
    "curve spans {spread:.0%} of what the points span: all points weigh almost alike.",
    now="At width {width:g} the squared error against the truth is **{error:.3f}**, over "
    "{neighbours:.1f} effective neighbours.",
    goal=f"Find a width whose squared error is below {_ERROR:g}.",
    reached=lambda figures: figures["error"] < _ERROR,
    missed="Not yet: at width {width:g} the error is {error:.3f}.",
    conclusion="At width {width:g} the error is {error:.3f}. Wider, the curve misses the waves; "
    "narrower, it follows the noise.",
    tries=(
        Try(
            page="regression",
            label="Widths of 0.2 and 3 side by side",
            query={"a": "gaussian", "a.width": "0.2", "b": "gaussian", "b.width": "3"},
        ),
        Try(
            page="regression",
            label="A width that is learned from the points",
            query={"a": "gaussian", "a.learn": "1"},
        ),
    ),
)


_GIVEN, _ASKED = "4", "64"
_LARGE = 0.9
_KEYS = 16
_MOVED = 0.1  # of a weight
_DOT, _SCALED = "dot", "scaled_dot"
_TITLES = {_DOT: gettext_noop("dot product"), _SCALED: gettext_noop("divided by √d")}


def _scoring_request(_d: Scalar, _catalogue: Catalogue) -> Request:
    return Request.make("anatomy", scoring=_SCALED, options={"part": "root", "count": _KEYS})


def _largest(result: Result, scoring: str) -> dict[int, float]:
    """The mean largest weight by d."""
    rows = result.tables["spread"].to_pylist()
    return {row["d"]: row["largest"] for row in rows if row["scoring"] == scoring}


def _scoring_measured(result: Result, d: Scalar) -> Figures:
    dot, scaled = (_largest(result, scoring) for scoring in (_DOT, _SCALED))
    at = int(d)
    return {
        "d": at, "dot": dot[at], "scaled": scaled[at], "before": dot[int(_GIVEN)],
        "half": dot.get(at // 2, 0.0),
    }  # fmt: skip


def _scoring_figure(result: Result, d: Scalar) -> None:
    """From the d that is given first: smaller ones would show what the question asks for."""
    seen = [at for at in _largest(result, _DOT) if int(_GIVEN) <= at <= int(d)]
    series = {
        gettext(title): [(at, _largest(result, scoring)[at]) for at in seen]
        for scoring, title in _TITLES.items()
    }
    alt = gettext("The largest of {count} weights, on average, up to d = {d}", count=_KEYS, d=d)
    lines(
        result, alt, series, x_title="d", y_title=gettext("largest weight"),
        marked={title: points[-1:] for title, points in series.items()}, ticks=seen,
    )  # fmt: skip


def _scoring_answer(figures: Figures) -> str:
    change = figures["dot"] - figures["before"]
    return "b" if abs(change) < _MOVED else "c" if change > 0 else "a"


SCORING = Lesson(
    name="scoring",
    title="Scoring functions",
    section="10.3",
    papers="Vaswani et al. 2017, section 3.2.1",
    idea="What compares a query with a key is a scoring function; the softmax turns its scores "
    "into weights. The additive one is a small network and takes queries and keys of unlike "
    "sizes. The dot product is cheaper, but its scores spread with the size d of the vectors.",
    formulas=(r"a(q,k)=w_v^\top\tanh(W_q q+W_k k)", r"a(q,k)=\frac{q^\top k}{\sqrt d}"),
    terms=("scoring function", "softmax", "additive scoring", "scaled dot product"),
    control=Parameter(
        name="at", title="Numbers in a vector, d", default=_GIVEN,
        choices=tuple(str(2**power) for power in range(2, 10)),
    ),
    given=_GIVEN,
    asked=_ASKED,
    question=f"Vectors grow from {_GIVEN} to {_ASKED} random numbers, without dividing by √d. "
    f"What becomes of the largest of {_KEYS} weights?",
    choices={"a": "It falls", "b": "It stays as it is", "c": "It grows towards 1"},
    request=_scoring_request,
    figure=_scoring_figure,
    measured=_scoring_measured,
    answer=_scoring_answer,
    reason="It goes from {before:.2f} to {dot:.2f}. The variance of a dot product is d, so one "
    "score towers over the others; divided by √d it is {scaled:.2f}, much as before.",
    now="At d = {d} the largest weight is **{dot:.2f}** without the root, {scaled:.2f} with it.",
    goal=f"Find the smallest d whose largest weight is above {_LARGE:g} without the root.",
    reached=lambda figures: figures["dot"] > _LARGE >= figures["half"],
    missed="Not yet: it is {dot:.2f} at d = {d}, and {half:.2f} at half of it.",
    conclusion="At d = {d} one key in sixteen takes {dot:.0%} of the weight. The softmax is then "
    "saturated: its gradient is almost 0, and little can be learned.",
    tries=(
        Try(
            page="anatomy",
            label="Variance, largest weight and entropy for 128 keys",
            query={"part": "root", "count": "128"},
        ),
        Try(
            page="anatomy",
            label="Which keys additive scoring favours, drawn as a landscape",
            query={"part": "landscape", "scoring": "additive"},
        ),
    ),
)  # fmt: skip


_SCORES = "-1,-2,-0.5,-1.5,0.5,1"
_COUNT = _SCORES.count(",") + 1
_MOST = 0.9


def _mask_request(length: Scalar, _: Catalogue) -> Request:
    return Request.make(
        "anatomy", options={"part": "mask", "scores": _SCORES, "lengths": str(length)}
    )


def _mask_measured(result: Result, length: Scalar) -> Figures:
    rest = stage(result, "weights").ravel()[int(length) :]
    return {
        "length": int(length), "count": _COUNT, "leak": result.facts["leak"][0],
        "right": float(rest.sum()),
    }  # fmt: skip


def _mask_figure(result: Result, length: Scalar) -> None:
    rows = np.stack([stage(result, name).ravel() for name in ("weights", "wrong")])
    columns = [str(i + 1) if i < int(length) else gettext("pad") for i in range(_COUNT)]
    numbers(result, gettext("Weights by the masked softmax, and with scores set to 0"), rows,
            rows=[gettext("left out"), gettext("set to 0")], columns=columns,
            column_title=gettext("token"))  # fmt: skip


def _mask_answer(figures: Figures) -> str:
    if not figures["leak"]:
        return "a"
    return "b" if figures["leak"] < 0.5 else "c"


MASK = Lesson(
    name="mask",
    title="Masked softmax",
    section="10.3",
    idea="Sentences of a batch are filled up to one length. What fills them has keys too, and the "
    "softmax gives a weight to everything it sees. A mask takes these keys out, before the "
    "softmax and not after it.",
    formulas=(r"\alpha_i=\frac{m_i\,e^{s_i}}{\sum_j m_j\,e^{s_j}}", r"m_i\in\{0,1\}"),
    terms=("token", "padding", "valid length", "mask", "masked softmax"),
    control=Parameter(name="at", title="Valid length", default=_COUNT, low=1, high=_COUNT, step=1),
    given=_COUNT,
    asked=3,
    question="Only the first 3 of 6 tokens are real. Somebody sets the scores of the others to 0 "
    "instead of leaving them out. How much weight goes to padding?",
    choices={"a": "None: 0 is nothing", "b": "Some, less than half", "c": "More than half"},
    request=_mask_request,
    figure=_mask_figure,
    measured=_mask_measured,
    answer=_mask_answer,
    reason="{leak:.0%} of the weight goes to padding, since a score of 0 counts as exp(0) = 1. "
    "The masked softmax gives it {right:.0%}.",
    now="With {length} of {count} tokens valid, **{leak:.0%}** leak when scores are set to 0.",
    goal=f"Find a length at which more than {_MOST:.0%} of the weight leaks.",
    reached=lambda figures: figures["leak"] > _MOST,
    missed="Not yet: at length {length} it is {leak:.0%}.",
    conclusion="With {length} valid token, {leak:.0%} of the weight lies on padding: the shorter "
    "a sentence, the more it suffers from its neighbours in the batch.",
    tries=(
        Try(
            page="anatomy",
            label="Lengths of 1 and 4, right and wrong, in a batch of two",
            query={"part": "mask", "per_row": "1,4"},
        ),
        Try(
            page="anatomy",
            label="Sentences of 7, 10 and 4 words through self-attention",
            query={"example": "self"},
        ),
    ),
)


_CUES_KEYS, _VALUES = (-2, -1, 0, 1, 2), (5, 1, 8, 2, 4)
_LOW = 2.5  # of the output that is to be found


def _cues_request(query: Scalar, _: Catalogue) -> Request:
    return Request.make(
        "anatomy", scoring="gaussian", parameters={"width": 0.5},
        options={
            "part": "step", "q": f"{query:g}", "k": "/".join(map(str, _CUES_KEYS)),
            "v": "/".join(map(str, _VALUES)),
        },
    )  # fmt: skip


def _cues_measured(result: Result, query: Scalar) -> Figures:
    weights = stage(result, "weights").ravel()
    best = int(weights.argmax())
    return {
        "query": float(query), "best": _CUES_KEYS[best], "weight": float(weights[best]),
        "output": float(stage(result, "pooled").ravel()[0]),
    }  # fmt: skip


def _cues_figure(result: Result, _: Scalar) -> None:
    weights = stage(result, "weights").reshape(1, -1)
    columns = [f"{k} → {v}".replace("-", "−") for k, v in zip(_CUES_KEYS, _VALUES, strict=True)]
    numbers(result, gettext("The weight of each key"), np.asarray(weights),
            rows=[gettext("weight")], columns=columns,
            column_title=gettext("key → value"))  # fmt: skip


CUES = Lesson(
    name="cues",
    title="Cues and pooling",
    section="10.1",
    idea="A red cup among papers catches your eye unasked; it is a cue of the scene. Wanting to "
    "read, you look for the book: that cue is yours. Attention holds both. It compares what you "
    "want with what is there, and mixes what it finds.",
    formulas=(r"f(q)=\sum_i \alpha(q,k_i)\,v_i", r"\sum_i\alpha(q,k_i)=1"),
    terms=("query", "key", "value", "weight", "attention pooling"),
    control=Parameter(name="at", title="Query", default=0.0, low=-2.0, high=2.0, step=0.5),
    given=0.0,
    asked=2.0,
    question="The query moves from 0 to 2. Which key then has the largest weight?",
    choices={
        "a": "Key 0 still: weights belong to the keys",
        "b": "Key 2, the nearest one",
        "c": "All have the same weight",
    },
    request=_cues_request,
    figure=_cues_figure,
    measured=_cues_measured,
    answer=lambda figures: {0: "a", 2: "b"}.get(figures["best"], "c"),
    reason="Key {best} now has the weight {weight:.2f}. The query decides which keys count; the "
    "values have no say in it.",
    now="With the query at {query:g} the output is **{output:.2f}**.",
    goal=f"Find a query whose output is below {_LOW:g}.",
    reached=lambda figures: figures["output"] < _LOW,
    missed="Not yet: at the query {query:g} the output is {output:.2f}.",
    conclusion="The query {query:g} is near the key of the value 1, so most of that value comes "
    "through: the output is {output:.2f}.",
    tries=(
        Try(
            page="anatomy",
            label="One step taken apart: the same kernel, number by number",
            query={"scoring": "gaussian", "scoring.width": "0.5"},
        ),
        Try(
            page="regression",
            label="Pooling that looks at no query: every point gets the mean",
            query={"a": "uniform"},
        ),
    ),
)

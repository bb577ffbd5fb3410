"""Lessons 1 to 4 and 9: queries and keys, a kernel, scorings, the mask, what others built."""

from collections.abc import Mapping

import numpy as np

from dashboard.charts.lineage import paired
from dashboard.charts.regression import draw_regression, prepare_regression
from dashboard.features.lessons.lesson import Figure, Figures, Lesson, lines, numbers, stage
from dashboard.language import gettext, gettext_noop
from dashboard.records import sentence
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

_ERROR = 0.12
_FLAT = 0.15  # of the spread of the points
_ONE = 2.0  # neighbours: a curve through every point


def _kernel(result: Result, width: Scalar) -> Figures:
    points, metrics = result.tables["points"], result.facts["metrics"]
    spread = np.ptp(result.tables["curve"]["prediction"].to_numpy())
    return {
        "width": float(width), "error": metrics["truth_mse"],
        "neighbours": metrics["effective_neighbours"],
        "spread": float(spread / np.ptp(points["y"].to_numpy())), "points": points.num_rows,
    }  # fmt: skip


def _curve(result: Result, _: Scalar) -> Figure:
    return Figure(
        gettext("The prediction over the points; the truth is dashed"),
        draw_regression,
        lambda: prepare_regression(
            result.tables["curve"], result.tables["points"],
            x_title=result.facts["x_names"][0], y_title=result.facts["y_name"],
        ),
    )  # fmt: skip


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
    asked=3.0,
    question="The points span 5 units of x. What becomes of the curve at a width of 3?",
    choices={
        "a": "It goes through every point",
        "b": "It is almost flat, at the mean of all y",
        "c": "It follows the dashed truth more closely",
    },
    request=lambda width, _: Request.make(
        "regression",
        model="nadaraya_watson",
        scoring="gaussian",
        data="sine",
        parameters={"width": width},
    ),
    figure=_curve,
    measured=_kernel,
    answer=lambda figures: (
        "b" if figures["spread"] < _FLAT else "a" if figures["neighbours"] < _ONE else "c"
    ),
    reason="At this width a prediction rests on {neighbours:.0f} of {points} points, and the "
    "curve spans {spread:.0%} of what the points span: all points weigh almost alike.",
    now="At width {width:g} the squared error against the truth is **{error:.3f}**, over "
    "{neighbours:.1f} effective neighbours.",
    goal=f"Find a width whose squared error is below {_ERROR:g}.",
    reached=lambda figures: figures["error"] < _ERROR,
    missed="Not yet: at width {width:g} the error is {error:.3f}.",
    conclusion="At width {width:g} the error is {error:.3f}. Wider, the curve misses the waves; "
    "narrower, it follows the noise.",
    tries={
        "regression?a=gaussian&a.width=0.2&b=gaussian&b.width=3": "Widths of 0.2 and 3 side by "
        "side",
        "regression?a=gaussian&a.learn=1": "A width that is learned from the points",
    },
)


_GIVEN, _ASKED = "4", "64"
_SIZES = tuple(str(2**power) for power in range(2, 10))
_LARGE = 0.9
_KEYS = 16
_MOVED = 0.1  # of a weight
_DOT, _SCALED = "dot", "scaled_dot"
_TITLES = {_DOT: gettext_noop("dot product"), _SCALED: gettext_noop("divided by √d")}


def _largest(result: Result, scoring: str) -> dict[int, float]:
    rows = result.tables["spread"].to_pylist()
    return {row["d"]: row["largest"] for row in rows if row["scoring"] == scoring}


def _scoring(result: Result, d: Scalar) -> Figures:
    dot, scaled, at = _largest(result, _DOT), _largest(result, _SCALED), int(d)
    return {
        "d": at, "dot": dot[at], "scaled": scaled[at], "before": dot[int(_GIVEN)],
        "half": dot.get(at // 2, 0.0),
    }  # fmt: skip


def _growth(result: Result, d: Scalar) -> Figure:
    """From the d that is given first: smaller ones would show what the question asks for."""
    seen = [at for at in _largest(result, _DOT) if int(_GIVEN) <= at <= int(d)]
    series = {
        gettext(title): [(at, _largest(result, scoring)[at]) for at in seen]
        for scoring, title in _TITLES.items()
    }
    alt = gettext("The largest of {count} weights, on average, up to d = {d}", count=_KEYS, d=d)
    marked = {title: points[-1:] for title, points in series.items()}
    return lines(alt, series, marked, ("d", gettext("largest weight")), seen)


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
    control=Parameter(name="at", title="Numbers in a vector, d", default=_GIVEN, choices=_SIZES),
    asked=_ASKED,
    question=f"Vectors grow from {_GIVEN} to {_ASKED} random numbers, without dividing by √d. "
    f"What becomes of the largest of {_KEYS} weights?",
    choices={"a": "It falls", "b": "It stays as it is", "c": "It grows towards 1"},
    request=lambda _d, _catalogue: Request.make(
        "anatomy", scoring=_SCALED, options={"part": "root", "count": _KEYS}
    ),
    figure=_growth,
    measured=_scoring,
    answer=_scoring_answer,
    reason="It goes from {before:.2f} to {dot:.2f}. The variance of a dot product is d, so one "
    "score towers over the others; divided by √d it is {scaled:.2f}, much as before.",
    now="At d = {d} the largest weight is **{dot:.2f}** without the root, {scaled:.2f} with it.",
    goal=f"Find the smallest d whose largest weight is above {_LARGE:g} without the root.",
    reached=lambda figures: figures["dot"] > _LARGE >= figures["half"],
    missed="Not yet: it is {dot:.2f} at d = {d}, and {half:.2f} at half of it.",
    conclusion="At d = {d} one key in sixteen takes {dot:.0%} of the weight. The softmax is then "
    "saturated: its gradient is almost 0, and little can be learned.",
    tries={
        "anatomy?part=root&count=128": "Variance, largest weight and entropy for 128 keys",
        "anatomy?part=landscape&scoring=additive": "Which keys additive scoring favours, drawn "
        "as a landscape",
    },
)


_SCORES = "-1,-2,-0.5,-1.5,0.5,1"
_COUNT = _SCORES.count(",") + 1
_MOST = 0.9


def _mask(result: Result, length: Scalar) -> Figures:
    rest = stage(result, "weights").ravel()[int(length) :]
    return {
        "length": int(length), "count": _COUNT, "leak": result.facts["leak"][0],
        "right": float(rest.sum()),
    }  # fmt: skip


def _rows(result: Result, length: Scalar) -> Figure:
    values = np.stack([stage(result, name).ravel() for name in ("weights", "wrong")])
    columns = [str(i + 1) if i < int(length) else gettext("pad") for i in range(_COUNT)]
    alt = gettext("Weights by the masked softmax, and with scores set to 0")
    rows = [gettext("left out"), gettext("set to 0")]
    return numbers(alt, values, rows, columns, gettext("token"))


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
    asked=3,
    question="Only the first 3 of 6 tokens are real. Somebody sets the scores of the others to 0 "
    "instead of leaving them out. How much weight goes to padding?",
    choices={"a": "None: 0 is nothing", "b": "Some, less than half", "c": "More than half"},
    request=lambda length, _: Request.make(
        "anatomy", options={"part": "mask", "scores": _SCORES, "lengths": str(length)}
    ),
    figure=_rows,
    measured=_mask,
    answer=lambda figures: "a" if not figures["leak"] else "b" if figures["leak"] < 0.5 else "c",
    reason="{leak:.0%} of the weight goes to padding, since a score of 0 counts as exp(0) = 1. "
    "The masked softmax gives it {right:.0%}.",
    now="With {length} of {count} tokens valid, **{leak:.0%}** leak when scores are set to 0.",
    goal=f"Find a length at which more than {_MOST:.0%} of the weight leaks.",
    reached=lambda figures: figures["leak"] > _MOST,
    missed="Not yet: at length {length} it is {leak:.0%}.",
    conclusion="With {length} valid token, {leak:.0%} of the weight lies on padding: the shorter "
    "a sentence, the more it suffers from its neighbours in the batch.",
    tries={
        "anatomy?part=mask&per_row=1,4": "Lengths of 1 and 4, right and wrong, in a batch of two",
        "anatomy?example=self": "Sentences of 7, 10 and 4 words through self-attention",
    },
)


_PLACES: dict[float, float] = {-2: 5, -1: 1, 0: 8, 1: 2, 2: 4}  # values by their keys
_LOW = 2.5  # of the output that is to be found


def _step(query: Scalar, values: Mapping[float, float]) -> dict[str, Scalar]:
    """The options of an attention step over these values by their keys."""
    keys, said = ("/".join(f"{each:g}" for each in side) for side in (values, values.values()))
    return {"part": "step", "q": f"{query:g}", "k": keys, "v": said}


def _cues(result: Result, query: Scalar) -> Figures:
    weights = stage(result, "weights").ravel()
    best, output = int(weights.argmax()), float(stage(result, "pooled").ravel()[0])
    return {
        "query": float(query), "best": [*_PLACES][best], "weight": float(weights[best]),
        "output": output, "sum": paired(weights, [*_PLACES.values()], output),
    }  # fmt: skip


def _weight_of_each(result: Result, _: Scalar) -> Figure:
    weights = stage(result, "weights").reshape(1, -1)
    columns = [f"{k} → {v}".replace("-", "−") for k, v in _PLACES.items()]
    alt, rows = gettext("The weight of each key"), [gettext("weight")]
    return numbers(alt, weights, rows, columns, gettext("key → value"))


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
    asked=2.0,
    question="The query moves from 0 to 2. Which key then has the largest weight?",
    choices={
        "a": "Key 0 still: weights belong to the keys",
        "b": "Key 2, the nearest one",
        "c": "All have the same weight",
    },
    request=lambda query, _: Request.make(
        "anatomy", scoring="gaussian", parameters={"width": 0.5}, options=_step(query, _PLACES)
    ),
    figure=_weight_of_each,
    measured=_cues,
    answer=lambda figures: {0: "a", 2: "b"}.get(figures["best"], "c"),
    reason="Key {best} now has the weight {weight:.2f}. The query decides which keys count; the "
    "values have no say in it.",
    now="With the query at {query:g} the output is **{output:.2f}**: each weight times its value, "
    "{sum}.",
    goal=f"Find a query whose output is below {_LOW:g}.",
    reached=lambda figures: figures["output"] < _LOW,
    missed="Not yet: at the query {query:g} the output is {output:.2f}.",
    conclusion="The query {query:g} is near the key of the value 1, so most of that value comes "
    "through: the output is {output:.2f}.",
    tries={
        "anatomy?scoring=gaussian&scoring.width=0.5": "One step taken apart: the same kernel, "
        "number by number",
        "regression?a=uniform": "Pooling that looks at no query: every point gets the mean",
        "anatomy?example=sentence": "The three words below, with any way to compare them",
    },
    step=Request.make(
        "anatomy",
        scoring="dot",
        options={"part": "step", "q": sentence.EMBEDDINGS, **sentence.WEIGHTS},
    ),
    step_text="**From words to the output.** Each word has an embedding, here two numbers that "
    "stand for it. Three matrices make its query, its key and its value of them. Query times key "
    "is a score; exp and a division make weights of a row of scores; the weights mix the values. "
    "A model learns its embeddings and matrices; these are chosen to be checked by hand.",
)


_FALLING: dict[float, float] = dict.fromkeys(
    (2, 1.5, 1, 0.5, 0, -0.5), 1
)  # a value of 1 for each score
_LEFT = 3


def _literature(result: Result, alpha: Scalar) -> Figures:
    weights = stage(result, "weights").ravel()
    left, count = int((weights != 0).sum()), len(weights)
    return {"alpha": float(alpha), "zeros": count - left, "left": left, "count": count}


def _sparse(result: Result, alpha: Scalar) -> Figure:
    weights = stage(result, "weights").reshape(1, -1)
    columns = [f"{score:g}".replace("-", "−") for score in _FALLING]
    alt = gettext("Weights of six scores at α = {alpha}", alpha=alpha)
    return numbers(alt, weights, [gettext("weight")], columns, gettext("score"))


LITERATURE = Lesson(
    name="literature",
    title="Normalisers and positions of the literature",
    papers="Martins & Astudillo 2016, section 2 (sparsemax); Peters, Niculae & Martins 2019, "
    "section 3 (α-entmax); Shaw et al. 2018; Raffel et al. 2020; Su et al. 2021; Press et al. "
    "2022",
    idea="The softmax never gives 0: every key counts a little. α-entmax is a family that begins "
    "with the softmax at α = 1 and has sparsemax at α = 2. Positions have alternatives as well: "
    "they can change the scores by distance (T5, ALiBi) or turn queries and keys (rotary).",
    formulas=(r"\alpha_i=\big[(\alpha-1)\,s_i-\tau(s)\big]_+^{1/(\alpha-1)}",),
    terms=("normaliser", "sparsemax", "relative position"),
    control=Parameter(name="at", title="Sparsity α", default=1.05, low=1.05, high=3.0, step=0.05),
    asked=2.0,
    question="Six scores, each 0.5 lower than the one before. At α = 2, how many of the six "
    "weights are exactly 0?",
    choices={"a": "None", "b": "Some", "c": "All but one"},
    request=lambda alpha, _: Request.make(
        "anatomy",
        scoring="dot",
        options={**_step(1, _FALLING), "normaliser": "entmax", "normaliser.alpha": alpha},
    ),
    figure=_sparse,
    measured=_literature,
    answer=lambda figures: "a" if not figures["zeros"] else "c" if figures["left"] == 1 else "b",
    reason="{zeros} of {count} are exactly 0. Sparsemax moves the scores down by one threshold "
    "and cuts off what falls below 0.",
    now="At α = {alpha:g}, **{left}** of {count} keys have a weight.",
    goal=f"Find an α at which exactly {_LEFT} keys have a weight.",
    reached=lambda figures: figures["left"] == _LEFT,
    missed="Not yet: at α = {alpha:g} the number of keys with a weight is {left}.",
    conclusion="At α = {alpha:g}, {left} keys share all the weight. In a model, α can be learned "
    "for every head.",
    tries={
        "regression?a=gaussian&b=gaussian&b.normaliser=sparsemax": "One kernel by the softmax "
        "and by sparsemax",
        "race?task=copy": "Copying: what T5's bias by distance gains in a race",
    },
)

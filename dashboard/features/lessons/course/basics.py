"""Lessons 1 to 4 and 9: queries and keys, a kernel, scorings, the mask, what others built."""

from collections.abc import Mapping

import numpy as np

from dashboard.charts.lineage import paired
from dashboard.charts.regression import draw_regression, prepare_regression
from dashboard.features.lessons.lesson import Figure, Figures, Lesson, lines, numbers, stage, texts
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
        gettext("The prediction over the points; the truth is dashed"), draw_regression,
        lambda: prepare_regression(
            result.tables["curve"], result.tables["points"],
            x_title=result.facts["x_names"][0], y_title=result.facts["y_name"],
        ),
    )  # fmt: skip


KERNEL = Lesson(
    **texts("kernel", ERROR=f"{_ERROR:g}"),
    control=Parameter(name="at", title="Width σ", default=1.0, low=0.05, high=3.0, step=0.05),
    asked=3.0,
    request=lambda width, _: Request.make(
        "regression", model="nadaraya_watson", scoring="gaussian", data="sine",
        parameters={"width": width},
    ),
    figure=_curve, measured=_kernel,
    answer=lambda figures: (
        "b" if figures["spread"] < _FLAT else "a" if figures["neighbours"] < _ONE else "c"
    ),
    reached=lambda figures: figures["error"] < _ERROR,
)  # fmt: skip

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


SCORING = Lesson(
    **texts("scoring", GIVEN=_GIVEN, ASKED=_ASKED, KEYS=_KEYS, LARGE=f"{_LARGE:g}"),
    control=Parameter(name="at", title="Numbers in a vector, d", default=_GIVEN, choices=_SIZES),
    asked=_ASKED,
    request=lambda _d, _catalogue: Request.make(
        "anatomy", scoring=_SCALED, options={"part": "root", "count": _KEYS}
    ),
    figure=_growth, measured=_scoring,
    answer=lambda figures: (
        "b" if abs(change := figures["dot"] - figures["before"]) < _MOVED
        else "c" if change > 0 else "a"
    ),
    reached=lambda figures: figures["dot"] > _LARGE >= figures["half"],
)  # fmt: skip

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
    **texts("mask", MOST=f"{_MOST:.0%}"),
    control=Parameter(name="at", title="Valid length", default=_COUNT, low=1, high=_COUNT, step=1),
    asked=3,
    request=lambda length, _: Request.make(
        "anatomy", options={"part": "mask", "scores": _SCORES, "lengths": str(length)}
    ),
    figure=_rows,
    measured=_mask,
    answer=lambda figures: "a" if not figures["leak"] else "b" if figures["leak"] < 0.5 else "c",
    reached=lambda figures: figures["leak"] > _MOST,
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
    **texts("cues", LOW=f"{_LOW:g}"),
    control=Parameter(name="at", title="Query", default=0.0, low=-2.0, high=2.0, step=0.5),
    asked=2.0,
    request=lambda query, _: Request.make(
        "anatomy", scoring="gaussian", parameters={"width": 0.5}, options=_step(query, _PLACES)
    ),
    figure=_weight_of_each, measured=_cues,
    answer=lambda figures: {0: "a", 2: "b"}.get(figures["best"], "c"),
    reached=lambda figures: figures["output"] < _LOW,
    step=Request.make(
        "anatomy", scoring="dot",
        options={"part": "step", "q": sentence.EMBEDDINGS, **sentence.WEIGHTS},
    ),
)  # fmt: skip

# A value of 1 for each score.
_FALLING: dict[float, float] = dict.fromkeys((2, 1.5, 1, 0.5, 0, -0.5), 1)
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
    **texts("literature", LEFT=_LEFT),
    control=Parameter(name="at", title="Sparsity α", default=1.05, low=1.05, high=3.0, step=0.05),
    asked=2.0,
    request=lambda alpha, _: Request.make(
        "anatomy", scoring="dot",
        options={**_step(1, _FALLING), "normaliser": "entmax", "normaliser.alpha": alpha},
    ),
    figure=_sparse, measured=_literature,
    answer=lambda figures: "a" if not figures["zeros"] else "c" if figures["left"] == 1 else "b",
    reached=lambda figures: figures["left"] == _LEFT,
)  # fmt: skip

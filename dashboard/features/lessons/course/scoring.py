"""Lesson 3: scoring functions, and why the dot product is divided by a root."""

from __future__ import annotations

from dashboard.features.lessons.figures import lines
from dashboard.features.lessons.lesson import Figures, Lesson, Try
from dashboard.language import gettext, gettext_noop
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

_GIVEN, _ASKED = "4", "64"
_LARGE = 0.9
_KEYS = 16
_MOVED = 0.1  # of a weight
_DOT, _SCALED = "dot", "scaled_dot"
_TITLES = {_DOT: gettext_noop("dot product"), _SCALED: gettext_noop("divided by √d")}


def _request(_d: Scalar, _catalogue: Catalogue) -> Request:
    return Request.make("anatomy", scoring=_SCALED, options={"part": "root", "count": _KEYS})


def _largest(result: Result, scoring: str) -> dict[int, float]:
    """The mean largest weight by d."""
    rows = result.tables["spread"].to_pylist()
    return {row["d"]: row["largest"] for row in rows if row["scoring"] == scoring}


def _measured(result: Result, d: Scalar) -> Figures:
    dot, scaled = (_largest(result, scoring) for scoring in (_DOT, _SCALED))
    at = int(d)
    return {
        "d": at, "dot": dot[at], "scaled": scaled[at], "before": dot[int(_GIVEN)],
        "half": dot.get(at // 2, 0.0),
    }  # fmt: skip


def _figure(result: Result, d: Scalar) -> None:
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


def _answer(figures: Figures) -> str:
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
    request=_request,
    figure=_figure,
    measured=_measured,
    answer=_answer,
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

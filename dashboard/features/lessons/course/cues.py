"""Lesson 1: a query, five keys, and the values that they pool."""

from __future__ import annotations

import numpy as np

from dashboard.features.lessons.figures import numbers, stage
from dashboard.features.lessons.lesson import Figures, Lesson, Try
from dashboard.language import gettext
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

_KEYS, _VALUES = (-2, -1, 0, 1, 2), (5, 1, 8, 2, 4)
_LOW = 2.5  # of the output that is to be found


def _request(query: Scalar, _: Catalogue) -> Request:
    return Request.make(
        "anatomy", scoring="gaussian", parameters={"width": 0.5},
        options={
            "part": "step", "q": f"{query:g}", "k": "/".join(map(str, _KEYS)),
            "v": "/".join(map(str, _VALUES)),
        },
    )  # fmt: skip


def _measured(result: Result, query: Scalar) -> Figures:
    weights = stage(result, "weights").ravel()
    best = int(weights.argmax())
    return {
        "query": float(query), "best": _KEYS[best], "weight": float(weights[best]),
        "output": float(stage(result, "pooled").ravel()[0]),
    }  # fmt: skip


def _figure(result: Result, _: Scalar) -> None:
    weights = stage(result, "weights").reshape(1, -1)
    columns = [f"{k} → {v}".replace("-", "−") for k, v in zip(_KEYS, _VALUES, strict=True)]
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
    request=_request,
    figure=_figure,
    measured=_measured,
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

"""Lesson 2: kernel regression is attention, and its width is what matters."""

from __future__ import annotations

import numpy as np

from dashboard.features.lessons.figures import curve
from dashboard.features.lessons.lesson import Figures, Lesson, Try
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

_ERROR = 0.12
_FLAT = 0.15  # of the spread of the points
_ONE = 2.0  # neighbours: a curve through every point


def _request(width: Scalar, _: Catalogue) -> Request:
    return Request.make(
        "regression", model="nadaraya_watson", scoring="gaussian", parameters={"width": width},
        data="sine",
    )  # fmt: skip


def _measured(result: Result, width: Scalar) -> Figures:
    spread = np.ptp(result.tables["curve"]["prediction"].to_numpy())
    metrics = result.facts["metrics"]
    return {
        "width": float(width), "error": metrics["truth_mse"],
        "neighbours": metrics["effective_neighbours"],
        "spread": float(spread / np.ptp(result.tables["points"]["y"].to_numpy())),
        "points": result.tables["points"].num_rows,
    }  # fmt: skip


def _answer(figures: Figures) -> str:
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
    request=_request,
    figure=lambda result, _: curve(result),
    measured=_measured,
    answer=_answer,
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

"""What a lesson is: data, which one view draws, and the charts of its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dashboard.charts.frames import MapFrame
from dashboard.charts.heatmap import draw_heatmap, prepare_heatmap
from dashboard.charts.regression import draw_regression, prepare_regression
from dashboard.charts.series import SeriesShape, draw_series, prepare_series
from dashboard.charts.template import Prepared
from dashboard.charts.theme import PANEL_COLOURS
from dashboard.charts.values import draw_values, prepare_values
from dashboard.language import gettext
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar
from dashboard.ui import charts, maps

Points = Sequence[tuple[float, float]]

_HEIGHT = 200  # px, of lines
_ROW = 44  # px, of a row of numbers
_MAP_CELL = 26  # px


def stage(result: Result, name: str) -> np.ndarray:
    """A tensor of an attention step by name, as :mod:`dashboard.features` make its table."""
    table = result.tables["stages"]
    at = table["name"].to_pylist().index(name)
    return np.array(table["values"][at].as_py()).reshape(table["shape"][at].as_py())


def map_of(result: Result, kind: str, layer: int) -> MapFrame:
    """The weights of one site; ``layer`` is counted from 1.

    Raises:
        ValueError: the model has no such site.
    """
    for found in maps.frames(result):
        if (found.kind, found.layer) == (kind, layer - 1):
            return found
    raise ValueError(f"need a map of kind {kind}, layer {layer}; the model has none")


def numbers(
    result: Result, alt: str, values: np.ndarray, *, rows: Sequence[str], columns: Sequence[str],
    column_title: str = "",
) -> None:  # fmt: skip
    """Weights ``(rows, columns)``, each written into its cell."""
    charts.show_filled(
        f"lesson {alt} {result.digest}",
        draw_values,
        lambda: prepare_values(
            values, rows=rows, columns=columns, column_title=column_title, vmax=1.0,
            signed=False, numbers=".2f", cell=(90, _ROW),
        ),
        alt,
    )  # fmt: skip


def curve(result: Result) -> None:
    """A regression's curve over its points and the truth."""
    charts.show_filled(
        f"lesson curve {result.digest}",
        draw_regression,
        lambda: prepare_regression(
            result.tables["curve"], result.tables["points"],
            x_title=result.facts["x_names"][0], y_title=result.facts["y_name"],
        ),
        gettext("The prediction over the points; the truth is dashed"),
    )  # fmt: skip


def weights(result: Result, alt: str, frame: MapFrame, values: np.ndarray) -> None:
    """Rows of a map ``(queries, keys)``, as far as they are written."""
    charts.show_filled(
        f"lesson {alt} {result.digest}",
        draw_heatmap,
        lambda: prepare_heatmap(
            values, frame.query_labels[: len(values)], frame.key_labels, cell=_MAP_CELL
        ),
        alt,
    )


def lines(
    result: Result, alt: str, series: Mapping[str, Points], *, x_title: str, y_title: str,
    marked: Mapping[str, Points] | None = None, ticks: Sequence[float] = (),
) -> None:  # fmt: skip
    """One line through the points of each series; those of ``marked`` stand by themselves.

    Args:
        ticks: those of the x axis where each step doubles x.
    """
    points = marked or {}
    colours = dict(zip(dict.fromkeys((*series, *points)), PANEL_COLOURS.values(), strict=False))

    def prepare() -> Prepared[SeriesShape]:
        drawn = _frame(series)
        return prepare_series(
            _frame(points) if points else drawn, colours, x_title=x_title, y_title=y_title,
            fitted=drawn if points else None, doubling=bool(ticks), ticks=ticks,
            height=_HEIGHT,
        )  # fmt: skip

    charts.show_filled(f"lesson {alt} {result.digest}", draw_series, prepare, alt)


def _frame(series: Mapping[str, Points]) -> pd.DataFrame:
    rows = [(x, y, name) for name, points in series.items() for x, y in points]
    return pd.DataFrame(rows, columns=["x", "y", "series"]).astype({"x": float, "y": float})


Figures = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Try:
    """A state of another page to go to.

    Args:
        page: the page's feature.
        label: what is to be seen there.
        query: parameters of its link.
    """

    page: str
    label: str
    query: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Lesson:
    r"""One lesson: an idea, a question, what is seen, something to find, and where to go on.

    Everything that it says of numbers is computed from a result. ``reason``, ``now``, ``missed``
    and ``conclusion`` are sentences with placeholders, filled with what ``measured`` gives. All
    texts are in English; the page translates them.

    Args:
        name: its own, in a browser's memory.
        section: of the book, see :mod:`.chapter`; empty where the lesson goes beyond it.
        papers: what else it rests on.
        idea: in Markdown, before the question.
        formulas: LaTeX, beside each other where there is room. What stands in ``\text{…}`` is
            translated, and therefore marked.
        terms: those of :mod:`dashboard.ui.glossary` that this lesson is the first to use.
        control: what the visitor moves once the question is answered.
        given: its value while the question is open.
        asked: its value that the question is about.
        choices: the answers by their name in the link.
        request: what a worker computes at a value; None where a model is missing.
        figure: draws a result at a value.
        measured: figures of a result at a value.
        answer: the name of the right choice, by the figures at ``asked``.
        reason: why, by the same figures.
        now: what is seen at the present value.
        goal: what to find by moving the control.
        reached: whether it is found, by the figures at the present value.
        missed: how far the present value is from the goal, by the same figures.
        conclusion: what the goal, once reached, shows.
    """

    name: str
    title: str
    section: str = ""
    papers: str = ""
    idea: str
    formulas: tuple[str, ...]
    terms: tuple[str, ...]
    control: Parameter
    given: Scalar
    asked: Scalar
    question: str
    choices: Mapping[str, str]
    request: Callable[[Scalar, Catalogue], Request | None]
    figure: Callable[[Result, Scalar], None]
    measured: Callable[[Result, Scalar], Figures]
    answer: Callable[[Figures], str]
    reason: str
    now: str
    goal: str
    reached: Callable[[Figures], bool]
    missed: str
    conclusion: str
    tries: tuple[Try, ...]

"""The charts of one panel, and the chart that compares all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dashboard.charts import PANEL_COLOURS, weights_legend
from dashboard.charts.frames import Table
from dashboard.charts.history import draw_loss
from dashboard.charts.regression import draw_regression
from dashboard.charts.run_charts import prepare_curve, prepare_learning
from dashboard.charts.template import Prepared
from dashboard.features.regression.chart_overlay import (
    draw_left_out,
    draw_overlay,
    prepare_left_out,
    prepare_overlay,
)
from dashboard.jobs.backend import Event
from dashboard.language import gettext, translated
from dashboard.records.request import Result
from dashboard.ui import maps
from dashboard.ui.charts import legend, show, show_filled, show_prepared

PANEL_HEIGHT = 430  # px of a panel's curve and map, with room for the axis
LEARNING_HEIGHT = 300
OVERLAY_HEIGHT = 430  # with its axis and legend
_OVERLAY = 330
_SAME = 1e-6  # of the largest value of a curve


def colours(vmax: float | None) -> None:
    """What the colours of all maps mean.

    Args:
        vmax: the end of the scale that they share; None where each has its own.
    """
    if vmax is not None:
        legend(vmax)
        return
    show(
        "legend of shares",
        lambda: weights_legend(title=gettext("share of the map's largest weight")),
        gettext("Colours: share of the map's largest weight"),
    )


def own_scale(result: Result) -> float:
    """The end of a colour scale of one panel: its largest weight; twice that of equal weights.

    Weights that are all equal are then drawn in the middle: at the end they would look large.
    """
    largest = maps.largest_weight(result)
    return 2 * largest if result.facts.get("equal_weights") else largest


def same_curve(results: Mapping[str, Result], letter: str) -> str:
    """The first panel before that of ``letter`` that has the same curve; empty if none has."""
    own = _curve(results[letter])
    room = _SAME * np.abs(own).max(initial=0.0)
    for other in sorted(results):
        theirs = _curve(results[other])
        if other < letter and own.shape == theirs.shape and np.allclose(own, theirs, 0, room):
            return other
    return ""


def _curve(result: Result) -> np.ndarray:
    return result.tables["curve"]["prediction"].to_numpy()


def regression_panel(result: Result, letter: str, vmax: float) -> None:
    """One panel's curve over its weights.

    Args:
        vmax: the end of its colour scale.
    """
    show_filled(
        f"regression {result.digest} {letter} {vmax}",
        draw_regression,
        partial(prepare_curve, result, colour=PANEL_COLOURS[letter], vmax=vmax),
        gettext("Curve and weights of panel {letter}", letter=letter),
        marks=_marks(result),
    )


def learning(result: Result, letter: str) -> None:
    """How the error fell while a panel learned, and where its parameters went."""
    show_filled(
        f"learning {result.digest} {letter}",
        draw_loss,
        lambda: _learning(result.tables["history"], letter),
        gettext("Learning curve of panel {letter}", letter=letter),
    )


def live_learning(events: Sequence[Event], letter: str) -> None:
    """The same while it still learns, as far as it has come."""
    steps = [event.facts for event in events if "loss" in event.facts]
    if len(steps) > 1:
        # Each look has its own numbers, so nothing of them is kept.
        alt = gettext("Learning curve of panel {letter}", letter=letter)
        show_prepared(draw_loss, _learning(pd.DataFrame(steps), letter), alt)


def _learning(history: Table, letter: str) -> Prepared:
    return prepare_learning(history, colour=PANEL_COLOURS[letter], left_out=True)


def compared(results: Mapping[str, Result], titles: Mapping[str, str]) -> None:
    """All panels in one plot, in their colours: curves, or predictions by what was measured."""
    first = next(iter(results.values()))
    names = [f"{letter} {results[letter].digest} {title}" for letter, title in titles.items()]
    key = " ".join(names)
    colours = {titles[letter]: PANEL_COLOURS[letter] for letter in results}

    def tables(name: str) -> dict[str, Table]:
        return {titles[letter]: result.tables[name] for letter, result in results.items()}

    if has_curve(first):
        show_filled(
            f"overlay {key}",
            draw_overlay,
            lambda: prepare_overlay(
                tables("curve"), first.tables["points"], colours=colours, height=_OVERLAY,
                **_axes(first),
            ),
            gettext("The curves of all panels over the training points"),
            marks=_marks(first),
        )  # fmt: skip
        return
    show_filled(
        f"left out {key}",
        draw_left_out,
        lambda: prepare_left_out(
            tables("left_out"), colours, of=translated(first.facts["y_name"]), height=_OVERLAY
        ),
        gettext("Predicted against measured values, all panels"),
        marks=gettext("Dashed: predictions that equal what was measured."),
    )


def _marks(result: Result) -> str:
    """What lines and rings mean, for the caption of a figure."""
    if not has_curve(result):
        if "measured" in result.tables["curve"].column_names:
            return gettext("Dots: predictions; rings: what was measured.")
        return ""
    truth = result.tables["curve"]["truth"]
    if truth.null_count < len(truth):
        return gettext("Dashed: the truth; rings: the training points.")
    return gettext("Rings: the training points.")


def has_curve(result: Result) -> bool:
    """Whether predictions are a curve over one input."""
    return len(result.facts["x_names"]) == 1


class Estimate(NamedTuple):
    """What a figure was estimated on: ``rows`` that were drawn at random of ``points``."""

    rows: int
    points: int
    standard_error: float


def estimate(result: Result, metric: str) -> Estimate | None:
    """How far a metric is one of a sample; None where it is of all rows, or that is unknown."""
    facts = result.facts.get("leave_one_out", {})
    deviation = facts.get("standard_errors", {}).get(metric)
    if deviation is None or facts["rows"] == facts["points"]:
        return None
    return Estimate(facts["rows"], facts["points"], deviation)


def complete(results: Iterable[Result]) -> int:
    """How many rows the errors are of, where those of each result are of all; else 0."""
    facts = [result.facts.get("leave_one_out", {}) for result in results]
    counts = {number for one in facts for number in (one.get("rows", 0), one.get("points", 0))}
    return counts.pop() if len(counts) == 1 else 0


def _axes(result: Result) -> dict[str, Any]:
    first, name = result.facts["x_names"][0], result.facts["y_name"]
    return {"x_title": translated(first), "y_title": translated(name)}

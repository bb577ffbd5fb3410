"""The charts of a result, known from its tables alone: on its page, exported, and kept."""

from collections.abc import Callable
from functools import partial

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts.frames import MapFrame, Table, maps
from dashboard.charts.heatmap import attention_heatmap
from dashboard.charts.regression import RegressionShape, draw_regression, prepare_regression
from dashboard.charts.series import LossShape, draw_loss, prepare_loss
from dashboard.charts.template import Prepared, chart_of
from dashboard.charts.theme import PANEL_COLOURS
from dashboard.language import gettext, gettext_noop, translated
from dashboard.records.request import Result

Make = Callable[[], alt.TopLevelMixin]

_MOST_ROWS = 20_000
_MOST_MAPS, _MOST_HEADS, _MOST_LABELS = 48, 64, 2_000


def run_charts(
    result: Result, *, colour: str = PANEL_COLOURS["a"], vmax: float | None = None
) -> dict[str, Make]:
    """Functions that draw what the tables hold, by the chart's name in English.

    A curve with its points is drawn over its weights; other maps are heatmaps, a grid where
    there are several heads; a history is a learning curve. Other tables have no chart.

    Args:
        colour: of the prediction and of the learning curve.
        vmax: the end of the colour scale; None: a curve's largest weight, 1 for other maps.
    """
    tables = result.tables
    charts: dict[str, Make] = {}
    if {"curve", "points"} <= tables.keys():
        charts[gettext_noop("curve and weights")] = lambda: chart_of(
            draw_regression, prepare_curve(result, colour=colour, vmax=vmax)
        )
    else:
        looks = {"vmax": vmax or 1.0, "legend": True}
        for frame in _frames(result):
            at = {"kind": frame.kind, "layer": frame.layer}
            name = gettext_noop("attention {kind} layer {layer}", **at)
            given = frame.weights, frame.query_labels, frame.key_labels
            charts[name] = partial(attention_heatmap, *given, **looks, signed=frame.signed)
    if "history" in tables:
        left_out = "curve" in tables
        charts[gettext_noop("learning")] = lambda: chart_of(
            draw_loss, prepare_learning(tables["history"], colour=colour, left_out=left_out)
        )
    return charts


def prepare_curve(
    result: Result, *, colour: str = PANEL_COLOURS["a"], vmax: float | None = None,
    signed: bool = False,
) -> Prepared[RegressionShape]:  # fmt: skip
    """A result's curve over its weights, as pages, exports and kept runs draw it."""
    frame = next(iter(_frames(result)), None)
    names, y_name = result.facts.get("x_names") or ["x"], result.facts.get("y_name") or "y"
    return prepare_regression(
        result.tables["curve"], result.tables["points"], None if frame is None else frame.weights,
        signed=signed or (frame is not None and frame.signed), colour=colour, vmax=vmax,
        x_title=translated(str(names[0])), y_title=translated(str(y_name)),
    )  # fmt: skip


def prepare_learning(history: Table, *, colour: str, left_out: bool) -> Prepared[LossShape]:
    """How a loss fell, as pages, exports and kept runs draw it; of points left out, or of all."""
    title = gettext("loss, points left out") if left_out else gettext("loss")
    return prepare_loss(history, colour=colour, loss_title=title)


def _frames(result: Result) -> list[MapFrame]:
    return maps(result.tables["maps"]) if "maps" in result.tables else []


def check_drawable(result: Result) -> None:
    """Raise ValueError where tables from elsewhere are too large to draw, or hold an infinity."""
    for name, table in result.tables.items():
        if table.num_rows > (_MOST_MAPS if name == "maps" else _MOST_ROWS):
            raise ValueError(f"the table {name} has {table.num_rows:,} rows")
        for column in table.columns:
            if any(map(_holds_infinity, column.chunks)):
                raise ValueError(f"the table {name} holds infinite numbers")
    for frame in _frames(result):
        heads, queries, keys = frame.weights.shape
        if heads > _MOST_HEADS or max(queries, keys) > _MOST_LABELS:
            raise ValueError(f"a map of {heads} heads, {queries:,} queries and {keys:,} keys")


def _holds_infinity(numbers: pa.Array) -> bool:
    flat = numbers.flatten() if pa.types.is_list(numbers.type) else numbers
    is_float = pa.types.is_floating(flat.type)
    return is_float and bool(np.isinf(flat.to_numpy(zero_copy_only=False)).any())

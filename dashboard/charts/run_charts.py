"""The charts of a result, known from its tables alone: what a kept run is drawn with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts.frames import MapFrame, maps, top_weight
from dashboard.charts.heatmap import attention_heatmap
from dashboard.charts.history import loss_chart
from dashboard.charts.regression import regression_chart
from dashboard.charts.theme import PANEL_COLOURS
from dashboard.language import gettext, gettext_noop
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
        vmax: the end of the colour scale; the largest weight for a curve, 1 for other maps where
            None.

    Raises:
        ValueError: as :func:`~dashboard.charts.frames.maps`; the functions raise as their charts.
    """
    tables = result.tables
    charts: dict[str, Make] = {}
    if {"curve", "points"} <= tables.keys():
        charts[gettext_noop("curve and weights")] = partial(_curve, result, colour, vmax)
    else:
        for frame in _frames(result):
            name = gettext_noop(
                "attention {kind} layer {layer}", kind=frame.kind, layer=frame.layer
            )
            charts[name] = partial(
                attention_heatmap,
                frame.weights,
                frame.query_labels,
                frame.key_labels,
                vmax=vmax or 1.0,
                legend=True,
            )
    if "history" in tables:
        loss = gettext("loss, points left out") if "curve" in tables else gettext("loss")
        charts[gettext_noop("learning")] = partial(
            loss_chart, tables["history"], colour=colour, loss_title=loss
        )
    return charts


def _frames(result: Result) -> list[MapFrame]:
    return maps(result.tables["maps"]) if "maps" in result.tables else []


def _curve(result: Result, colour: str, vmax: float | None) -> alt.TopLevelMixin:
    weights = next((frame.weights for frame in _frames(result)), None)
    return regression_chart(
        result.tables["curve"],
        result.tables["points"],
        weights,
        colour=colour,
        vmax=vmax or (None if weights is None else top_weight([weights])),
        x_title=str(result.facts["x_names"][0]),
        y_title=str(result.facts["y_name"]),
    )


def check_drawable(result: Result) -> None:
    """Whether tables from elsewhere are of a size and of numbers that a page can draw.

    Raises:
        ValueError: too many rows, maps, heads or labels, or an infinite number.
    """
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
    found = pa.types.is_floating(flat.type) and np.isinf(flat.to_numpy(zero_copy_only=False)).any()
    return bool(found)

"""All panels' predictions against what was measured, a point per row: for several inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.curves import ROOM, round_ends
from dashboard.charts.frames import Table, column_of
from dashboard.charts.lanes import stacked
from dashboard.charts.legend import NAMES_COLUMNS, NAMES_LONGEST, named_strokes
from dashboard.charts.pointer import hover
from dashboard.charts.regression_tables import MAX_MARKS, table_of
from dashboard.charts.summary import Summary, number
from dashboard.charts.template import Prepared, Sources
from dashboard.language import gettext
from dashboard.language.joining import together


class LeftOutShape(NamedTuple):
    """What a specification follows from: panels as ``(label, colour)``, sizes in px.

    Args:
        ends: of both axes.
        of: what was measured.
        marks: how many points are drawn.
    """

    panels: tuple[tuple[str, str], ...]
    ends: tuple[float, float]
    of: str
    marks: int
    note: str
    width: int
    height: int


def prepare_left_out(
    panels: Mapping[str, Table],
    colours: Mapping[str, str],
    *,
    of: str = "y",
    width: int = theme.WIDTH,
    height: int = 260,
) -> Prepared[LeftOutShape]:
    """What :func:`draw_left_out` draws.

    Args:
        panels: by label, a table with a row per point: ``measured``, and ``prediction`` by all
            other points; the points are the same in each.
        colours: by label.
        of: what was measured.

    Raises:
        ValueError: no panels, one without a colour, or other points in one than in another.
    """
    if not panels or set(panels) - set(colours):
        raise ValueError("need a panel or more, with a colour each")
    first, *others = (column_of(table, "measured") for table in panels.values())
    if any(not np.array_equal(other, first) for other in others):
        raise ValueError("need predictions of the same points to compare them")
    count, most = len(first), MAX_MARKS // len(panels)
    drawn = np.linspace(0, count - 1, min(count, most)).round().astype(int)
    note = ""
    if count > most:
        note = gettext("{drawn:,} of {count:,} points drawn", drawn=most, count=count)
    predictions = [column_of(table, "prediction")[drawn] for table in panels.values()]
    ends = round_ends(np.concatenate([first[drawn], *predictions]))
    points = {
        "row": np.tile(drawn, len(panels)),
        "measured": np.tile(first[drawn], len(panels)),
        "prediction": np.concatenate(predictions),
        "panel": np.repeat(np.array([*panels], dtype=object), len(drawn)),
    }
    shape = LeftOutShape(
        tuple((name, colours[name]) for name in panels), ends, of, len(points["row"]), note,
        width, height,
    )  # fmt: skip
    tables = {"points": table_of(points), "diagonal": pa.table({"end": [*ends]})}
    return Prepared(tables, shape, summary=_summary(panels, first, of))


def draw_left_out(data: Sources, shape: LeftOutShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_left_out` makes it, or names it.

    Hovering marks a point in all panels.
    """
    (lane,) = stacked([shape.height], 0)
    pointed = hover("row")
    measured = gettext("measured {name}", name=shape.of)
    predicted = gettext("predicted {name}", name=shape.of)
    scale = alt.Scale(domain=[*shape.ends], nice=False, zero=False)
    axis = alt.Axis(title=measured, grid=False, labelFlush=True, tickCount=5, format=theme.NUMBER)
    y_scale, y_axis = lane.scale(*shape.ends), lane.axis(predicted, ROOM, form=theme.NUMBER)
    diagonal = (
        alt.Chart(data["diagonal"])
        .mark_line(strokeWidth=1.5, strokeDash=[4, 3], color=theme.QUIET)
        .encode(
            x=alt.X("end:Q", scale=scale, axis=axis), y=alt.Y("end:Q", scale=y_scale, axis=y_axis)
        )
    )
    points = (
        alt.Chart(data["points"])
        .mark_point(strokeWidth=1.5)
        .encode(
            x=alt.X("measured:Q", scale=scale, axis=axis),
            y=alt.Y("prediction:Q", scale=y_scale, axis=y_axis),
            stroke=named_strokes(
                "panel", dict(shape.panels), columns=NAMES_COLUMNS, limit=NAMES_LONGEST
            ),
            size=alt.condition(pointed, alt.value(110), alt.value(22)),
            tooltip=[
                alt.Tooltip("panel:N", title=gettext("panel")),
                alt.Tooltip("measured:Q", format=".4~g", title=measured),
                alt.Tooltip("prediction:Q", format=".4~g", title=predicted),
            ],
        )
        .add_params(pointed)
        .properties(name="points")
    )
    return theme.finished(
        alt.LayerChart(layer=[theme.ramp(), diagonal, points]),
        width=shape.width, height=lane.bottom, title=theme.heading("", shape.note),
        marks=shape.marks,
    )  # fmt: skip


def _summary(panels: Mapping[str, Table], measured: np.ndarray, of: str) -> Summary:
    predictions = {name: column_of(table, "prediction") for name, table in panels.items()}
    said = [
        gettext(
            "{panel}: the root of the mean squared distance from the diagonal is {distance}.",
            panel=name, distance=number(np.sqrt(np.mean((values - measured) ** 2))),
        )
        for name, values in predictions.items()
    ]  # fmt: skip
    title = gettext("measured {name}", name=of)
    return Summary(
        together([gettext("Predicted against measured {name}.", name=of), *said]),
        lambda: table_of({title: measured, **predictions}),
    )

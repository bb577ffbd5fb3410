"""One figure of several scorings: a dot per seed, a tick at their mean, on one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from dashboard.charts import theme
from dashboard.charts.labels import displayed, room
from dashboard.charts.pointer import hover

DATA, MEANS = "seeds", "means"  # data sets: a host may replace them, and the chart stays
_LANE = 34  # px
_MOST_ROOM = 130  # px, for the names at the left


def strip_chart(
    rows: Sequence[Mapping[str, Any]],
    means: Sequence[Mapping[str, Any]],
    scorings: Sequence[str],
    *,
    title: str,
    number: str = ".3~g",
    colour: str = theme.PANEL_COLOURS["a"],
    width: int = theme.WIDTH,
) -> alt.LayerChart:
    """A lane per scoring; hovering tells a dot's scoring, seed and value.

    Nothing but the data sets :data:`DATA` and :data:`MEANS` depends on what was measured.

    Args:
        rows: ``scoring``, ``seed``, ``value``; may be empty.
        means: ``scoring``, ``value``; may be empty.
        scorings: the lanes, top to bottom; names of strangers are shown as text.
        title: of the values, with their unit.
        number: a d3 format of the values.

    Raises:
        ValueError: no lane, or a row that belongs to none.
    """
    if not scorings:
        raise ValueError("need at least one scoring, got none")
    if strangers := sorted({str(row["scoring"]) for row in [*rows, *means]} - set(scorings)):
        raise ValueError(f"need a lane for every scoring, got none for {', '.join(strangers)}")
    names = list(dict.fromkeys(displayed(scorings)))
    space = room(names, _MOST_ROOM)
    y = alt.Y(
        "scoring:N",
        sort=None,
        scale=alt.Scale(domain=names, paddingInner=0.15, paddingOuter=0.1),
        axis=alt.Axis(
            title=None, minExtent=space, maxExtent=space, labelLimit=space - 4, domain=False,
            ticks=False, grid=True,
        ),
    )  # fmt: skip
    x = alt.X(
        "value:Q",
        scale=alt.Scale(zero=False, nice=True, padding=8),
        axis=alt.Axis(title=title, tickCount=5, format=number, grid=False),
    )
    tooltip = [
        alt.Tooltip("scoring:N"),
        alt.Tooltip("seed:Q", format="d"),
        alt.Tooltip("value:Q", title=title, format=number),
    ]
    pointed = hover("scoring", "seed")
    dots = (
        alt.Chart(alt.NamedData(name=DATA))
        .mark_point(filled=True, size=70, color=colour)
        .encode(
            x=x, y=y, tooltip=tooltip,
            opacity=alt.condition(pointed, alt.value(1), alt.value(0.75)),
        )
        .add_params(pointed)
        .properties(name="dots")
    )  # fmt: skip
    ticks = (
        alt.Chart(alt.NamedData(name=MEANS))
        .mark_tick(color={"expr": theme.INK}, thickness=2, size=_LANE * 0.62, aria=False)
        .encode(x=x, y=y)
        .properties(name="ticks")
    )
    chart = alt.LayerChart(layer=[theme.ramp(), ticks, dots])
    chart = theme.finished(chart, width=width, height=_LANE * len(names))
    chart.datasets = {DATA: _shown(rows), MEANS: _shown(means)}
    return chart


def _shown(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "scoring": displayed([row["scoring"]])[0]} for row in rows]

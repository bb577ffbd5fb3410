"""Differences to a reference: a dot with its interval for each contestant, sorted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.labels import displayed, room
from dashboard.charts.lanes import hover
from dashboard.charts.legend import named_strokes
from dashboard.charts.summary import of_ranked
from dashboard.charts.template import Prepared, Sources
from dashboard.features.race.view import COLOURS, said
from dashboard.language import gettext, gettext_noop

_LANE, _MOST_ROOM = 19, 215  # px: of a contestant, and for the names at the left
_NUMBERS = ("difference", "low", "high", "p")
# What the columns are called.
_TITLES = {
    "name": gettext_noop("name"), "verdict": gettext_noop("verdict"),
    "difference": gettext_noop("difference"), "low": gettext_noop("low"),
    "high": gettext_noop("high"), "p": gettext_noop("corrected p"),
}  # fmt: skip


class DifferencesShape(NamedTuple):
    """What a specification follows from.

    Args:
        names: of the contestants, top to bottom.
        title: of the difference, with its unit.
    """

    names: tuple[str, ...]
    title: str
    width: int


def prepare_differences(
    rows: Sequence[Mapping[str, Any]], *, title: str, width: int = theme.WIDTH
) -> Prepared[DifferencesShape]:
    """What :func:`draw_differences` draws.

    Args:
        rows: ``name``, ``difference`` (positive where better), ``low``, ``high`` (the ends of
            its interval, None where there is none), ``p``, ``verdict``.
        title: of the x axis.

    Raises:
        ValueError: no rows, or two of one name.
    """
    names = displayed([row["name"] for row in rows])
    if not rows or len({*names}) < len(names):
        raise ValueError("need at least one row, each with a name of its own")
    best_first = sorted(range(len(rows)), key=lambda i: -rows[i]["difference"])
    table: dict[str, Any] = {
        "name": [names[i] for i in best_first],
        "verdict": [said(rows[i]["verdict"]) for i in best_first],
    }
    for column in _NUMBERS:
        table[column] = pa.array([rows[i][column] for i in best_first], pa.float64())
    shape = DifferencesShape(tuple(table["name"]), title, width)
    made = pa.table(table)
    titles = {column: gettext(title) for column, title in _TITLES.items()}
    summary = of_ranked(
        made.to_pandas().rename(columns=titles), name=titles["name"], value=titles["difference"],
        what=gettext("the difference to the reference"),
    )  # fmt: skip
    return Prepared({"differences": made}, shape, summary=summary)


def draw_differences(data: Sources, shape: DifferencesShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_differences` makes it, or names it."""
    rows = data["differences"]
    titles = {column: gettext(title) for column, title in _TITLES.items()}
    space = room(shape.names, _MOST_ROOM)
    y = alt.Y(
        "name:N", title=titles["name"], sort=None, scale=alt.Scale(domain=list(shape.names)),
        axis=alt.Axis(
            title=None, minExtent=space, maxExtent=space, labelLimit=space - 4, grid=True
        ),
    )  # fmt: skip
    x = alt.X(
        "difference:Q",
        title=titles["difference"],
        scale=alt.Scale(zero=True, nice=True, padding=6),
        axis=alt.Axis(title=shape.title, grid=False, tickCount=6, format=theme.NUMBER),
    )
    colours = {said(verdict): colour for verdict, colour in COLOURS.items()}
    stroke = named_strokes("verdict", colours).title(titles["verdict"])
    pointed = hover("name")
    tooltip = [
        *(alt.Tooltip(f"{text}:N", title=titles[text]) for text in ("name", "verdict")),
        *(
            alt.Tooltip(f"{number}:Q", title=titles[number], format=".3~g")
            for number in ("difference", "low", "high")
        ),
        alt.Tooltip("p:Q", title=titles["p"], format=".2~g"),
    ]
    zero = (
        alt.Chart(alt.sequence(0, 1, as_="zero"))
        .mark_rule(color=theme.QUIET, strokeWidth=1.5, aria=False)
        .encode(x=alt.X("zero:Q"))
        .properties(name="zero")
    )
    bars = (
        alt.Chart(rows)
        .mark_rule(strokeWidth=2, aria=False)
        .encode(x=alt.X("low:Q", title=shape.title), x2="high:Q", y=y, stroke=stroke)
        .properties(name="intervals")
    )
    dots = (
        alt.Chart(rows)
        .mark_point(filled=False, size=46, strokeWidth=3)
        .encode(
            x=x, y=y, stroke=stroke, tooltip=tooltip,
            opacity=alt.condition(pointed, alt.value(1), alt.value(0.85)),
        )
        .add_params(pointed)
        .properties(name="dots")
    )  # fmt: skip
    chart = alt.LayerChart(layer=[theme.ramp(), zero, bars, dots])
    return theme.finished(chart, width=shape.width, height=_LANE * len(shape.names))

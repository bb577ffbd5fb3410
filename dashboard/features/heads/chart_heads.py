"""What each head is worth: how the log-probability of a translation changes without it."""

from __future__ import annotations

from typing import NamedTuple

import altair as alt
import pandas as pd
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.summary import of_ranked
from dashboard.charts.template import Prepared, Sources
from dashboard.language import gettext, gettext_noop

_HEIGHT = 150  # px
_ROOM = 44  # px, for the numbers at the left
# As the diverging scale has them: less than nothing orange, more blue.
_LOWER, _HIGHER = theme.PANEL_COLOURS["b"], theme.PANEL_COLOURS["a"]
_MEASURES = {
    "entropy": gettext_noop("relative entropy"),
    "eos": gettext_noop("weight on <eos>"),
    "concentration": gettext_noop("on one key"),
    "diagonality": gettext_noop("diagonality"),
    "distance": gettext_noop("distance from untrained, bits"),
}


class HeadsShape(NamedTuple):
    """What a specification follows from: the heads' names in their order, and px of all."""

    names: tuple[str, ...]
    width: int


def prepare_heads(heads: pd.DataFrame, *, width: int = theme.WIDTH) -> Prepared[HeadsShape]:
    """What :func:`draw_heads` draws: a bar per head, in the order of the rows.

    Args:
        heads: ``name``, ``leave_one_out`` (nats), ``entropy``, ``eos``, ``concentration``,
            ``diagonality``, ``distance``.

    Raises:
        ValueError: no heads, or a column that is missing.
    """
    missing = [name for name in ("name", "leave_one_out", *_MEASURES) if name not in heads.columns]
    if missing or heads.empty:
        raise ValueError(
            f"need a row per head with {', '.join(missing) or 'figures'}, got {len(heads)} rows"
        )
    drawn = pd.DataFrame({"name": heads["name"].astype(str)})
    for column in ("leave_one_out", *_MEASURES):
        drawn[column] = rounded(heads[column].to_numpy(float))
    bars = pa.Table.from_pandas(drawn, preserve_index=False)
    head, change = gettext("head"), gettext("change, nats")
    measures = {column: gettext(title) for column, title in _MEASURES.items()}
    summary = of_ranked(
        drawn.rename(columns={"name": head, "leave_one_out": change, **measures}),
        name=head, value=change, what=gettext("the change of log-probability without one head"),
    )  # fmt: skip
    return Prepared({"bars": bars}, HeadsShape(tuple(drawn["name"]), width), summary=summary)


def draw_heads(data: Sources, shape: HeadsShape) -> alt.LayerChart:
    """The bars of ``data``, as :func:`prepare_heads` makes them, or names them.

    The pointer tells the head's other figures.
    """
    order = [*shape.names]
    x = alt.X(
        "name:N",
        title=gettext("head"),
        sort=order,
        scale=alt.Scale(domain=order, paddingInner=0.25),
        axis=alt.Axis(title=None, labelAngle=-90, labelOverlap=True, labelLimit=90),
    )
    y = alt.Y(
        "leave_one_out:Q",
        title=gettext("change, nats"),
        axis=alt.Axis(
            title=gettext("change of log-probability without the head, nats"), tickCount=4,
            format=theme.NUMBER, minExtent=_ROOM, maxExtent=_ROOM, titleAnchor="start",
            titleAngle=0, titleAlign="left", titleY=-10, titleX=-_ROOM + 6,
        ),
    )  # fmt: skip
    tooltip = [
        alt.Tooltip("name:N", title=gettext("head")),
        alt.Tooltip("leave_one_out:Q", format="+.3f", title=gettext("change, nats")),
    ]
    tooltip += [
        alt.Tooltip(f"{column}:Q", format=".3f", title=gettext(title))
        for column, title in _MEASURES.items()
    ]
    # Not the channel "color": its scale is the ramp, by which labels know the page they are on.
    fill = alt.when("datum.leave_one_out < 0").then(alt.value(_LOWER)).otherwise(
        alt.value(_HIGHER)
    )  # fmt: skip
    bars = alt.Chart(data["bars"]).mark_bar().encode(x=x, y=y, fill=fill, tooltip=tooltip)
    nought = alt.Chart(alt.sequence(0, 1, as_="y"))
    zero = nought.mark_rule(color=theme.QUIET).encode(y="y:Q")
    chart = alt.LayerChart(layer=[theme.ramp(), bars.properties(name="bars"), zero])
    return theme.finished(chart, width=shape.width, height=_HEIGHT)

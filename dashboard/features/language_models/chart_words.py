"""The likeliest next words as bars, the likeliest one on top."""

import altair as alt
import pandas as pd
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.frames import Table, frame_with, rounded
from dashboard.charts.grid import boxes, middles, positions
from dashboard.charts.labels import MOST_ROOM, displayed, room
from dashboard.charts.summary import of_ranked
from dashboard.charts.template import Prepared, Sources, values_of
from dashboard.language import gettext

_ROW = 20  # px
_GAP = 2  # px, above and below a bar
_END = 52  # px, right of the longest bar, for its number


def prepare_words(words: Table, *, colour: str = theme.PANEL_COLOURS["a"]) -> Prepared[str]:
    """What :func:`draw_words` draws: probabilities from 0 on, in the order of the rows.

    Args:
        words: ``token``, ``probability``, ``log_probability`` (nats); ValueError for others or
            none.
    """
    table = frame_with(words, ("token", "probability", "log_probability"))
    labels = displayed(table["token"].tolist())
    drawn = pd.DataFrame(
        {
            "top": range(len(table)),
            "word": labels,
            "probability": rounded(table["probability"]),
            "log_probability": rounded(table["log_probability"]),
        }
    )
    titles = {"word": gettext("token"), "probability": gettext("probability")}
    summary = of_ranked(
        drawn.loc[:, [*titles]].rename(columns=titles), name=titles["word"],
        value=titles["probability"], what=gettext("the probability of the next token"),
    )  # fmt: skip
    told = {
        "labels": labels,
        "room": float(room(labels, MOST_ROOM)),
        "end": max(drawn["probability"].tolist()) or 1.0,
        "height": float(len(drawn) * _ROW),
    }
    bars = pa.Table.from_pandas(drawn, preserve_index=False)
    return Prepared({"words": bars}, colour, told, summary)


def draw_words(data: Sources, colour: str) -> alt.LayerChart:
    """The bars of ``data``, as :func:`prepare_words` makes them, or names them."""
    own = values_of(data)
    height = own.pop("height")
    base = alt.Chart(data["words"]).transform_calculate(
        bottom="datum.top + 1", right="datum.probability", zero="0", middle="datum.top + 0.5",
        said="format(datum.probability, datum.probability < 0.0995 ? '.1%' : '.0%')",
    )  # fmt: skip
    across = alt.Scale(
        domain=[0, alt.ExprRef("end")], range=[0, alt.ExprRef(f"width - {_END}")], nice=False,
        zero=True,
    )  # fmt: skip
    down = positions(alt.ExprRef("length(labels)"), alt.ExprRef("height"))
    rows = middles("labels", "1", room=alt.ExprRef("room"), labelLimit=alt.ExprRef("room"))
    x, y = alt.X("zero:Q", scale=across, axis=None), alt.Y("top:Q", scale=down, axis=rows)
    bars = (
        boxes(base, x, y)
        .mark_rect(fill=colour, yOffset=_GAP, y2Offset=-_GAP, cornerRadius=2)
        .encode(
            tooltip=[
                alt.Tooltip("word:N", title=gettext("token")),
                alt.Tooltip("probability:Q", title=gettext("probability"), format=".3~g"),
                alt.Tooltip("log_probability:Q", title=gettext("log-probability, nats"),
                            format=".3f"),
            ],
            description=alt.Description("word:N"),
        )
        .properties(name="bars")
    )  # fmt: skip
    end = {"x": alt.X("right:Q", scale=across), "y": alt.Y("middle:Q", scale=down)}
    numbers = base.mark_text(
        align="left", baseline="middle", dx=5, fontSize=theme.FONT_SIZE,
        fill=alt.ExprRef(theme.INK), aria=False,
    ).encode(**end, text="said:N")  # fmt: skip
    chart = alt.LayerChart(layer=[theme.ramp(), bars, numbers])
    return theme.finished(chart, width=theme.WIDTH, height=height, params=own)

"""One panel of the page *Language models*: the text, what comes next, and the maps."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import pyarrow as pa
from streamlit.components.v2 import component

from dashboard.charts import PANEL_COLOURS, theme
from dashboard.charts.frames import Table, frame_with, rounded
from dashboard.charts.grid import boxes, middles, positions
from dashboard.charts.heatmap import draw_heatmap, prepare_heatmap
from dashboard.charts.labels import MOST_ROOM, displayed, room
from dashboard.charts.summary import fixed, of_ranked
from dashboard.charts.template import Prepared, Sources, values_of
from dashboard.features.language_models.view import LanguageModels
from dashboard.language import gettext, listed, ngettext, together
from dashboard.links.panels import selected_maps, with_map
from dashboard.records.beside import beside
from dashboard.records.request import Result
from dashboard.ui import charts, layout, maps, shown
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["panel"]
_HERE = Path(__file__).parent
_tokens = component(
    "attention_workbench_tokens", html="<ol></ol>", css=(_HERE / "tokens.css").read_text("utf-8"),
    js=(_HERE / "tokens.js").read_text("utf-8"),
)  # fmt: skip
_DARKEST = 8.0  # nats, of the deepest shade: a token of probability 1/2,981
_MOST_MASKS = 4  # whose candidates are drawn
_UNKNOWN_SHOWN = 12
_WORDS = beside(__file__, "words.toml")


def reading(
    session: Session[LanguageModels], letter: str, result: Result, scale: maps.Scale,
    whole: Callable[[], None],
) -> None:  # fmt: skip
    """A text as its model reads it; ``whole`` draws the map that is seen token by token."""
    if unknown := result.facts["unknown"]:
        words = listed(map(plain, displayed(unknown[:_UNKNOWN_SHOWN])))
        said = gettext("Not in this model's vocabulary: {words}.", words=words)
        shown.markdown(f":orange[:material/warning:] {said}")
    _text(result, letter)
    alone = len(session.view.panels) == 1
    with layout.grid(2 if alone else 1):
        with shown.container():
            _next_words(result, letter)
            if alone:
                whole()
        with shown.container():
            _maps(session, letter, result, scale)
            if not alone:
                whole()


def _text(result: Result, letter: str) -> None:
    facts, rows = result.facts, result.tables["tokens"].to_pylist()
    label = gettext("Text of panel {letter}, with the loss of each token", letter=letter)
    _tokens(
        data={"label": label, "tokens": [_token(row) for row in rows]},
        key=f"panel-{letter}-tokens",
    )
    table = pd.DataFrame({
        gettext("token"): displayed([row["token"] for row in rows]),
        gettext("−log p, nats"): [row["loss"] for row in rows],
    })  # fmt: skip
    shown.note_table(table, alt=label)
    unmasked = facts["kind"] == "encoder" and not facts["mask"]
    said = [gettext(_WORDS["costs"]["unmasked" if unmasked else facts["kind"]])]
    if facts["loss"] is not None:
        loss, perplexity = fixed(facts["loss"]), f"{math.exp(facts['loss']):,.3g}"
        said.insert(0, gettext(_SAID["loss"], loss=loss, perplexity=perplexity))
    if facts["written"]:
        said.append(ngettext(**_SAID["written"], count=facts["written"]))
    if most := facts.get("stopped_at"):
        said.append(gettext("It stopped at the {most:,} tokens that this model reads.", most=most))
    shown.caption(together(said))


def _token(row: Mapping[str, Any]) -> dict[str, Any]:
    loss, (text,) = row["loss"], displayed([row["token"]])
    if loss is None:
        title = gettext("{token}: given, so it has no loss", token=text)
        return {"text": text, "loss": "–", "share": 0, "title": title, "written": False}
    title = gettext(
        _SAID["token"], token=text, loss=fixed(loss, 3), probability=f"{math.exp(-loss):.3g}"
    )
    share = round(min(1.0, loss / _DARKEST), 3)
    return {
        "text": text, "loss": fixed(loss), "share": share, "title": title,
        "written": row["written"],
    }  # fmt: skip


def _next_words(result: Result, letter: str) -> None:
    """The candidates of the next token, or those of each mask."""
    facts, table = result.facts, result.tables["next"].to_pandas()
    places = list(table["place"].unique())
    for at in places[:_MOST_MASKS]:
        words = table[table["place"] == at]
        title = gettext("**Next**, after the prompt")
        if facts["kind"] == "encoder":
            title = gettext("**Token {place}**, masked", place=at + 1)
        shown.markdown(title)
        charts.show_filled(
            f"next {result.digest} {at} {letter}", draw_words,
            partial(prepare_words, words, colour=PANEL_COLOURS[letter]),
            gettext("Likeliest tokens of panel {letter}", letter=letter),
        )  # fmt: skip
    if more := len(places[_MOST_MASKS:]):
        shown.caption(
            gettext("{count} more masks: their candidates are in the exported table.", count=more)
        )
    if not places and facts["mask"]:
        shown.caption(gettext(_SAID["mask"], mask=plain(facts["mask"])))


def _maps(
    session: Session[LanguageModels], letter: str, result: Result, scale: maps.Scale
) -> None:
    facts = result.facts
    choice = maps.Choice(
        facts["kind"], selected_maps(session.view)[letter],
        lambda name: session.update(selected=with_map(session.view, letter, name).selected),
        scale=scale,
    )  # fmt: skip
    read = [one for one in session.jobs.done() if not one.facts["map"]]
    maps.attention_maps(result, letter, read, choice)
    said = [gettext(_WORDS["reads"][facts["kind"]]), block_note(facts)]
    shown.caption(together(filter(None, said)))


def block_note(facts: Mapping[str, Any]) -> str:
    """What a cell stands for where it stands for several weights; empty where for one."""
    if facts["block"] == 1:
        return ""
    return gettext(_SAID["block"], tokens=facts["length"], block=facts["block"])


def whole_map(letter: str, result: Result, scale: maps.Scale) -> None:
    """The chosen map of a long text, cell by cell."""
    (frame,) = maps.frames(result)
    name = result.facts["map"]
    given = frame.weights, frame.query_labels, frame.key_labels
    charts.show_filled(
        f"whole {result.digest} {scale}", draw_heatmap,
        partial(prepare_heatmap, *given, title=maps.map_title(name), **scale._asdict()),
        gettext("One map of panel {letter}, token by token", letter=letter),
    )  # fmt: skip
    if note := block_note(result.facts):
        shown.caption(note)


_ROW = 20  # px
_GAP = 2  # px, above and below a bar
_END = 52  # px, right of the longest bar, for its number


def prepare_words(words: Table, *, colour: str = theme.PANEL_COLOURS["a"]) -> Prepared[str]:
    """What :func:`draw_words` draws: probabilities from 0 on, in the order of the rows.

    ``words``: ``token``, ``probability``, ``log_probability`` (nats). ValueError: others, none.
    """
    table = frame_with(words, ("token", "probability", "log_probability"))
    labels = displayed(table["token"].tolist())
    drawn = pd.DataFrame({
        "top": range(len(table)),
        "word": labels,
        "probability": rounded(table["probability"]),
        "log_probability": rounded(table["log_probability"]),
    })  # fmt: skip
    titles = {"word": gettext("token"), "probability": gettext("probability")}
    summary = of_ranked(
        drawn.loc[:, [*titles]].rename(columns=titles), name=titles["word"],
        value=titles["probability"], what=gettext("the probability of the next token"),
    )  # fmt: skip
    told = {
        "labels": labels, "room": float(room(labels, MOST_ROOM)),
        "end": max(drawn["probability"].tolist()) or 1.0, "height": float(len(drawn) * _ROW),
    }  # fmt: skip
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

"""One panel of the page *Alignment*: the rates of a model's heads, and the pair that is shown."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard.charts import PANEL_COLOURS, frames, map_names, theme, usual_map
from dashboard.charts.frames import MEAN, Table, map_title, rounded
from dashboard.charts.summary import of_ranked
from dashboard.charts.template import Prepared, Sources, chart_of
from dashboard.features.alignment.view import OWN, Alignment
from dashboard.language import gettext, listed, ngettext, together
from dashboard.links.panels import checkpoints_of, selected_maps, with_map
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Result
from dashboard.ui import charts, export, maps, shown
from dashboard.ui.layout import checkpoint_title
from dashboard.ui.session import Session
from dashboard.ui.translations import unknown_words
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["panel"]
_HEIGHT = 130  # px, of the plot
_STEP = 22  # px, from dot to dot where there is room
_ROOM, _BELOW = 34, 44  # px, left of the plot and under it
_WORDS = beside(__file__, "words.toml")
_RATES = _WORDS["rates"]


class RatesShape(NamedTuple):
    """What a specification follows from: the number of maps, and the colour."""

    count: int
    colour: str


def prepare_rates(
    rates: Table, *, chosen: str = "", colour: str = theme.PANEL_COLOURS["a"]
) -> Prepared[RatesShape]:
    """What :func:`draw_rates` draws: error rates from 0, perfect, to 1, sorted.

    Args:
        rates: ``map`` such as ``1.2`` or ``1.mean``, ``error_rate``, ``precision``, ``recall``,
            ``untrained`` (error rate with fresh weights); ValueError for others or none.
        chosen: the map that is filled.
    """
    table = frames.with_columns(rates, ("map", *_RATES))
    order = np.argsort(frames.column_of(table, "error_rate"), kind="stable")
    held = {name: frames.column_of(table, name)[order] for name in _RATES}
    placed = np.array(frames.texts_of(table, "map"), dtype=object)[order]
    numbers = {name: pa.array(rounded(values), from_pandas=True) for name, values in held.items()}
    names = [map_title(name) for name in placed]
    said = [
        gettext("{head}, error rate {rate:.3f}", head=name, rate=rate)
        for name, rate in zip(names, held["error_rate"], strict=True)
    ]
    words = {"name": names, "said": said, "chosen": placed == chosen}
    best = float(held["untrained"].min())
    tables = {
        "heads": pa.table({"map": placed, **numbers, **words}),
        "level": pa.table(
            {"level": rounded([best]), "words": [gettext("untrained {rate:.2f}", rate=best)]}
        ),
    }
    head, rate = gettext("head"), gettext(_RATES["error_rate"])
    seen = {head: names} | {gettext(_RATES[name]): numbers[name] for name in _RATES}
    summary = of_ranked(pd.DataFrame(seen), name=head, value=rate, what=gettext("the error rate"))
    return Prepared(tables, RatesShape(len(names), colour), summary=summary)


def draw_rates(data: Sources, shape: RatesShape) -> alt.LayerChart:
    """The rates of ``data``, as :func:`prepare_rates` makes them, or names them.

    A dot a head, the best one first; a rule where the best untrained head is.
    """
    colour, end = shape.colour, alt.ExprRef(f"min(width, {_STEP * shape.count})")
    x = alt.X(
        "map:N",
        sort=None,  # as the table has them
        scale=alt.Scale(range=[0, end]),
        axis=alt.Axis(
            title=None, labelAngle=-90, labelOverlap="greedy", labelLimit=44, grid=False,
            labelPadding=6, minExtent=_BELOW, maxExtent=_BELOW,
            labelExpr=f"replace(datum.label, '{MEAN}', {json.dumps(gettext('mean'))})",
        ),
    )  # fmt: skip
    y = alt.Y(
        "error_rate:Q", scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(title=None, values=[0, 0.25, 0.5, 0.75, 1], format="~g", minExtent=_ROOM - 8,
                      maxExtent=_ROOM - 8),
    )  # fmt: skip
    tooltip = [alt.Tooltip("name:N", title=gettext("head"))]
    tooltip += [alt.Tooltip(f"{n}:Q", title=gettext(_RATES[n]), format=".3f") for n in _RATES]
    base = alt.Chart(data["heads"])
    stems = base.mark_rule(stroke=colour, strokeWidth=1, strokeOpacity=0.5, aria=False).encode(
        x=x, y=y, y2=alt.Y2Datum(0)
    )
    dots = (
        base.mark_point(size=60, strokeWidth=2, stroke=colour, opacity=1)
        .encode(
            x=x, y=y, tooltip=tooltip, description=alt.Description("said:N"),
            fill=alt.condition(alt.datum.chosen, alt.value(colour), alt.value("transparent")),
        )
        .properties(name="heads")
    )  # fmt: skip
    level, height = alt.Chart(data["level"]), alt.Y("level:Q")
    best = alt.Tooltip("level:Q", title=gettext("best untrained head"), format=".3f")
    rule = level.mark_rule(stroke=theme.QUIET, strokeDash=[4, 3], strokeWidth=1.5)
    words = level.mark_text(
        align="right", baseline="bottom", dy=-3, fontSize=theme.FONT_SIZE,
        fill=alt.ExprRef(theme.INK), aria=False,
    ).encode(x=alt.XValue(alt.ExprRef("width")), y=height, text="words:N")  # fmt: skip
    untrained = rule.encode(y=height, tooltip=best).properties(name="untrained")
    chart = alt.LayerChart(layer=[theme.ramp(), untrained, words, stems, dots])
    return theme.finished(chart, width=theme.WIDTH, height=_HEIGHT)


HEIGHT = 330  # px, of a model's rates
_WORDS_SHOWN = 5


def rates(session: Session[Alignment], letter: str, result: Result) -> None:
    """The best head's rate, and those of all heads."""
    facts, table = result.facts, result.tables["rates"]
    rows = {row["map"]: row for row in table.to_pylist()}
    best = rows[facts["best"]]
    label = (
        gettext("Alignment error rate, best: {head}", head=map_title(facts["best"]))
        if len(rows) > 1
        else gettext("Alignment error rate, only head")
    )
    shown.metric(label, f"{best['error_rate']:.3f}", help=gettext(_WORDS["help"]))
    words = [
        gettext("precision {number}", number=_number(best["precision"])),
        gettext("recall {number}", number=_number(best["recall"])),
        ngettext("{count:,} pair", "{count:,} pairs", facts["scored"]),
    ]
    if facts["too_long"]:
        words.append(gettext("{count:,} more too long for this model", count=facts["too_long"]))
    shown.caption(" · ".join(words))
    chosen = _selected(session.view, letter, result)
    charts.show_filled(
        f"rates {result.digest} {letter} {chosen}", draw_rates,
        lambda: prepare_rates(table, chosen=chosen, colour=PANEL_COLOURS[letter]),
        gettext(_SAID["chart"], letter=letter),
    )  # fmt: skip


def _selected(view: Alignment, letter: str, scored: Result | None) -> str:
    """The map that a panel shows: the chosen one if the model has it, else the best one.

    Empty for the usual one while no rates are there, which alone tell what the best one is.
    """
    chosen = selected_maps(view)[letter]
    if scored and chosen not in scored.tables["rates"]["map"].to_pylist():
        return scored.facts["best"]
    return chosen


def pair_map(
    session: Session[Alignment], letter: str, result: Result, scored: Result | None,
    shared: Sequence[Result],
) -> None:  # fmt: skip
    """Where the model looks while it writes the pair's target, gold outlined; what it links.

    The rates of ``scored`` say what the best head is; ``shared`` is the pair in all panels.
    """
    found = maps.maps_of(result, "cross")
    usual = usual_map(found)
    best = scored.facts["best"] if scored else usual
    chosen = _selected(session.view, letter, scored)
    selected = chosen if chosen in map_names(found) else usual

    def select(name: str) -> None:
        name = "" if (name or usual) == best else name or usual
        session.update(selected=with_map(session.view, letter, name).selected)

    unknown_words(result)
    choice = maps.Choice("cross", selected, select, _gold(result))
    maps.attention_maps(result, letter, shared, choice)
    shown.caption(_verdict(result, selected))


def _gold(result: Result) -> maps.Gold:
    sure, possible = (
        [(target, source) for source, target in result.facts[links]]
        for links in ("sure", "possible")
    )
    return maps.Gold(sure, possible)


def _verdict(result: Result, selected: str) -> str:
    """How a head's links agree with gold on this pair, and which words do not."""
    links = [row for row in result.tables["links"].to_pylist() if row["map"] == selected]
    facts, said = result.facts, []
    for verdict, text in _WORDS["counts"].items():
        own = [link for link in links if link["verdict"] == verdict]
        words = [
            f"{facts['target_tokens'][link['target']]} → {facts['source_tokens'][link['source']]}"
            for link in own
        ]
        count = f"**{gettext(text, count=len(own))}**"
        if verdict != "right" and words:
            named = [*map(plain, words[:_WORDS_SHOWN])]
            if left := len(words) - len(named):
                named.append(gettext("{count} more", count=left))
            count = gettext("{count} ({words})", count=count, words=listed(named))
        said.append(count)
    words = " · ".join(said)
    if len(set(result.tables["links"]["map"].to_pylist())) < 2:
        return words
    return gettext("{head}: {words}", head=map_title(selected), words=words)


def _number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.3f}"


def compared(view: Alignment, catalogue: Catalogue, scored: Mapping[str, Result]) -> None:
    """The panels that have rates in one table."""
    here, panels = checkpoints_of(view, catalogue), view.by_letter
    panel, model, head = gettext("Panel"), gettext("Model"), gettext("Best head")
    rows = [
        {
            panel: letter, model: checkpoint_title(panels[letter], here[letter], catalogue),
            head: map_title(best["map"]), gettext("Error rate"): best["error_rate"],
            gettext("Precision"): best["precision"], gettext("Recall"): best["recall"],
            gettext("Untrained, best head"): result.facts["untrained"],
            gettext("Average head"): result.facts["average"],
        }
        for letter, result in scored.items()
        for best in result.tables["rates"].to_pylist()
        if best["map"] == result.facts["best"]
    ]  # fmt: skip
    shown.header(gettext("Side by side"))
    table = pd.DataFrame(rows).set_index(panel)
    digits = st.column_config.NumberColumn(format="%.3f")
    numbers = [name for name in table if name not in (model, head)]
    shown.table(table, width="stretch", column_config=dict.fromkeys(numbers, digits))
    shown.caption(_caveat(view, list(scored.values())))


def _caveat(view: Alignment, scored: Sequence[Result]) -> str:
    words = [gettext(_SAID["best"])]
    if view.gold == OWN:
        words.append(gettext("One pair says little: choose a corpus to compare models."))
    elif scored[0].facts["corpus"] == view.gold:
        words.append(gettext("None of these models was trained on any of these source sentences."))
    else:
        words.append(gettext(_SAID["foreign"]))
    return together(words)


def export_menu(
    session: Session[Alignment], letter: str, scored: Result | None, seen: Result | None
) -> None:
    """The rates and the map as files."""
    key = f"panel-{letter}"
    if scored is None or seen is None:
        export.waiting(key)
        return
    table, found = scored.tables["rates"], maps.maps_of(seen, "cross")
    chosen = _selected(session.view, letter, scored)
    drawn = {
        gettext("error rates"): lambda: chart_of(
            draw_rates, prepare_rates(table, chosen=chosen, colour=PANEL_COLOURS[letter])
        ),
        gettext("map"): partial(maps.maps_chart, found, chosen, _gold(seen)),
    }
    result = Result(tables={**scored.tables, **seen.tables})
    here, name = checkpoints_of(session.view, session.catalogue), session.view.by_letter[letter]
    model = checkpoint_title(name, here[letter], session.catalogue)
    export.menu(None, result, drawn, key, title=gettext("Alignment, {model}", model=model))

"""The probe sentence of the page *Train*: its translation and its map after every epoch.

The charts stand still and only their data change, so that a map is seen to form.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from dashboard import language
from dashboard.charts import PANEL_COLOURS, label_room, maps, theme
from dashboard.charts.frames import MapFrame, any_signed, below_0, rounded
from dashboard.charts.grid import GAP, boxes, inset, positions
from dashboard.charts.labels import MOST_ROOM, displayed, vega_text
from dashboard.charts.summary import of_matrix
from dashboard.features.training import view as trainings
from dashboard.features.training.curves import LearningShape, figure_over_epochs, prepare_learning
from dashboard.features.training.view import Train, last_epoch, planned, reached, stops
from dashboard.language import gettext
from dashboard.links.recipes import PROBE
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.training import Epoch, Training
from dashboard.ui import charts, layout, shown
from dashboard.ui.layout import scoring_title
from dashboard.ui.maps import say_signed
from dashboard.ui.playing import TICK, Player
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench

_SAID = beside(__file__, "words.toml")["probe"]
CELLS = "cells"  # the name of the data set: a host may replace it, and the chart stays


def probe_rows(frame: MapFrame) -> pd.DataFrame:
    """The data set :data:`CELLS` of one map: the mean of its heads, a row per cell."""
    queries, keys = displayed(frame.query_labels), displayed(frame.key_labels)
    rows = pd.DataFrame(
        [(q, k, query, key) for q, query in enumerate(queries) for k, key in enumerate(keys)],
        columns=["q", "k", "query", "key"],
    )
    return rows.assign(value=rounded(frame.weights.mean(axis=0).ravel()))


def probe_map(
    queries: int, keys: int, *, cell: float, query_room: int, key_room: int, signed: bool = False
) -> alt.LayerChart:
    """A map without its data, so that it stands still while they change; see :func:`probe_rows`.

    Args:
        queries, keys: the most rows and columns that it will have to show.
        cell: px, the height of a row, and the width of a column where there is room.
        query_room, key_room: px, for the longest word of the rows and of the columns.
        signed: whether weights may be below 0.
    """
    scale = theme.diverging() if signed else theme.sequential()
    end = alt.ExprRef(f"min(width, {keys * cell:g})")
    across, down = positions(keys, end), positions(queries, queries * cell)
    base = alt.Chart().transform_calculate(
        left="datum.k", right="datum.k + 1", top="datum.q", bottom="datum.q + 1",
        middle="datum.q + 0.5", centre="datum.k + 0.5",
        said=vega_text(
            gettext("query {query}, key {key}, weight {value}"),
            query="datum.query", key="datum.key", value="datum.value",
        ),
    )  # fmt: skip
    left = alt.X("left:Q", scale=across, axis=None)
    cells = (
        boxes(base, left, alt.Y("top:Q", scale=down, axis=None))
        .mark_rect(**inset(GAP))
        .encode(
            color=alt.Color("value:Q", scale=scale, legend=None),
            tooltip=[
                alt.Tooltip("query:N", title=gettext("query")),
                alt.Tooltip("key:N", title=gettext("key")),
                alt.Tooltip("value:Q", title=gettext("weight"), format=".3f"),
            ],
            description=alt.Description("said:N"),
        )
        .properties(name="cells")
    )
    text: dict[str, Any] = {
        "baseline": "middle", "limit": MOST_ROOM, "fontSize": theme.FONT_SIZE,
        "fill": alt.ExprRef(theme.INK), "aria": False,
    }  # fmt: skip
    rows = (
        base.transform_filter("datum.k == 0")
        .mark_text(align="right", **text)
        .encode(x=alt.XValue(-4), y=alt.Y("middle:Q", scale=down), text="query:N")
        .properties(name="queries")
    )
    columns = (
        base.transform_filter("datum.q == 0")
        .mark_text(align="left", angle=270, **text)
        .encode(x=alt.X("centre:Q", scale=across), y=alt.YValue(-4), text="key:N")
        .properties(name="keys")
    )
    chart = alt.LayerChart(layer=[cells, rows, columns], data=alt.NamedData(name=CELLS))
    chart = theme.finished(chart, width=theme.WIDTH, height=queries * cell)
    # Texts make no room for themselves.
    chart.padding = {"left": 6 + query_room, "top": 6 + key_room, "right": 2, "bottom": 2}
    chart.datasets = {CELLS: []}
    return chart


def relative_entropy(frame: MapFrame) -> float:
    """How evenly a map's heads spread their weight: 0 on one key, 1 alike on all.

    The mean over heads and rows of the entropy over ``log n``; 0 where there is but one key. NaN
    where a weight is below 0: weights that are no shares have no entropy.
    """
    if below_0(frame.weights):
        return math.nan
    weights = np.nan_to_num(frame.weights.astype(np.float64))
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    keys = weights.shape[-1]
    return float(-(weights * logs).sum(axis=-1).mean() / np.log(keys)) if keys > 1 else 0.0


_HEIGHT = 470  # px of one panel, whatever the translation
_MAP_HEIGHT, _LARGEST_CELL = 300, 38  # px
_FRAMES_KEPT, _SPECS_KEPT = 4_000, 200


def probes(session: Session[Train], chosen: Mapping[str, Training]) -> None:
    """The probe's translation and cross-attention after the view's epoch, side by side."""
    playing, epoch = _player(session, reached(chosen)).playing, session.view.epoch
    if playing:
        shown.incomplete()

    def draw() -> None:
        # A choice made here belongs into the link and the rest of the page.
        if session.fresh:
            st.rerun()
        player = _player(session, reached(chosen))
        at = player.advance() if playing else epoch
        play, slider, scale = st.columns([1, 6, 2], vertical_alignment="bottom", gap="medium")
        with play:
            player.button()
        with slider:
            help = gettext("“Latest” follows the trainings while they run.")
            epochs = _player(session, last_epoch(chosen))
            epochs.slider(gettext("After epoch"), min(at, last_epoch(chosen)), help)
        with scale:
            frames = [one for each in chosen.values() for one in _frames(each).values()]
            charts.legend(1.0, signed=any_signed(frames))
        others = trainings.other_titles(chosen, session.catalogue)
        with layout.grid(len(chosen)):
            for letter, training in chosen.items():
                with shown.container(height=_HEIGHT, border=False, key=f"probe-{letter}"):
                    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                        layout.badge(letter)
                        title = scoring_title(training.request.scoring, session.catalogue)
                        st.markdown(f"**{plain(title)}**")
                        shown.title(title)
                    if others[letter]:
                        shown.caption(plain(" · ".join(others[letter])))
                    _probe(letter, training, at)
        _entropy(chosen, session.catalogue, at)

    st.fragment(run_every=TICK if playing else None)(draw)()
    _table(chosen, trainings.series_titles(chosen, session.catalogue))


def _player(session: Session[Train], last: int) -> Player:
    def choose(epoch: int) -> None:
        session.change(replace(session.view, epoch=epoch))

    return Player(
        page="train", unit="epoch", stops=stops(last), at=session.view.epoch, latest=0,
        choose=choose,
    )  # fmt: skip


def _probe(letter: str, training: Training, epoch: int) -> None:
    sentence = dict(training.request.options).get(PROBE.name, "")
    # After that epoch, or after the last one before it.
    done = [one for one in training.epochs if not epoch or one.epoch <= epoch]
    if not sentence or not done:
        absent = gettext("Appears after the first epoch.")
        shown.caption(absent if sentence else gettext("No probe sentence."))
        return
    found = done[-1]
    at = gettext(_SAID["reads"], sentence=sentence, epoch=found.epoch, epochs=planned(training))
    shown.caption(plain(at))
    shown.markdown(f"### {plain(found.probe) or '—'}")
    frame = _frame(training.id, found)
    if frame is None:
        shown.caption(gettext("The map of this epoch is not kept here."))
        return
    still = _still(*_sizes(training), language.current())
    shown.chart(
        {**still, "datasets": {CELLS: probe_rows(frame)}},
        gettext(_SAID["attention"], letter=letter),
        summary=of_matrix(frame.weights.mean(axis=0), frame.query_labels, frame.key_labels),
        key=f"probe-map-{letter}",
    )
    if (heads := len(frame.weights)) > 1:
        layer = frame.layer + 1
        shown.caption(gettext("Mean of {heads} heads, layer {layer}.", heads=heads, layer=layer))


@st.cache_resource(max_entries=_FRAMES_KEPT, show_spinner=False)
def _kept_frame(id: str, epoch: int, seconds: float) -> MapFrame:
    # ``seconds`` that the epoch took: one that was done anew took another time. An error, as there
    # is without a map, is not kept.
    frames = [one for one in maps(workbench().trainings.probe(id, epoch)) if one.kind == "cross"]
    if not frames:
        raise KeyError(f"no map of cross-attention after epoch {epoch}")
    return max(frames, key=lambda frame: frame.layer)


def _frame(id: str, epoch: Epoch) -> MapFrame | None:
    try:
        return _kept_frame(id, epoch.epoch, epoch.seconds)
    except KeyError:
        return None


def _frames(training: Training) -> dict[int, MapFrame]:
    """By epoch; of a long training those that the slider stops at."""
    kept = {*stops(len(training.epochs))}
    epochs = [epoch for epoch in training.epochs if epoch.epoch in kept]
    return {one.epoch: frame for one in epochs if (frame := _frame(training.id, one)) is not None}


def _sizes(training: Training) -> tuple[int, int, int, int, bool]:
    frames = _frames(training).values()
    labels = [(frame.query_labels, frame.key_labels) for frame in frames]
    rows, columns = zip(*labels, strict=True)
    return (
        max(map(len, rows)), max(map(len, columns)),
        max(map(label_room, rows)), max(map(label_room, columns)), any_signed(frames),
    )  # fmt: skip


@st.cache_resource(max_entries=_SPECS_KEPT, show_spinner=False)
def _still(
    queries: int, keys: int, query_room: int, key_room: int, signed: bool, spoken: str
) -> dict[str, Any]:
    """The map without its data: a specification that stays lets the browser keep the chart."""
    cell = min(_LARGEST_CELL, _MAP_HEIGHT / queries)
    rooms = {"query_room": query_room, "key_room": key_room}
    chart = probe_map(queries, keys, cell=cell, signed=signed, **rooms)
    return chart.to_dict(validate=False)


def _entropy(chosen: Mapping[str, Training], catalogue: Catalogue, epoch: int) -> None:
    titles = trainings.series_titles(chosen, catalogue)
    rows = [
        {"epoch": at, "value": round(relative_entropy(frame), 4), "series": titles[letter]}
        for letter, training in chosen.items()
        for at, frame in _frames(training).items()
        if not below_0(frame.weights)
    ]
    frames = [frame for each in chosen.values() for frame in _frames(each).values()]
    say_signed(any(below_0(frame.weights) for frame in frames))
    if not rows:
        return
    shape = LearningShape(
        tuple((titles[letter], PANEL_COLOURS[letter]) for letter in chosen),
        gettext("entropy of the probe's map, relative"), last_epoch(chosen), y_format=".2f",
    )  # fmt: skip
    now = epoch or reached(chosen)
    with st.container(key="train-entropy"):
        figure_over_epochs(prepare_learning(rows, shape, zero=True, now=now))
    shown.caption(gettext(_SAID["entropy"]))


def _table(chosen: Mapping[str, Training], titles: Mapping[str, str]) -> None:
    columns = {
        titles[letter]: pd.Series({one.epoch: one.probe for one in training.epochs}, dtype=object)
        for letter, training in chosen.items()
        if training.epochs
    }
    if not columns:
        return
    title = gettext("Translations after every epoch")
    with st.expander(title):
        frame = pd.DataFrame(columns).sort_index(ascending=False)
        shown.table(frame.reset_index(names=gettext("epoch")), hide_index=True, alt=title)

"""The probe sentence of the page *Train*: its translation and its map after every epoch.

The charts stand still and only their data change, so that a map is seen to form.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard.charts import PANEL_COLOURS, label_room, maps, theme
from dashboard.charts.frames import MapFrame, any_signed, below_0, rounded
from dashboard.charts.grid import GAP, boxes, inset, positions
from dashboard.charts.labels import MOST_ROOM, displayed, vega_text
from dashboard.charts.summary import of_matrix
from dashboard.charts.template import Prepared, Sources
from dashboard.features.training import view as trainings
from dashboard.features.training.curves import LearningShape, figure_over_epochs, prepare_learning
from dashboard.features.training.view import Train, last_epoch, planned, reached, stops
from dashboard.language import gettext
from dashboard.links.recipes import PROBE
from dashboard.records.beside import beside
from dashboard.records.parameter import Parameter
from dashboard.records.request import Scalar
from dashboard.records.training import Epoch, Training
from dashboard.ui import charts, layout, live, shown
from dashboard.ui.live import Followers, Found, Slider
from dashboard.ui.maps import say_signed
from dashboard.ui.playing import TICK, Player
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench

_SAID = beside(__file__, "words.toml")["probe"]
Trainings = Mapping[str, Training]  # by letter
Rows = Sequence[Mapping[str, Any]]  # of a learning curve
CELLS = "cells"  # the name of the data set: a host may replace it, and the chart stays


class ProbeShape(NamedTuple):
    """What a specification follows from: the most cells that it has to show, and their words."""

    queries: int
    keys: int
    query_room: int  # px, for the longest word of the rows
    key_room: int
    signed: bool = False  # whether weights may be below 0


def prepare_probe(frame: MapFrame, shape: ProbeShape) -> Prepared[ProbeShape]:
    """What :func:`draw_probe` draws: the mean of a map's heads, among as many cells as any has."""
    weights = frame.weights.mean(axis=0)
    size = np.maximum(shape[:2], weights.shape)
    grid, labels = np.full(size, np.nan), np.full((2, max(size)), "", dtype=object)
    grid[tuple(map(slice, weights.shape))] = weights
    for row, words in zip(labels, (frame.query_labels, frame.key_labels), strict=True):
        row[: len(words)] = displayed(words)
    q, k = (axis.ravel() for axis in np.indices(grid.shape))
    cells = {
        "q": q, "k": k, "query": labels[0, q], "key": labels[1, k],
        "value": pa.array(rounded(grid.ravel()), from_pandas=True),
    }  # fmt: skip
    summary = of_matrix(weights, frame.query_labels, frame.key_labels)
    live = {CELLS: ("query", "key", "value")}
    return Prepared({CELLS: pa.table(cells)}, shape, summary=summary, live=live)


def draw_probe(data: Sources, shape: ProbeShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_probe` makes it, or names it."""
    queries, keys = shape[:2]
    cell = min(_LARGEST_CELL, _MAP_HEIGHT / queries)
    scale = theme.diverging() if shape.signed else theme.sequential()
    end = alt.ExprRef(f"min(width, {keys * cell:g})")
    across, down = positions(keys, end), positions(queries, queries * cell)
    base = alt.Chart(data[CELLS]).transform_calculate(
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
        .transform_filter("isValid(datum.value)")
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
        base.transform_filter("datum.k == 0 && datum.query")
        .mark_text(align="right", **text)
        .encode(x=alt.XValue(-4), y=alt.Y("middle:Q", scale=down), text="query:N")
        .properties(name="queries")
    )
    columns = (
        base.transform_filter("datum.q == 0 && datum.key")
        .mark_text(align="left", angle=270, **text)
        .encode(x=alt.X("centre:Q", scale=across), y=alt.YValue(-4), text="key:N")
        .properties(name="keys")
    )
    chart = alt.LayerChart(layer=[cells, rows, columns])
    chart = theme.finished(chart, width=theme.WIDTH, height=queries * cell)
    # Texts make no room for themselves.
    rooms = {"left": 6 + shape.query_room, "top": 6 + shape.key_room}
    chart.padding = {**rooms, "right": 2, "bottom": 2}
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
_FRAMES_KEPT = 4_000


def probes(session: Session[Train], chosen: Trainings) -> None:
    """The probe's translation and cross-attention after the view's epoch, side by side."""
    playing = _player(session, reached(chosen)).playing
    epoch = min(session.view.epoch, last_epoch(chosen))
    titles = trainings.series_titles(chosen, session.catalogue)
    rows = _entropies(chosen, titles)
    moved = sliders(chosen, epoch, titles)  # a chart that follows stays while steps are played
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
            _player(session, last_epoch(chosen)).slider(gettext("After epoch"), at, help)
        with scale:
            frames = [one for each in chosen.values() for one in _frames(each).values()]
            charts.legend(1.0, signed=any_signed(frames))
        others = trainings.other_titles(chosen, session.catalogue)
        with layout.grid(len(chosen)):
            for letter, training in chosen.items():
                with shown.container(height=_HEIGHT, border=False, key=f"probe-{letter}"):
                    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                        layout.badge(letter)
                        title = layout.scoring_title(training.request.scoring, session.catalogue)
                        st.markdown(f"**{plain(title)}**")
                        shown.title(title)
                    if others[letter]:
                        shown.caption(plain(" · ".join(others[letter])))
                    _probe(letter, training, at, moved)
        say_signed(any(below_0(frame.weights) for frame in frames))
        if rows:
            with st.container(key="train-entropy"):
                follows = "entropy", live.standing(moved)
                figure_over_epochs(_curve(chosen, titles, at, rows), follows)
            shown.caption(gettext(_SAID["entropy"]))

    st.fragment(run_every=TICK if playing else None)(draw)()
    live.follow(session, followers(chosen, epoch, titles, rows))
    _table(chosen, titles)


def _player(session: Session[Train], last: int) -> Player:
    return Player(
        page="train", unit="epoch", stops=stops(last), at=session.view.epoch, latest=0,
        choose=lambda epoch: session.change(epoch=epoch),
    )  # fmt: skip


def _stops(chosen: Trainings, epoch: int) -> list[int]:
    """What the slider chooses of: epochs, and 0 for the latest."""
    return [*sorted({*stops(last_epoch(chosen)), epoch} - {0}), 0]


def sliders(chosen: Trainings, epoch: int, titles: Mapping[str, str]) -> list[Slider]:
    """That of the epochs, by their places in it, once there will be no more of them."""
    stopped = _stops(chosen, epoch)
    if len(stopped) < 3 or any(one.state in trainings.ACTIVE for one in chosen.values()):
        return []
    of = [f"{one.id} {sum(each.seconds for each in one.epochs)}" for one in chosen.values()]
    spec = Parameter(name="epoch", title="", default=0, low=0, high=len(stopped) - 1, step=1)
    at, more = stopped.index(epoch), f"{of} {titles} {stopped}"
    return [Slider("train-epoch", spec, at, lambda _: {}, len(stopped), more)]


def followers(
    chosen: Trainings, epoch: int, titles: Mapping[str, str], rows: Rows
) -> Iterator[Followers]:
    """What the slider of epochs moves: each map with its words, and the epoch in the curve."""
    stopped = _stops(chosen, epoch)
    drawn: dict[str, Callable[[Scalar, Found], Prepared]] = {}
    said: dict[str, Callable[[Scalar, Found], str]] = {}
    if rows:
        drawn["entropy"] = lambda at, _: _curve(chosen, titles, stopped[int(at)], rows)
    for letter, one in chosen.items():

        def map_at(at: Scalar, _: Found, one: Training = one) -> Prepared:
            found = _after(one, stopped[int(at)])
            return prepare_probe(_kept_frame(one.id, found.epoch, found.seconds), _shape(one))

        if one.epochs and len(_frames(one)) == len(stops(len(one.epochs))):
            drawn[f"probe {letter}"] = map_at
        for name in ("reads", "translated") if one.epochs else ():
            said[f"{name} {letter}"] = lambda at, _, name=name, one=one: _words(
                one, _after(one, stopped[int(at)])
            )[name]
    for slider in sliders(chosen, epoch, titles):
        yield Followers(slider, drawn, said)


def _after(training: Training, epoch: int) -> Epoch:
    """That epoch, or the last one before it; the latest for 0."""
    return [one for one in training.epochs if not epoch or one.epoch <= epoch][-1]


def _words(training: Training, found: Epoch) -> dict[str, str]:
    said = {PROBE.name: "", **dict(training.request.options)}
    at = {"epoch": found.epoch, "epochs": planned(training)}
    return {
        "reads": gettext(_SAID["reads"], sentence=said[PROBE.name], **at),
        "translated": f"**{plain(found.probe) or '—'}**",
    }


def _probe(letter: str, training: Training, epoch: int, sliders: Sequence[Slider]) -> None:
    sentence = dict(training.request.options).get(PROBE.name, "")
    if not sentence or not training.epochs:
        absent = gettext("Appears after the first epoch.")
        shown.caption(absent if sentence else gettext("No probe sentence."))
        return
    found = _after(training, epoch)
    said = _words(training, found)
    live.words(f"reads {letter}", said["reads"], sliders)
    live.words(f"translated {letter}", said["translated"], sliders, "markdown")
    frame = _frame(training.id, found)
    if frame is None:
        shown.caption(gettext("The map of this epoch is not kept here."))
        return
    shape = _shape(training)
    charts.show_filled(
        f"probe {training.id} {found.epoch} {found.seconds} {shape}", draw_probe,
        partial(prepare_probe, frame, shape), gettext(_SAID["attention"], letter=letter),
        follows=(f"probe {letter}", live.standing(sliders)),
    )  # fmt: skip
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


def _shape(training: Training) -> ProbeShape:
    frames = _frames(training).values()
    rows, columns = zip(*[(frame.query_labels, frame.key_labels) for frame in frames], strict=True)
    return ProbeShape(
        max(map(len, rows)), max(map(len, columns)),
        max(map(label_room, rows)), max(map(label_room, columns)), any_signed(frames),
    )  # fmt: skip


def _entropies(chosen: Trainings, titles: Mapping[str, str]) -> Rows:
    return [
        {"epoch": at, "value": round(relative_entropy(frame), 4), "series": titles[letter]}
        for letter, training in chosen.items()
        for at, frame in _frames(training).items()
        if not below_0(frame.weights)
    ]


def _curve(
    chosen: Trainings, titles: Mapping[str, str], epoch: int, rows: Rows
) -> Prepared[LearningShape]:
    shape = LearningShape(
        tuple((titles[letter], PANEL_COLOURS[letter]) for letter in chosen),
        gettext("entropy of the probe's map, relative"), last_epoch(chosen), y_format=".2f",
    )  # fmt: skip
    return prepare_learning(rows, shape, zero=True, now=epoch or reached(chosen))


def _table(chosen: Trainings, titles: Mapping[str, str]) -> None:
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

"""The maps of an experiment: for one seed, where each scoring looks, on one colour scale."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import streamlit as st

from dashboard.charts import MapFrame, label_room, maps, top_weight
from dashboard.charts.frames import any_signed
from dashboard.charts.heatmap import draw_heatmap, prepare_heatmap
from dashboard.charts.regression import draw_regression
from dashboard.charts.run_charts import prepare_curve
from dashboard.features.experiment.cells import AT_WORK, Cell
from dashboard.features.experiment.view import TRANSLATION, Experiment
from dashboard.language import gettext, gettext_noop, translated
from dashboard.links.attending import short_name
from dashboard.records.beside import beside
from dashboard.records.request import Result
from dashboard.ui import charts, layout, shown
from dashboard.ui.layout import scoring_title
from dashboard.ui.maps import frames
from dashboard.ui.session import Session
from dashboard.ui.widgets import picked, place, plain
from dashboard.ui.workbench import workbench

_SAID = beside(__file__, "words.toml")["maps"]
_SIDE, _LARGEST_CELL = 260, 34  # px
_NAME, _WORDS, _BELOW = 44, 76, 20  # px, above a map its scoring and its translation, and below
_CURVE_AND_MAP = 430  # px, of a regression's chart
_ABSENT = beside(__file__, "words.toml")["absent"]


class Drawn(NamedTuple):
    """A map, what it is, and the digest of the result that it is from."""

    frame: MapFrame
    words: str
    digest: str


def show(session: Session[Experiment], cells: Sequence[Cell]) -> None:
    """One map per scoring, side by side."""
    view, seed = session.view, shown_seed(session.view)
    words, scale = shown.columns([5, 1], vertical_alignment="bottom", gap="medium")
    with words:
        _seeds(session, seed)
    chosen = [cell for cell in cells if cell.seed == seed]
    drawn = {cell.scoring: _map_of(view, cell) for cell in chosen}
    found = [one.frame for one in drawn.values() if one]
    trained = view.task == TRANSLATION
    vmax = 1.0 if trained else top_weight([frame.weights for frame in found])
    with scale:
        charts.legend(vmax, signed=any_signed(found))
    rows = max((len(frame.query_labels) for frame in found), default=1)
    sizes = {
        "signed": any_signed(found),
        # Cells of one size, and equal room for the labels of all maps; px.
        "cell": max(1, min(_LARGEST_CELL, _SIDE // rows)),
        "query_room": max((label_room(frame.query_labels) for frame in found), default=0),
        "key_room": max((label_room(frame.key_labels) for frame in found), default=0),
    }
    # With all that belongs to a map, so that nothing moves when it comes.
    below = _WORDS + sizes["key_room"] + _SIDE if trained else _CURVE_AND_MAP
    height: int | Literal["content"] = _NAME + below + _BELOW
    if not found and not any(cell.state in AT_WORK for cell in chosen):
        height = "content"  # nothing is on its way
    with layout.grid(len(chosen)):
        for cell in chosen:
            key = f"experiment-map-{short_name(cell.scoring)}"
            with shown.container(height=height, border=False, key=key):
                title = plain(scoring_title(cell.scoring, session.catalogue))
                shown.markdown(f"**{title}**")
                _panel(cell, drawn[cell.scoring], sizes, vmax)


def shown_seed(view: Experiment) -> int:
    """The seed whose maps are shown; the last one where the view asks for a later one."""
    return min(view.maps, view.seeds - 1)


def _seeds(session: Session[Experiment], seed: int) -> None:
    if session.view.seeds == 1:
        shown.caption(gettext("These maps are of seed 0."))
        return
    key = "experiment-maps"
    st.segmented_control(
        gettext("Seed of the maps"), list(range(session.view.seeds)),
        key=place(key, seed, fresh=st.session_state.get(key) != seed),
        on_change=picked(key, lambda seed: session.change(replace(session.view, maps=seed))),
        required=True,
    )  # fmt: skip


def _map_of(view: Experiment, cell: Cell) -> Drawn | None:
    if view.task == TRANSLATION:
        return _probe(cell)
    if cell.result and (found := frames(cell.result)):
        return Drawn(found[0], "", cell.result.digest)
    return None


def _probe(cell: Cell) -> Drawn | None:
    training = cell.training
    if training is None or not training.epochs:
        return None
    last = training.epochs[-1]
    try:
        probe = workbench().trainings.probe(training.id, last.epoch)
    except KeyError:
        return None
    cross = [frame for frame in maps(probe) if frame.kind == "cross"]
    if not cross:
        return None
    frame = max(cross, key=lambda frame: frame.layer)
    heads = len(frame.weights)
    told = gettext_noop("After epoch {epoch:,}: {words}")
    if heads > 1:
        told = gettext_noop("After epoch {epoch:,}, layer {layer}, mean of {heads} heads: {words}")
    words = gettext(
        told, epoch=last.epoch, words=last.probe or "—", layer=frame.layer + 1, heads=heads
    )
    return Drawn(frame, words, Result(tables={"maps": probe}).digest)


def _panel(cell: Cell, drawn: Drawn | None, sizes: Mapping[str, Any], vmax: float) -> None:
    if drawn is None:
        if cell.state == "running":
            st.skeleton(_SIDE)
        else:
            absent = translated(_ABSENT.get(cell.state) or cell.note)
            shown.caption(plain(absent or gettext("No map is kept.")))
        return
    if cell.training is None:
        _curve(cell, drawn, vmax, sizes["signed"])
        return
    if drawn.words:
        shown.caption(plain(drawn.words))

    frame = drawn.frame
    charts.show_filled(
        f"experiment {drawn.digest} {vmax} {tuple(sizes.values())}", draw_heatmap,
        lambda: prepare_heatmap(
            frame.weights.mean(axis=0), frame.query_labels, frame.key_labels, vmax=vmax, **sizes
        ),
        gettext(_SAID["attention"], scoring=cell.scoring, seed=cell.seed),
    )  # fmt: skip


def _curve(cell: Cell, drawn: Drawn, vmax: float, signed: bool) -> None:
    assert cell.result is not None
    charts.show_filled(
        f"experiment {drawn.digest} {vmax} {signed}", draw_regression,
        partial(prepare_curve, cell.result, vmax=vmax, signed=signed),
        gettext(_SAID["curve"], scoring=cell.scoring, seed=cell.seed),
    )  # fmt: skip

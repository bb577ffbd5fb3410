"""The maps of an experiment: for one seed, where each scoring looks, on one colour scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from dashboard.charts import MapFrame, attention_heatmap, label_room, maps, top_weight
from dashboard.controls import place, plain
from dashboard.pages import figures, parts
from dashboard.pages.experiment_cells import AT_WORK, Cell
from dashboard.pages.train_titles import scoring_title
from dashboard.runs.experiment_view import TRANSLATION, Experiment
from dashboard.runs.offers import Catalogue
from dashboard.runs.request import Request
from dashboard.state import workbench

_SIDE, _LARGEST_CELL = 260, 34  # px
_NAME, _WORDS, _BELOW = 44, 76, 20  # px, above a map its scoring and its translation, and below
_ABSENT = {
    "queued": "Waits for its turn.",
    "missing": "Not trained yet.",
    "paused": "Paused before its first epoch ended.",
    "not installed": "This scoring is not installed here.",
}


class Drawn(NamedTuple):
    """A map, what it is, and a name for its picture."""

    frame: MapFrame
    words: str
    key: str


def show(
    view: Experiment,
    cells: Sequence[Cell],
    requests: Mapping[tuple[str, int], Request],
    catalogue: Catalogue,
    choose: Callable[[int], None],
) -> None:
    """One map per scoring, side by side.

    Args:
        choose: is told which seed's maps to show.
    """
    seed = min(view.maps, view.seeds - 1)
    words, scale = st.columns([5, 1], vertical_alignment="bottom", gap="medium")
    with words:
        _seeds(view, seed, choose)
    chosen = [cell for cell in cells if cell.seed == seed]
    drawn = {cell.scoring: _map_of(view, cell, requests) for cell in chosen}
    frames = [one.frame for one in drawn.values() if one]
    vmax = 1.0
    if view.task != TRANSLATION:
        vmax = top_weight([frame.weights for frame in frames])
    with scale:
        figures.legend(vmax)
    sizes = _sizes(frames)
    height = _NAME + (_WORDS if view.task == TRANSLATION else 0) + sizes["key_room"] + _SIDE
    with parts.grid(len(chosen)):
        for cell in chosen:
            with st.container(
                height=height + _BELOW, border=False, key=f"experiment-map-{cell.scoring}"
            ):
                _panel(cell, drawn[cell.scoring], sizes, vmax, catalogue)


def _seeds(view: Experiment, seed: int, choose: Callable[[int], None]) -> None:
    if view.seeds == 1:
        st.caption("Of seed 0.")
        return
    key = "experiment-maps"
    st.segmented_control(
        "Of seed",
        list(range(view.seeds)),
        key=place(key, seed, fresh=st.session_state.get(key) != seed),
        on_change=lambda: choose(st.session_state[key]),
        required=True,
    )


def _map_of(
    view: Experiment, cell: Cell, requests: Mapping[tuple[str, int], Request]
) -> Drawn | None:
    """The weights, the mean of their heads where there are several; None while there are none."""
    if view.task == TRANSLATION:
        return _probe(cell)
    found = figures.frames(cell.result) if cell.result else []
    if not found:
        return None
    return Drawn(found[0], "", requests[(cell.scoring, cell.seed)].key)


def _probe(cell: Cell) -> Drawn | None:
    training = cell.training
    if training is None or not training.epochs:
        return None
    last = training.epochs[-1]
    try:
        found = maps(workbench().trainings.probe(training.id, last.epoch))
    except KeyError:
        return None
    cross = [frame for frame in found if frame.kind == "cross"]
    if not cross:
        return None
    frame = max(cross, key=lambda frame: frame.layer)
    heads = len(frame.weights)
    of = f", layer {frame.layer + 1}, mean of {heads} heads" if heads > 1 else ""
    words = f"After epoch {last.epoch:,}{of}: {last.probe or '—'}"
    return Drawn(frame, words, f"{training.id} {last.epoch}")


def _sizes(frames: Sequence[MapFrame]) -> dict[str, int]:
    """Cells of one size, and equal room for the labels."""
    rows = max((len(frame.query_labels) for frame in frames), default=1)
    return {
        "cell": max(1, min(_LARGEST_CELL, _SIDE // rows)),
        "query_room": max((label_room(frame.query_labels) for frame in frames), default=0),
        "key_room": max((label_room(frame.key_labels) for frame in frames), default=0),
    }


def _panel(
    cell: Cell, drawn: Drawn | None, sizes: dict[str, int], vmax: float, catalogue: Catalogue
) -> None:
    st.markdown(f"**{plain(scoring_title(cell.scoring, catalogue))}**")
    if drawn is None:
        if cell.state in AT_WORK and cell.state != "queued":
            st.skeleton(_SIDE)
        else:
            st.caption(plain(_ABSENT.get(cell.state) or cell.note or "No map is kept."))
        return
    if drawn.words:
        st.caption(plain(drawn.words))

    def make() -> Any:
        frame = drawn.frame
        return attention_heatmap(
            frame.weights.mean(axis=0), frame.query_labels, frame.key_labels,
            vmax=vmax, **sizes,
        )  # fmt: skip

    figures.show(
        f"experiment {drawn.key} {vmax} {sorted(sizes.items())}", make,
        f"Attention of {cell.scoring}, seed {cell.seed}: queries down, keys across",
    )  # fmt: skip

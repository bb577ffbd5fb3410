"""The lower part of the page *Train*: learning curves, and the probe through the epochs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.charts import PANEL_COLOURS, attention_heatmap, label_room, maps
from dashboard.charts.learning import DATA, learning_chart
from dashboard.controls import place, plain
from dashboard.pages import figures, parts
from dashboard.pages.train_cards import planned
from dashboard.pages.train_titles import other_titles, scoring_title, series_titles
from dashboard.runs.offers import Catalogue
from dashboard.runs.trainings import Epoch, Training
from dashboard.state import workbench

_CURVES = {
    "loss": ("loss, nats per token", ".3~g", False, lambda epoch: epoch.loss),
    "bleu": ("validation BLEU", ".1f", True, lambda epoch: epoch.bleu),
}
_PROBE_HEIGHT = 470  # px of one panel, whatever the translation
_MAP_HEIGHT, _LARGEST_CELL, _QUERY_ROOM = 300, 38, 72  # px
_MOST_STOPS = 200  # of the slider
_SPECS_KEPT = 200
_ENDED = ("done", "failed", "cancelled")


def last_epoch(chosen: Mapping[str, Training]) -> int:
    """Where the axis of epochs ends: what is planned, or was reached by those that ended."""
    ends = [len(t.epochs) if t.state in _ENDED else planned(t) for t in chosen.values()]
    return max(1, *ends)


def curves(chosen: Mapping[str, Training], catalogue: Catalogue) -> None:
    """Loss and BLEU of the chosen trainings, by letter."""
    titles = series_titles(chosen, catalogue)
    colours = {titles[letter]: PANEL_COLOURS[letter] for letter in chosen}
    last = last_epoch(chosen)
    with parts.grid(2):
        for name, (title, y_format, zero, read) in _CURVES.items():
            if name == "bleu" and not any(map(_holds_out, chosen.values())):
                st.caption("Nothing is held out from these trainings, so there is no BLEU.")
                continue
            rows = [
                {"epoch": epoch.epoch, "value": round(read(epoch), 4), "series": titles[letter]}
                for letter, training in chosen.items()
                for epoch in training.epochs
                if read(epoch) is not None
            ]
            still = _still(tuple(colours.items()), title, last, y_format, zero)
            with st.container(key=f"train-{name}"):
                st.vega_lite_chart(
                    {**still, "datasets": {**still["datasets"], DATA: _frame(rows)}},
                    width="stretch",
                    alt=f"{title} after every epoch",
                )


def _holds_out(training: Training) -> bool:
    return bool(dict(training.request.options).get("held_out", True))


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["epoch", "value", "series"])


@st.cache_resource(max_entries=_SPECS_KEPT, show_spinner=False)
def _still(
    colours: tuple[tuple[str, str], ...], title: str, last: int, y_format: str, zero: bool
) -> dict[str, Any]:
    """The chart without its data: a specification that stays lets the browser keep the chart."""
    chart = learning_chart([], dict(colours), title=title, last=last, y_format=y_format, zero=zero)
    return chart.to_dict(validate=False)


def probes(
    chosen: Mapping[str, Training],
    catalogue: Catalogue,
    epoch: int,
    choose_epoch: Callable[[int], None],
) -> None:
    """The probe's translation and cross-attention after an epoch, side by side.

    Args:
        epoch: 0 for each training's latest.
        choose_epoch: called with the epoch that the user chose.
    """
    words, scale = st.columns([5, 1], vertical_alignment="bottom", gap="medium")
    with words:
        _slider(last_epoch(chosen), epoch, choose_epoch)
    with scale:
        figures.legend(1.0)
    others = other_titles(chosen, catalogue)
    with parts.grid(len(chosen)):
        for letter, training in chosen.items():
            with st.container(height=_PROBE_HEIGHT, border=False, key=f"probe-{letter}"):
                _name(letter, training, catalogue, others[letter])
                _probe(letter, training, epoch)
    _table(chosen, series_titles(chosen, catalogue))


def _slider(last: int, epoch: int, choose_epoch: Callable[[int], None]) -> None:
    step = math.ceil(last / _MOST_STOPS)
    epoch = min(epoch, last)
    stops = [*sorted({*range(step, last + 1, step), *([epoch] if epoch else [])}), 0]
    key = "train-epoch"
    st.select_slider(
        "After epoch",
        stops,
        key=place(key, epoch, fresh=st.session_state.get(key) != epoch),
        format_func=lambda stop: f"{stop:,}" if stop else "latest",
        on_change=lambda: choose_epoch(st.session_state[key]),
        help="“Latest” follows the trainings while they run.",
    )


def _name(letter: str, training: Training, catalogue: Catalogue, others: Sequence[str]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        parts.badge(letter)
        st.markdown(f"**{plain(scoring_title(training.request.scoring, catalogue))}**")
    if others:
        st.caption(plain(" · ".join(others)))


def _probe(letter: str, training: Training, epoch: int) -> None:
    sentence = dict(training.request.options).get("probe", "")
    found = _after(training, epoch)
    if not sentence or found is None:
        st.caption("No probe sentence." if not sentence else "Appears after the first epoch.")
        return
    st.caption(plain(f"“{sentence}” after epoch {found.epoch:,} of {planned(training):,}"))
    st.markdown(f"#### {plain(found.probe) or '—'}")
    try:
        table = workbench().trainings.probe(training.id, found.epoch)
    except KeyError:
        st.caption("The map of this epoch is not kept here.")
        return
    frames = [frame for frame in maps(table) if frame.kind == "cross"]
    if not frames:
        return
    frame = max(frames, key=lambda frame: frame.layer)
    cell = min(_LARGEST_CELL, _MAP_HEIGHT / max(len(frame.query_labels), 1))

    def make() -> Any:
        return attention_heatmap(
            frame.weights.mean(axis=0), frame.query_labels, frame.key_labels,
            cell=cell, query_room=_QUERY_ROOM, key_room=label_room(frame.key_labels),
        )  # fmt: skip

    figures.show(
        f"probe {training.id} {found.epoch}", make,
        f"Attention of training {letter}: translation down, sentence across",
    )  # fmt: skip
    heads = len(frame.weights)
    if heads > 1:
        st.caption(f"Mean of {heads} heads, layer {frame.layer + 1}.")


def _after(training: Training, epoch: int) -> Epoch | None:
    """What was measured after that epoch, or after the last one before it."""
    reached = [one for one in training.epochs if not epoch or one.epoch <= epoch]
    return reached[-1] if reached else None


def _table(chosen: Mapping[str, Training], titles: Mapping[str, str]) -> None:
    columns = {
        titles[letter]: pd.Series({one.epoch: one.probe for one in training.epochs}, dtype=object)
        for letter, training in chosen.items()
        if training.epochs
    }
    if not columns:
        return
    with st.expander("Translations after every epoch"):
        frame = pd.DataFrame(columns).sort_index(ascending=False)
        frame.index.name = "epoch"
        st.dataframe(frame.reset_index(), hide_index=True, alt="Translations after every epoch")

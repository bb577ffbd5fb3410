"""Which epoch the page *Train* shows: a slider goes through them, *Play* does it by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import streamlit as st

from dashboard.language import gettext
from dashboard.records.training import EPOCHS, Training
from dashboard.ui import charts
from dashboard.ui.widgets import place

TICK = 0.6  # seconds that an epoch is seen while it plays
_MOST_STOPS = 200  # of the slider
_ENDED = ("done", "failed", "cancelled")
_SLIDER, _PLAYING = "train-epoch", "train-playing"


def playing() -> bool:
    """Whether the epochs go by themselves."""
    return _PLAYING in st.session_state


def reached(chosen: Mapping[str, Training]) -> int:
    """The last epoch of any training."""
    return max((len(training.epochs) for training in chosen.values()), default=0)


def planned(training: Training) -> int:
    """How many epochs it was asked for, or has, if that is not known."""
    asked = dict(training.request.options).get(EPOCHS, 0)
    return int(training.live.get("epochs") or max(int(asked), len(training.epochs)))


def last_epoch(chosen: Mapping[str, Training]) -> int:
    """Where the axis of epochs ends: what is planned, or was reached by those that ended."""
    ends = [len(t.epochs) if t.state in _ENDED else planned(t) for t in chosen.values()]
    return max(1, *ends)


def played(last: int, choose_epoch: Callable[[int], None]) -> int:
    """The next epoch; after the last one the play ends, and the page is drawn anew."""
    at = int(st.session_state[_PLAYING])
    later = [stop for stop in stops(last) if stop > at]
    if not later:
        del st.session_state[_PLAYING]
        choose_epoch(0)
        st.rerun()
    st.session_state[_PLAYING] = later[0]
    return later[0]


def stops(last: int) -> list[int]:
    """The epochs that the slider stops at."""
    step = math.ceil(last / _MOST_STOPS) or 1
    return sorted({*range(step, last + 1, step), *([last] if last else [])})


def controls(
    chosen: Mapping[str, Training], at: int, epoch: int, choose_epoch: Callable[[int], None]
) -> None:
    """The button that plays, the slider, and what the colours of the maps mean.

    Args:
        at: the epoch that is seen.
        epoch: the view's.
    """
    play, slider, scale = st.columns([1, 6, 2], vertical_alignment="bottom", gap="medium")
    with play:
        _play_button(reached(chosen), epoch, choose_epoch)
    with slider:
        _slider(last_epoch(chosen), at, choose_epoch)
    with scale:
        charts.legend(1.0)


def _play_button(last: int, epoch: int, choose_epoch: Callable[[int], None]) -> None:
    plays = playing()

    def press() -> None:
        if plays:
            if _PLAYING in st.session_state:  # the play may have ended before the press arrived
                choose_epoch(int(st.session_state.pop(_PLAYING)))
        else:
            st.session_state[_PLAYING] = epoch if 0 < epoch < last else 0
            choose_epoch(epoch)

    icon = "pause" if plays else "play_arrow"
    st.button(
        gettext("Pause") if plays else gettext("Play"), icon=f":material/{icon}:",
        key="train-play", on_click=press, disabled=last < 2, width="stretch",
    )  # fmt: skip


def _slider(last: int, epoch: int, choose_epoch: Callable[[int], None]) -> None:
    epoch = min(epoch, last)
    offered = [*sorted({*stops(last), *([epoch] if epoch else [])}), 0]

    def slide() -> None:
        st.session_state.pop(_PLAYING, None)
        choose_epoch(st.session_state[_SLIDER])

    st.select_slider(
        gettext("After epoch"),
        offered,
        key=place(_SLIDER, epoch, fresh=st.session_state.get(_SLIDER) != epoch),
        format_func=lambda stop: f"{stop:,}" if stop else gettext("latest"),
        on_change=slide,
        help=gettext("“Latest” follows the trainings while they run."),
    )

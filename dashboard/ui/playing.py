"""A slider over the steps of a training that plays them, and follows the latest."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from dashboard.language import gettext
from dashboard.ui.widgets import place

TICK = 0.6  # seconds that a step is seen while it plays
_BEHIND = 10  # of the places where its slider stood that a slow browser may still name


@dataclass(frozen=True, kw_only=True)
class Player:
    """The steps that one page can show.

    Args:
        page, unit: begin and end the keys of widgets.
        stops: the steps at which the slider stops, in their order.
        at: the step that the view shows, or ``latest``, which stands for whichever is the last.
        choose: shows another step.
    """

    page: str
    unit: str
    stops: Sequence[int]
    at: int
    latest: int
    choose: Callable[[int], None]

    @property
    def playing(self) -> bool:
        """Whether the steps are being played."""
        return self._key in st.session_state

    @property
    def _key(self) -> str:
        return f"{self.page}-playing"

    @property
    def _ended(self) -> str:
        return f"{self.page}-ended"

    def advance(self) -> int:
        """The next step; after the last one the play ends, and the page is drawn anew."""
        stood = st.session_state[self._key]
        later = [stop for stop in self.stops if stop > stood[-1]]
        if not later:
            del st.session_state[self._key]
            st.session_state[self._ended] = time.monotonic()
            self.choose(self.latest)
            st.rerun()
        st.session_state[self._key] = [*stood, later[0]][-_BEHIND:]
        return later[0]

    def button(self) -> None:
        """Begin to play, from the first step if the last one is seen; or stop.

        Who presses as the play ends saw "Pause", and does not begin another.
        """
        plays, last = self.playing, max(self.stops, default=self.latest)

        def press() -> None:
            if not plays:
                if time.monotonic() < st.session_state.get(self._ended, 0) + TICK:
                    return
                within = self.latest < self.at < last
                st.session_state[self._key] = [self.at, *([] if within else [self.latest])]
                self.choose(self.at)
            elif self.playing:  # the play may have ended before the press arrived
                self.choose(st.session_state.pop(self._key)[-1])

        icon = "pause" if plays else "play_arrow"
        st.button(
            gettext("Pause") if plays else gettext("Play"), icon=f":material/{icon}:",
            key=f"{self.page}-play", on_click=press, disabled=len(self.stops) < 2, width="stretch",
        )  # fmt: skip

    def slider(self, label: str, at: int, help: str) -> None:
        """The slider, which stands at that step."""
        key = f"{self.page}-{self.unit}"

        def slide() -> None:
            value = st.session_state[key]
            if value in st.session_state.get(self._key, ()):
                return  # the browser told where it stood before it heard of the next steps
            st.session_state.pop(self._key, None)
            self.choose(value)

        own = {at} - {self.latest}
        st.select_slider(
            label, [*sorted({*self.stops, *own}), self.latest],
            key=place(key, at, fresh=st.session_state.get(key) != at),
            format_func=lambda stop: f"{stop:,}" if stop != self.latest else gettext("latest"),
            on_change=slide, help=help,
        )  # fmt: skip

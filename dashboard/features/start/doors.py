"""The way to the lessons, and the three doors of the start page: see, play, build."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import navigation
from dashboard.language import gettext
from dashboard.ui.page_script import TO_FORMULA

_NARROWEST = 250  # px of a door, before doors wrap
_FORMULA = {"a": "=-norm(q - k) / w", "b": "gaussian"}


def doors(curves: Mapping[str, str]) -> None:
    """Draw the way to the lessons, and the doors beside each other where there is room.

    Args:
        curves: parameters of the link to *Kernel regression* with the curves that are seen.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="to-lessons"):
        st.markdown(gettext("**New to attention?**"), width="content")
        navigation.link_to("lessons", {}, gettext("Take ten short lessons"))
    with st.grid(3, min_column_width=_NARROWEST, gap="medium", key="doors"):
        purpose = gettext("Which words a trained translator looks at while it writes each word.")
        with _door("see", gettext("See"), purpose):
            navigation.link_to("translation", {}, gettext("Translate a sentence"))
        purpose = gettext("Other scorings, other data, and the weights of every prediction.")
        with _door("play", gettext("Play"), purpose):
            navigation.link_to("regression", curves, gettext("Continue with these curves"))
        purpose = gettext("A scoring of your own, as a formula or as ten lines of Python.")
        with _door("build", gettext("Build"), purpose):
            with st.container(key=TO_FORMULA):
                navigation.link_to("regression", _FORMULA, gettext("Type a formula"), "function")
            navigation.link_to("plugins", {}, gettext("Write a plugin"))


def _door(name: str, title: str, purpose: str) -> DeltaGenerator:
    door = st.container(border=True, gap="xsmall", key=f"door-{name}")
    with door:
        st.header(title, anchor=False)
        st.write(purpose)
    return door

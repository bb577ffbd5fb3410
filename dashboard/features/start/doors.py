"""The three doors of the start page: see, play, build."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import navigation

_NARROWEST = 250  # px of a door, before doors wrap
_FORMULA = {"a": "=-|q - k| / w", "b": "gaussian"}


def doors(curves: Mapping[str, str]) -> None:
    """Draw the doors beside each other where there is room.

    Args:
        curves: parameters of the link to *Kernel regression* with the curves that are seen.
    """
    with st.grid(3, min_column_width=_NARROWEST, gap="medium", key="doors"):
        with _door("See", "Which words a trained translator looks at while it writes each word."):
            navigation.link_to("translation", {}, "Translate a sentence")
        with _door("Play", "Other scorings, other data, and the weights of every prediction."):
            navigation.link_to("regression", curves, "Continue with these curves")
        with _door("Build", "A scoring of your own, as a formula or as ten lines of Python."):
            navigation.link_to("regression", _FORMULA, "Type a formula", "function")
            navigation.link_to("plugins", {}, "Write a plugin")


def _door(title: str, purpose: str) -> DeltaGenerator:
    door = st.container(border=True, gap="xsmall", key=f"door-{title.lower()}")
    with door:
        st.header(title, anchor=False)
        st.write(purpose)
    return door

"""How to write a plugin: ten lines, four steps."""

from __future__ import annotations

import streamlit as st

from dashboard.language import gettext, gettext_noop
from dashboard.records.catalogue import Catalogue
from dashboard.ui import reloading
from dashboard.ui.owner import visitor

_PACKAGE = "my-scoring"
_STEPS = (
    (gettext_noop("A package with these lines in it, its entry point and its tests:"),
     f"python -m attention_plugins new {_PACKAGE}"),
    (gettext_noop("Installed beside the workbench, so that changes of yours count at once:"),
     f"pip install -e {_PACKAGE}"),
    (gettext_noop("After “Reload plugins”, every page offers it. Whether it keeps the rules:"),
     f"python -m attention_plugins check {_PACKAGE}"),
)  # fmt: skip


def write_your_own(catalogue: Catalogue) -> None:
    """The whole plugin, and the commands that make a package of it."""
    st.header(gettext("Write your own in ten lines"), anchor=False)
    lines, steps = st.columns([3, 2], gap="medium")
    with lines:
        st.code(catalogue.example, language="python", wrap_lines=True)
    with steps, st.container(gap="xsmall"):
        for sentence, command in _STEPS:
            st.caption(gettext(sentence))
            st.code(command, language="bash", wrap_lines=True)
        administers = visitor().administers
        st.button(
            gettext("Reload plugins"),
            icon=":material/refresh:",
            key="plugins-reload",
            disabled=not administers,
            help=None if administers else gettext("For administrators of this server"),
            on_click=reloading.reload,
        )

"""The common target of the page *Differences*: the reader's words, or a panel's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.controls import plain
from dashboard.engine.protocol import Event
from dashboard.pages import parts
from dashboard.pages.differences_panel import FAILED, checkpoints_of
from dashboard.runs.differences_link import Differences
from dashboard.runs.offers import Catalogue, Checkpoint
from dashboard.runs.reader import tidy
from dashboard.runs.request import Request
from dashboard.runs.translation_link import translation_request
from dashboard.state import Visit


def target_requests(here: Visit, catalogue: Catalogue, said: Any) -> dict[str, Request]:
    """Every panel's request for the common target; none while nobody has said one.

    Args:
        said: the place where it is said whose words these are, if the reader gave none.
    """
    view: Differences = here.view
    found = checkpoints_of(view, catalogue) if view.text else {}
    own: list[Request] = []
    target = view.target
    if found and not target:
        own, speaker, event = _first_words(here, found)
        words = event.result.facts["translation"] if event and event.result else ""
        target = tidy(words)
        with said:
            _say_target(here, speaker, target, own[-1], event)
    forced = replace(view, target=target)
    requests = {
        letter: translation_request(forced, checkpoint)
        for letter, checkpoint in found.items()
        if target
    }
    here.jobs.want([*own, *requests.values()])
    here.jobs.wait(parts.PATIENCE)
    return requests


def _first_words(
    here: Visit, found: Mapping[str, Checkpoint]
) -> tuple[list[Request], str, Event | None]:
    """What was asked for, whose words are awaited or taken, and how that ended.

    The first panel speaks; if it fails, the next one.
    """
    asked: list[Request] = []
    for speaker, checkpoint in found.items():
        asked.append(translation_request(replace(here.view, target=""), checkpoint))
        here.jobs.want(asked)
        here.jobs.wait(parts.PATIENCE)
        event = here.jobs.final(asked[-1])
        if event is None or event.result is not None:
            return asked, speaker, event
    return asked, speaker, event


def _say_target(
    here: Visit, speaker: str, target: str, request: Request, event: Event | None
) -> None:
    if event is None or event.result is None:
        parts.results(here.jobs, request, lambda result: None, FAILED, "differences-words")
        return
    if not target:
        st.caption(f"Panel {speaker} has nothing to say: write a common target above.")
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        words = f"The target is what panel {speaker} says by itself: “{plain(target)}”"
        st.caption(words, width="content")
        st.button(
            "Force these words",
            type="tertiary",
            icon=":material/push_pin:",
            help="Writes them into the field, and so into the link.",
            on_click=_force,
            args=(here, target),
        )


def _force(here: Visit, target: str) -> None:
    here.change(replace(here.view, target=target))

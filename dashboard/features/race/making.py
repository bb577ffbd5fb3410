"""How a race was made and how far it is, which cannot be read, and how to make one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.features.race import bringing
from dashboard.features.race.view import RaceView
from dashboard.language import gettext, gettext_noop, translated
from dashboard.records.result import Result
from dashboard.storage.home import home
from dashboard.storage.races import FOLDER, RaceRecord
from dashboard.ui import owner, shown
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_DAMAGED_SHOWN = 4
_MADE = {  # facts that are told in one line
    "commit": gettext_noop("commit {value}"), "machine": gettext_noop("machine {value}"),
    "torch": gettext_noop("torch {value}"), "python": gettext_noop("python {value}"),
}  # fmt: skip
_COMMAND = "python -m attention_plugins race --output {} --tasks sine reverse --seeds 12"
_JOIN = "python -m attention_plugins race --output {} --join --scorings my_scoring"


def made(session: Session[RaceView], race: RaceRecord) -> None:
    """By what the race was made."""
    words = [
        gettext(
            "{contestants:,} contestants, {tasks} tasks, {seeds} seeds",
            contestants=len(race.entrants), tasks=len(race.tasks), seeds=race.seeds,
        ),
        *(
            gettext(words, value=race.facts[name])
            for name, words in _MADE.items()
            if race.facts.get(name)
        ),
    ]  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width="stretch"):
            shown.caption(plain(" · ".join(words)))
        bringing.remover(session, race)
    if command := race.facts.get("command"):
        with st.expander(gettext("The command that made it"), icon=":material/terminal:"):
            st.code(command, language="bash", wrap_lines=True)


def progress(result: Result) -> None:
    """How far a race is that is not complete, and lines that could not be read."""
    facts = result.facts
    if not facts["complete"]:
        words = gettext("{done:,} trainings done; these are the rows so far.", done=facts["done"])
        if facts["total"]:
            words = gettext(
                "{done:,} of {total:,} trainings done; these are the rows so far.",
                done=facts["done"], total=facts["total"],
            )  # fmt: skip
        with st.container(horizontal=True, vertical_alignment="center", key="race-running"):
            shown.text(words)
            st.button(
                gettext("Refresh"), icon=":material/refresh:", type="tertiary", key="race-refresh"
            )
    elif facts["minutes"]:
        shown.caption(
            gettext(
                "{count:,} trainings, {hours:,.1f} hours of one core or device.",
                count=facts["done"], hours=facts["minutes"] / 60,
            )
        )  # fmt: skip
    for line in facts["skipped"][:_DAMAGED_SHOWN]:
        place, _, problem = line.partition(": ")
        shown.caption(
            plain(
                gettext(
                    "Left out, line {number}: {problem}",
                    number=place.removeprefix("line "), problem=translated(problem),
                )
            )
        )  # fmt: skip


def damaged(found: Sequence[tuple[str, str]]) -> None:
    """Races that cannot be read, by their names, and why."""
    for name, reason in found[:_DAMAGED_SHOWN]:
        words = gettext(
            "The race {race} is not shown: {problem}.", race=name, problem=translated(reason)
        )
        st.caption(f":material/warning: {plain(words)}")


def own() -> None:
    """The commands that run a race."""
    local = owner.visitor().administers
    folder = str(home() / FOLDER / "my-race") if local else "my-race"
    st.text(gettext("Every installed scoring on two tasks; it may be stopped, and goes on:"))
    st.code(_COMMAND.format(folder), language="bash", wrap_lines=True)
    st.text(gettext("Your own plugin against what is shipped:"))
    st.code(_JOIN.format(folder), language="bash", wrap_lines=True)
    if not local:
        st.text(
            gettext("Then zip race.json and outcomes.jsonl of that folder, and import it here.")
        )

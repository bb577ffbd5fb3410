"""Takes a race in through a worker: the page never parses the uploaded bytes itself."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import PurePath

import streamlit as st

from dashboard.features.race.view import RaceView, import_request
from dashboard.jobs.backend import Event
from dashboard.language import ended, gettext, gettext_noop, listed, ngettext, translated
from dashboard.records.beside import beside
from dashboard.records.request import Request, Result
from dashboard.settings import settings
from dashboard.storage import races
from dashboard.storage.blobs import Blobs
from dashboard.storage.bundle import LARGEST_ARCHIVE, MB, check_size
from dashboard.storage.files import BundleError, StorageError, home
from dashboard.storage.races import FOLDER, OUTCOMES, PLAN, RaceRecord
from dashboard.ui import owner, results, shown, upload
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench

_DAMAGED_SHOWN = 4
_UNIT = re.compile(r"\b(\d+) (core|thread)s?\b")  # of a machine, as a race's file says it
_UNITS = beside(__file__, "words.toml")["units"]
_MADE = beside(__file__, "words.toml")["made"]
_SAID = beside(__file__, "words.toml")["bringing"]
_COMMANDS = {
    gettext_noop("Every installed scoring on two tasks; it may be stopped, and goes on:"):
        "python -m attention_plugins race --output {} --tasks sine reverse --seeds 12",
    gettext_noop("Your own plugin against what is shipped:"):
        "python -m attention_plugins race --output {} --join --scorings my_scoring",
}  # fmt: skip


def made(session: Session[RaceView], race: RaceRecord) -> None:
    """By what the race was made."""
    seeds = ngettext("{count:,} seed", "{count:,} seeds", race.seeds)
    words = listed([
        ngettext("{count:,} contestant", "{count:,} contestants", len(race.entrants)),
        ngettext("{count:,} model", "{count:,} models", len({e.model for e in race.entrants})),
        ngettext("{count:,} task", "{count:,} tasks", len(race.tasks)),
        seeds if race.seeds else gettext("a training at each rate"),
    ])  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width="stretch"):
            shown.caption(plain(" · ".join([words, *_facts(race)])))
        visitor = owner.visitor()
        if race.owner is not None and (visitor.administers or race.owner == visitor.owner):
            st.button(
                gettext("Remove this race"), icon=":material/delete:", type="tertiary",
                key="race-remove", on_click=_remove, args=(session, race.name),
            )  # fmt: skip


def _facts(race: RaceRecord) -> list[str]:
    def counted(found: re.Match[str]) -> str:
        return ngettext(**_UNITS[found[2]], count=int(found[1]))

    facts = ((text, translated(race.facts.get(name, ""))) for name, text in _MADE.items())
    return [gettext(text, value=_UNIT.sub(counted, value)) for text, value in facts if value]


def commands(race: RaceRecord, joined: Sequence[RaceRecord]) -> None:
    """The command that made it, where one did, and by what those were made that join it."""
    made = [(one, one.facts.get("command")) for one in (race, *joined)]
    if not joined and not made[0][1]:
        return
    with st.expander(gettext("The command that made it"), icon=":material/terminal:"):
        for one, command in made:
            if joined:
                st.caption(plain(" · ".join([one.name, *_facts(one)])))
            if command:
                st.code(command, language="bash", wrap_lines=True)


def progress(result: Result) -> None:
    """How far a race is that is not complete, and lines that could not be read."""
    facts = result.facts
    if not facts["complete"]:
        told = gettext_noop("These rows are of the first {done:,} trainings.")
        if facts["total"]:
            told = gettext_noop("These rows are of the first {done:,} of {total:,} trainings.")
        words = gettext(told, done=facts["done"], total=facts["total"])
        with st.container(horizontal=True, vertical_alignment="center", key="race-running"):
            shown.text(words)
            st.button(
                gettext("Refresh"), icon=":material/refresh:", type="tertiary", key="race-refresh"
            )
    elif facts["hours"]:
        shown.caption(
            gettext(_SAID["cost"], count=facts["done"], hours=facts["hours"], share=facts["share"])
        )  # fmt: skip
    for line in facts["skipped"][:_DAMAGED_SHOWN]:
        place, _, problem = line.partition(": ")
        words = gettext(
            "Left out, line {number}: {problem}",
            number=place.removeprefix("line "), problem=translated(problem),
        )  # fmt: skip
        shown.caption(plain(words))


def damaged(found: Sequence[tuple[str, str]]) -> None:
    """Races that cannot be read, by their names, and why."""
    for name, reason in found[:_DAMAGED_SHOWN]:
        problem = translated(reason)
        words = gettext("The race {race} is not shown: {problem}.", race=name, problem=problem)
        st.caption(f":material/warning: {plain(words)}")


def own() -> None:
    """The commands that run a race."""
    local = owner.visitor().administers
    folder = str(home() / FOLDER / "my-race") if local else "my-race"
    for sentence, command in _COMMANDS.items():
        st.text(gettext(sentence))
        st.code(command.format(folder), language="bash", wrap_lines=True)
    if not local:
        st.text(
            gettext("Then zip race.json and outcomes.jsonl of that folder, and import it here.")
        )


_UPLOAD, _PENDING, _NOTES = "race-import", "race import", "race import said"
_NAMED = 8  # lines that were left out


def importer(session: Session[RaceView]) -> None:
    """The button that asks for a race's file."""
    if not owner.visitor().makes:
        return
    with st.popover(gettext("Import a race"), icon=":material/upload_file:"):
        st.caption(gettext(_SAID["zip"]))
        upload.uploader(
            gettext("File"), key=_UPLOAD, types=["zip"], take=_begin,
            megabytes=min(LARGEST_ARCHIVE // MB, settings().upload_megabytes),
        )  # fmt: skip


def finish(session: Session[RaceView]) -> None:
    """Wait while a worker reads the uploaded file, and open the race; then say what came of it."""
    if _PENDING in st.session_state:
        request, take = st.session_state[_PENDING]
        session.jobs.want([request])
        with st.spinner(gettext("A worker reads the race")):
            while not session.jobs.wait(results.POLL):
                session.jobs.progress(request)
        event = session.jobs.final(request)
        del st.session_state[_PENDING]
        session.jobs.want([])  # forget the result
        try:
            if event is not None:
                take(session, event)
        except (ValueError, StorageError) as error:
            refuse(error)
        st.rerun()
    if notes := st.session_state.get(_NOTES):
        with st.container(border=True, key="race-import-said"):
            for sentence in notes:
                st.text(sentence)


def _begin() -> None:
    file = st.session_state[_UPLOAD]
    for key in (_PENDING, _NOTES):
        st.session_state.pop(key, None)
    if file is None:
        return
    try:
        owner.visitor().see_that_it_makes("Importing")
        data, chosen = file.getvalue(), settings()
        check_size(data)
        digest = Blobs(
            largest=min(LARGEST_ARCHIVE, chosen.upload_megabytes * MB),
            total=chosen.uploads_total_megabytes * MB,
        ).put(data)
        ask(import_request(digest), partial(_import, digest, PurePath(file.name).stem))
    except ValueError as error:
        refuse(error)


Take = Callable[[Session[RaceView], Event], None]


def ask(request: Request, take: Take) -> None:
    """Have a worker read a race; :func:`finish` waits for it, and has ``take`` use what came."""
    st.session_state.pop(_NOTES, None)
    st.session_state[_PENDING] = request, take


def refuse(error: Exception) -> None:
    """Have the page say why something cannot be."""
    st.session_state[_NOTES] = [
        gettext("Refused: {problem}.", problem=translated(str(error)).rstrip("."))
    ]


def _import(digest: str, name: str, session: Session[RaceView], event: Event) -> None:
    with suppress(OSError):
        Blobs().remove(digest)
    added, facts = add(event, name), event.result.facts if event.result else {}
    kept = facts["kept"]
    notes = [gettext("{race}: {count:,} trainings were taken in.", race=added, count=kept)]
    if count := facts["left_out"]:
        notes.append(ngettext("{count:,} line left out.", "{count:,} lines left out.", count))
        notes += map(translated, facts["problems"][:_NAMED])
    st.session_state[_NOTES] = notes
    session.change(RaceView(race=added))


def add(event: Event, name: str) -> str:
    """Keep the race that a worker has written; its name here.

    Raises:
        ValueError: the worker refused it, or there is no room.
        StorageError: it cannot be written.
    """
    if event.result is None:
        note = translated(event.note)
        if not event.facts.get("refused"):
            note = gettext("a worker failed to read it ({problem})", problem=note)
        raise BundleError(note)
    table, chosen = event.result.tables["files"], settings()
    return races.add(
        name, {PLAN: table["plan"][0].as_py(), OUTCOMES: table["outcomes"][0].as_py()},
        owner.owner(), megabytes=chosen.uploads_megabytes, total=chosen.uploads_total_megabytes,
    )  # fmt: skip


def _remove(session: Session[RaceView], name: str) -> None:
    try:
        workbench().racing.stop(name)
        races.remove(name)
    except (ValueError, StorageError) as error:
        st.session_state[_NOTES] = [ended(translated(str(error)))]
        return
    st.session_state[_NOTES] = [gettext("The race {race} was removed.", race=name)]
    session.change(RaceView())

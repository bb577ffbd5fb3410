"""Exercise: made from a page's state, answered by students above that page, looked over here."""

import codecs
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pandas as pd
import streamlit as st

from dashboard.features.exercise.view import LINK, ExerciseView
from dashboard.language import gettext, gettext_noop, together, translated
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.text import lines, plain
from dashboard.storage.exercises import number
from dashboard.storage.files import StorageError
from dashboard.storage.seen import Group, Value
from dashboard.ui import frame, navigation, owner, session
from dashboard.ui.exercise import PARAMETER, draw_hints
from dashboard.ui.one_file import SEEN
from dashboard.ui.page import Page
from dashboard.visitors import for_others

_WORDS = beside(__file__, "words.toml")
_SAID, _KINDS = _WORDS["page"], _WORDS["kinds"]
_POLL, _CODE, _STATE = 2.0, 240, 140  # seconds, px, px
_AROUND, _LONG, _FEW = 60, 120, 4  # characters, of a title, bars in large type
_NUMBER = re.compile(r"(?<![\w.,])[-−]?\d+(?:\.\d+)?(?![\w.,]*\w)", re.ASCII)  # 共4行 has one
_COLUMNS, _FOUND = _WORDS["columns"].values(), _WORDS["found"]
_PIECES = re.compile(r" · |\n|(?<=[.!?;]) |(?<=[。；])")  # a figure's own words
_LINES = re.compile(r".*\S.*").findall  # those that are not blank
_TOKEN = "exercise token"


def place(of: str, catalogue: Catalogue) -> tuple[str, dict[str, str]]:
    """The page that an address names, and its query as the page writes it, or a ValueError."""
    found, own = urlsplit(of.strip()), urlsplit(st.context.url or "")
    path, pages = found.path.rstrip("/").rpartition("/")[2], navigation.installed()
    entry = next((each for each in pages if each.path == path), None if path else pages[0])
    if found.netloc not in ("", own.netloc) or not entry or entry.name == PARAMETER:
        raise ValueError(gettext_noop("Need the address of one of this server's pages."))
    return entry.name, navigation.checked(entry.name, dict(parse_qsl(found.query)), catalogue)


def figures(of: str) -> dict[str, str]:
    """The numbers that the page of that address showed to this session, by where they stood."""
    seen = st.session_state.get(SEEN)
    return _figures(seen.record.seen, "") if seen and seen.whole == of else {}


def _figures(group: Group, panel: str) -> dict[str, str]:
    panel, found = f"{group.letter}: {group.title} · " if group.letter else panel, {}
    for block in group.blocks:
        if isinstance(block, Group):
            found |= _figures(block, panel)
        said = "" if block.kind == "latex" else getattr(block, "text", "")
        said = f"{block.label}: {block.value}" if isinstance(block, Value) else said
        for piece in _PIECES.split(re.sub(r"\$[^$]*\$|[*`\\]", "", said)):
            for match in _NUMBER.finditer(piece):
                before, after = piece[: match.start()], piece[match.end() :]
                if len(before) > _AROUND:  # whole words, where there are some
                    before = before[-_AROUND:]
                    before = f"…{before.partition(' ')[2] or before}"
                if len(after) > _AROUND:
                    after = f"{after[:_AROUND].rpartition(' ')[0] or after[:_AROUND]}…"
                around = " ".join(f"{before}{match[0]}{after}".split())
                found.setdefault(f"{match[0]} · {panel}{around}", match[0])
    return found


def _make(opened: session.Session[ExerciseView]) -> None:
    owner.visitor().see_that_it_makes(gettext_noop("Making exercises"))
    of = st.text_input(gettext("Address of the page"), opened.view.of, key="exercise-of")
    text = st.text_area(gettext("Question"), height=68, key="exercise-text")
    kinds = {name: gettext(title) for name, title in _KINDS.items()}
    kind = st.radio(gettext("Students give"), kinds, format_func=kinds.get, horizontal=True)
    right, off, choices = "", "", ""
    if kind == "number":
        if shown := figures(of):
            st.selectbox(
                gettext("A figure of the page"), shown, index=None, key="exercise-figure",
                on_change=_take, args=(shown,),
            )  # fmt: skip
        else:
            st.caption(gettext(_SAID["figureless"]))
        fields = st.columns(2)
        right = fields[0].text_input(gettext("Right answer"), key="exercise-right")
        off = fields[1].text_input(gettext("Tolerance, ±"), key="exercise-off")
    elif kind != "text":
        choices = lines(st.text_area(gettext("Answers, one a line"), key="exercise-choices"))
        if kind == "choice":
            right = st.selectbox(gettext("Right answer"), _LINES(choices), key="exercise-one")
    hints = lines(st.text_area(gettext("Hints, one a line, up to three"), key="exercise-hints"))
    keep = st.checkbox(gettext("Keep names and answers after the end"), key="exercise-keep")
    if st.button(gettext("Make the exercise"), type="primary", key="exercise-make"):
        page, query = place(of, opened.catalogue)
        id, token = owner.run_store().exercises.make(
            owner.owner(), page=page, query=query, text=lines(text), kind=kind, keep=keep,
            right=right or "", tolerance=off, choices=_LINES(choices), hints=_LINES(hints),
        )  # fmt: skip
        st.session_state[_TOKEN] = id, token
        opened.change(ExerciseView(id=id))
        st.rerun()


def _take(shown: Mapping[str, str]) -> None:
    """Fill in the figure that was picked, and half a unit of its last digit."""
    if picked := shown.get(st.session_state["exercise-figure"] or "", ""):
        half = f"{0.5 / 10 ** len(picked.partition('.')[2]):g}"
        st.session_state.update({"exercise-right": picked, "exercise-off": half})


def _address(**query: str) -> str:
    return urlsplit(session.address({}))._replace(query=urlencode(query)).geturl()


def _teach(opened: session.Session[ExerciseView], found: Any) -> None:
    link = for_others(_address(id=found.id))
    left, right = st.columns([2, 1], gap="large")
    with right:
        _buttons(opened, found)
        if not found.ended:
            st.caption(gettext("Give your class this link or its QR code."))
            st.image(frame.qr_code(link), width=_CODE)
            frame.draw_link(link)
            st.caption(gettext(_SAID["kept" if found.keep else "forgotten"]))
            st.caption(gettext(_SAID["limits"]))
        id, token = st.session_state.get(_TOKEN, ("", ""))
        if id == found.id:
            st.caption(gettext(_SAID["once"]))
            frame.draw_link(for_others(_address(id=id, teacher=token)))
    with left:
        _question(found)
        st.caption(gettext(_SAID["teachers"]))
        if found.right:
            off = f" ± {number(found.tolerance or '0'):g}" if found.kind == "number" else ""
            st.text(gettext("Right answer: {answer}", answer=f"{found.right}{off}"))
        draw_hints(found.hints)
        st.header(gettext(_WORDS["headings"][found.kind]), anchor=False)
        st.fragment(_board, run_every=_POLL)(found)


def _buttons(opened: session.Session[ExerciseView], found: Any) -> None:
    with st.container(horizontal=True, gap="small"):
        shown = _address(id=found.id, projector="1", embed="true")
        st.link_button(gettext("Projector"), shown, icon=":material/cast:")
        label = gettext("Delete the exercise") if found.ended else gettext("End the exercise")
        # One press alone deletes nothing, nor does the second of a double click: what ends closes.
        with st.popover(label, key=f"exercise-{'delete' if found.ended else 'end'}-open"):
            st.caption(gettext(_SAID["gone" if found.ended else "kept" if found.keep else "now"]))
            if st.button(label, key="exercise-end"):
                owner.run_store().exercises.end(found.id)
                st.rerun()
        st.button(
            gettext("Your exercises"), icon=":material/list:", key="exercise-all",
            on_click=opened.change, args=(ExerciseView(),),
        )  # fmt: skip


def _question(found: Any, *, opens: bool = True) -> None:
    st.text(found.text)
    if found.ended:
        st.text(gettext("This exercise has ended."))
    if not opens:
        return
    asked = {} if found.ended else {PARAMETER: found.id}
    label = gettext("Open the page and answer there") if asked else gettext("Open the page")
    with st.container(key="exercise-open"):
        navigation.link_to(found.page, {**found.query, **asked}, label)


def _board(found: Any, *, names: bool = True) -> None:
    store = owner.run_store().exercises
    try:
        students = store.board(found.id)
        if store.find(found.id).ended != found.ended:
            st.rerun()  # the page around it invites no longer
    except KeyError:
        st.rerun()
    except StorageError as error:
        st.text(translated(str(error)))
        return
    if found.ended and not found.keep:
        st.text(gettext(_SAID["deleted"]))
        return
    st.text(gettext(_SAID["answered"], count=len(students)))
    told = {state: gettext(said) for state, said in _FOUND.items()}
    bars = {each: sum(one["last"] == each for one in students) for each in found.choices}
    if found.kind == "number":
        states = [one["found"] for one in students]
        bars = {said: states.count(state) for state, said in told.items()}
    with st.container(key=f"exercise-{'many' if len(bars) > _FEW else 'few'}-bars"):
        for label, count in bars.items():
            said = gettext("{label}: **{value}**", label=plain(label), value=count)
            st.progress(count / max(1, len(students)), text=said)
    if names and students:
        table = pd.DataFrame([{**one, "found": told.get(one["found"], "")} for one in students])
        table.columns = [gettext(each) for each in _COLUMNS]
        wide = {table.columns[1]: st.column_config.TextColumn(width=_STATE)}
        if not any(table[table.columns[1]]):  # nothing is judged
            table = table.drop(columns=table.columns[1])
        label = gettext(_WORDS["headings"][found.kind])
        st.dataframe(table, hide_index=True, alt=label, column_config=wide)
        # A spreadsheet would compute what begins as a formula.
        csv = table.replace(re.compile(r"^([=+\-@])"), r"'\1").to_csv(index=False)
        mark = codecs.BOM_UTF8  # by which spreadsheets know the letters
        name = f"answers-{found.id[:8]}.csv"
        st.download_button("CSV", mark + csv.encode(), name, on_click="ignore")


def _project(found: Any) -> None:
    with st.container(key="exercise-projector"):
        left, right = st.columns([3, 1], gap="large")
        with left:
            _question(found, opens=False)
            if not found.ended:
                link = for_others(_address(id=found.id))
                right.image(frame.qr_code(link), width="stretch")
                right.code(link, language=None, wrap_lines=True)
            st.fragment(_board, run_every=_POLL)(found, names=False)


def _list() -> None:
    st.text(gettext(_SAID["how" if owner.visitor().makes else "asked"]))
    for each in owner.run_store().exercises.own(owner.owner()):
        title = each.text if len(each.text) <= _LONG else f"{each.text[:_LONG]}…"
        navigation.link_to(PARAMETER, {"id": each.id}, plain(title))
        ended = gettext("This exercise has ended.") if each.ended else ""
        count = gettext(_SAID["answered"], count=each.students) if each.keep or not ended else ""
        st.caption(together((ended, count)))


def _results(opened: session.Session[ExerciseView], _: None) -> None:
    view, visitor = opened.view, owner.visitor()
    wrong = st.container(key="exercise-wrong")
    try:
        if not view.id:
            return _make(opened) if view.of else _list()
        store = owner.run_store().exercises
        if view.teacher:
            opened.change(ExerciseView(id=view.id))
            if store.join(view.id, view.teacher, visitor.owner):
                st.rerun()
            st.text(gettext("This is not the teacher's link."))
        found = store.find(view.id)
        teaches = visitor.administers or visitor.owner in found.teachers.split(" ")
        if teaches and view.projector:
            _project(found)
        elif teaches:
            _teach(opened, found)
        else:
            _question(found)
    except KeyError:
        st.text(gettext("This exercise is not on this server. Ask for its link again."))
    except ValueError as error:
        wrong.error(plain(translated(str(error))))


PAGE = Page(
    name=PARAMETER, **_WORDS["heading"], link=LINK, controls=lambda _session: None, keeps=False,
    results=_results,
)  # fmt: skip

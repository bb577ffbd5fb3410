"""What stands around every page: heading, buttons, notices, and the page while it starts."""

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

import streamlit as st
from streamlit.components.v2 import component
from streamlit.delta_generator import DeltaGenerator

from dashboard import language
from dashboard.language import gettext, listed, ngettext, translated
from dashboard.records.beside import beside, read_beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, about
from dashboard.ui import exercise, navigation, owner, session, speaking
from dashboard.ui.jobs import Jobs
from dashboard.ui.layout import grid
from dashboard.ui.reloading import reload
from dashboard.ui.results import POLL, details
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench
from dashboard.visitors import LOOPBACK, for_others

_SAID = beside(__file__, "words.toml")["frame"]

# By term, in Markdown and in English; a term stands where its letter puts it.
TERMS: Mapping[str, str] = beside(__file__, "glossary.toml")
TO_FORMULA = "to-formula"  # key of a container whose link leads to its page's field of formulas
_GLOSSARY_HEIGHT = 380  # px
_FIRST_WAIT = 0.3  # seconds for the catalogue, before the page in waiting is drawn
_LONGEST_CODE = 1200  # characters; a camera reads no finer QR code from a screen
_LONGEST_TAB = 60  # characters of what a page shows
_MOST_SHOWN = 8  # of problems, and of plugins that failed

_copy = component(
    "attention_workbench_copy", html=read_beside(__file__, "copy_button.html"),
    css=read_beside(__file__, "copy_button.css"), js=read_beside(__file__, "copy_button.js"),
)  # fmt: skip
_script = component(
    "attention_workbench_page",
    js=read_beside(__file__, "page_script.js") + read_beside(__file__, "held_pictures.js"),
)

_told = component("attention_workbench_told", js=read_beside(__file__, "charts_told.js"))


def tell(charts: Mapping[str, str]) -> None:
    """Have a screen reader say what charts show, by the titles that the browser has of them."""
    _told(key="charts-told", height="content", data=charts)


def copy_button(link: str, instead: Sequence[str] = ()) -> None:
    """A button *Copy link*, and a popover with the link as text and as a QR code.

    ``instead`` are the scorings that the link names in place of wrong formulas.
    """
    done = gettext("Link copied")
    if instead:
        done = gettext(
            "Link copied with {scoring}: the typed formula is wrong", scoring=listed(instead)
        )
    _copy(
        key="copy-link", width="content", height="content",
        data={
            "text": link, "label": gettext("Copy link"), "done": done,
            "failed": gettext("Not copied: take it from the QR code's menu"),
        },
    )  # fmt: skip
    shared = st.popover(
        gettext("QR code"), icon=":material/qr_code_2:", type="tertiary", key="share",
        on_change="rerun",
    )  # fmt: skip
    if not shared.open:
        return
    own, link = link, for_others(link)
    with shared:
        if navigation.current().name != exercise.PARAMETER and owner.visitor().makes:
            navigation.link_to(exercise.PARAMETER, {"of": own}, gettext("Make an exercise"))
        st.caption(gettext("Whoever opens this link sees this page as it is now."))
        if instead:
            names = listed(instead)
            named = gettext("It names {scoring}: the typed formula is wrong.", scoring=names)
            st.caption(plain(named))
        draw_link(link)
        if len(link) <= _LONGEST_CODE:
            st.image(qr_code(link), width=240)
        else:
            st.caption(
                gettext("The link is too long for a QR code. Keep the page, and share the run.")
            )


def draw_link(link: str) -> None:
    """A link to be given to others, and that they cannot open it where that is so."""
    st.code(link, language=None, wrap_lines=True)
    if urlsplit(link).hostname in LOOPBACK:
        st.caption(gettext(_SAID["local"]))


def qr_code(link: str) -> str:
    """As SVG, dark on light in either theme, as cameras want it."""
    import segno

    return segno.make(link, error="l", micro=False).svg_inline(
        scale=4, border=4, dark="#000", light="#fff"
    )


def glossary_button() -> None:
    """A popover with all terms; its content is sent only while it is open."""
    opened = st.popover(
        gettext("Glossary"), icon=":material/menu_book:", type="tertiary", key="glossary",
        on_change="rerun",
    )  # fmt: skip
    if not opened.open:
        return
    with opened:
        sought = st.text_input(
            gettext("Find a term"), key="glossary-sought", max_chars=40,
            placeholder=gettext("such as query"),
        )  # fmt: skip
        letters = _letters(sought.strip())
        found = [term for term in TERMS if letters in _letters(term) or letters in gettext(term)]
        with st.container(height=_GLOSSARY_HEIGHT, border=False):
            if found:
                st.markdown("\n\n".join(map(defined, found)))
            else:
                st.caption(gettext("No term has these letters. Try fewer of them."))
        label = gettext("Lessons explain most of them one after the other")
        navigation.link_to("lessons", {}, label)


def _letters(term: str) -> str:
    """In small letters and without hyphens, since a page says *held out* and *held-out*."""
    return term.lower().replace("-", " ")


def defined(term: str) -> str:
    """A term and its meaning, in Markdown; in another language with the English term."""
    called, meaning = gettext(term), gettext(TERMS[term])
    if called == term:
        return gettext("**{term}**: {meaning}", term=term, meaning=meaning)
    return gettext("**{term}** ({english}): {meaning}", term=called, english=term, meaning=meaning)


def name_tab(title: str, shown: Sequence[str] = ()) -> None:
    """Name the browser's tab by the page and its panels, so that tabs can be told apart."""
    content = listed(dict.fromkeys(shown))
    if len(content) > _LONGEST_TAB:
        content = content[: _LONGEST_TAB - 1].rstrip(" ,、") + "…"
    parts = (content, title, "Attention Workbench")
    st.set_page_config(page_title=" · ".join(filter(None, parts)))


def heading(title: str, explanation: str, *, alone: bool = False) -> DeltaGenerator:
    """The title with the choice of language, and a sentence; returns where the page's buttons go.

    ``alone``: whether that place lies below the sentence rather than beside it.
    """
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center",
        key="page-title",
    ):  # fmt: skip
        st.title(title, anchor=False, width="content")
        speaking.language_button(session.draw_anew)
    session.draw()
    exercise.draw()
    words, beside = st.container(), None
    if not alone:
        words, beside = st.columns([3, 4], vertical_alignment="bottom", gap="medium")
    with words:
        st.caption(explanation)
    return place_for_buttons(beside)


def place_for_buttons(
    within: DeltaGenerator | None = None, key: str = "page-buttons"
) -> DeltaGenerator:
    """A row for a page's buttons, at its right edge."""
    return (within or st).container(
        horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="xsmall",
        key=key,
    )  # fmt: skip


def actions(
    place: DeltaGenerator, link: str, catalogue: Catalogue | None, *, part: str = "",
    instead: Sequence[str] = (),
) -> None:  # fmt: skip
    """The buttons that every page has, and what the browser does on it.

    ``catalogue`` is None for a page that needs no plugin. Another ``part`` begins at the top.
    """
    with place:
        if catalogue is not None and catalogue.failures:
            _plugin_problems(catalogue.failures)
        glossary_button()
        copy_button(link, instead)
        _script(
            key="page-script", height="content",
            data={
                "page": f"{navigation.current().name} {part}",
                "tag": language.tag(language.current()), "chosen": speaking.to_remember(),
                "drawing": gettext("Loading …"), "menu": gettext("Pages"),
                "more": gettext("The page has more of this table."),
            },
        )  # fmt: skip
        if catalogue is not None and owner.visitor().administers:
            st.button(
                gettext("Reload plugins"), icon=":material/refresh:", type="tertiary",
                on_click=reload, help=gettext(_SAID["reload"]),
            )  # fmt: skip


def _plugin_problems(failures: Sequence[Mapping[str, str]]) -> None:
    count = len(failures)
    label = ngettext("{count} plugin problem", "{count} plugin problems", count)
    with st.popover(label, icon=":material/extension_off:", type="tertiary"):
        for failure in failures[:_MOST_SHOWN]:
            st.text(f"{failure['plugin']}: {translated(failure['message'])}")
            if advice := translated(failure.get("advice", "")):
                st.caption(plain(gettext("What to do: {advice}", advice=advice)))
        if count > _MOST_SHOWN:
            more = count - _MOST_SHOWN
            st.caption(gettext("and {count:,} more: see the page Plugins", count=more))


def notice(problems: Sequence[str]) -> None:
    """What in the opened link could not be used, and what is shown instead."""
    with st.container(border=True, key="link-problems", gap="xsmall"):
        title = gettext("Parts of this link were changed")
        st.markdown(f":material/info: **{title}**")
        for sentence in problems[:_MOST_SHOWN]:
            st.text(translated(sentence))
        if len(problems) > _MOST_SHOWN:
            st.caption(gettext("and {count:,} more", count=len(problems) - _MOST_SHOWN))


def offer(jobs: Jobs, words: Callable[[Sequence[Request]], str]) -> None:
    """The button that begins what is held, since it costs more than a link may start by itself."""
    seconds, label = jobs.estimate_held(), words(jobs.held)
    if seconds is not None:
        label = gettext("{clause}, {duration}", clause=label, duration=about(seconds))
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", key="held-work"
    ):  # fmt: skip
        st.button(
            plain(label), icon=":material/play_arrow:", type="primary", key="begin-held",
            on_click=jobs.approve,
        )  # fmt: skip
        st.caption(jobs.why_held())


def catalogue_or_wait(panels: int, height: int) -> Catalogue | None:
    """The catalogue; while there is none, a page in waiting is drawn, and it looks again."""
    event = workbench().catalogue(_FIRST_WAIT)
    if isinstance(event, Catalogue):
        return event
    if event is None:
        st.fragment(_starting, run_every=POLL)(panels, height)
        return None
    with st.container(border=True, key="no-catalogue"):
        title = gettext("The plugins could not be listed")
        st.markdown(f":material/error: **{title}**")
        st.text(translated(event.note))
        details(event)
        again = reload if owner.visitor().administers else workbench().refresh
        st.button(gettext("Try again"), icon=":material/refresh:", on_click=again)
    return None


def _starting(panels: int, height: int) -> None:
    if workbench().catalogue() is not None:
        st.rerun()
    said = gettext("Starting the workers and loading the plugins …")
    st.caption(f":material/hourglass_top: {said}")
    with st.container(key="starting"), grid(panels):
        for _ in range(panels):
            st.skeleton(height)

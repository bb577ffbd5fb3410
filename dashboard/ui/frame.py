"""What stands around every page: heading, buttons, notices, and the page while it starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st
from streamlit.components.v2 import component
from streamlit.delta_generator import DeltaGenerator

from dashboard.jobs.backend import Event
from dashboard.language import gettext, listed, ngettext, together, translated
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, about
from dashboard.ui import owner, session, speaking
from dashboard.ui.glossary import glossary_button
from dashboard.ui.jobs import Jobs
from dashboard.ui.layout import grid
from dashboard.ui.page_script import page_script
from dashboard.ui.reloading import changes, reload
from dashboard.ui.results import POLL, details
from dashboard.ui.session import address, draw_anew
from dashboard.ui.widgets import plain
from dashboard.ui.workbench import workbench

_LONGEST_CODE = 1200  # characters; a camera reads no finer QR code from a screen

_HTML = """
<button type="button">
<svg viewBox="0 0 24 24" width="16" height="16" aria-hidden="true" fill="none"
 stroke="currentColor" stroke-width="2" stroke-linecap="round">
<path d="M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-6-6l-1.5 1.5"/>
<path d="M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 6 6l1.5-1.5"/></svg>
<span></span></button><span class="told" role="status"></span>
"""
_CSS = """
button {
  display: inline-flex; align-items: center; gap: 0.5rem; min-height: 2.5rem; padding: 0.25rem 0;
  border: none; background: none; color: var(--st-text-color); font: inherit;
  font-family: var(--st-font); font-size: 0.875rem; white-space: nowrap; cursor: pointer;
}
button[data-telling] { max-width: min(20rem, 60vw); white-space: normal; text-align: left; }
button:hover { color: var(--st-primary-color); }
button:focus-visible {
  outline: 2px solid var(--st-primary-color); outline-offset: 2px; border-radius: 4px;
}
.told { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
"""
# Browsers offer their clipboard to pages that came by https or from this machine; a selection of
# one's own can be copied on any.
_JS = """
const shown = 2500, each = 100;  // milliseconds, at least and for a character

async function copied(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* the other way */ }
  const field = document.createElement("textarea");
  field.value = text;
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  field.select();
  try { return document.execCommand("copy"); } catch { return false; } finally { field.remove(); }
}

export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button");
  const label = button.querySelector("span");
  const told = parentElement.querySelector(".told");
  if (!button.dataset.telling) label.textContent = data.label;
  button.onclick = async () => {
    const text = await copied(data.text) ? data.done : data.failed;
    button.dataset.telling = "yes";
    label.textContent = told.textContent = text;
    setTimeout(() => {
      delete button.dataset.telling;
      label.textContent = data.label;
      told.textContent = "";
    }, Math.max(shown, each * text.length));
  };
}
"""
_button = component("attention_workbench_copy", html=_HTML, css=_CSS, js=_JS)


def copy_button(link: str, instead: Sequence[str] = ()) -> None:
    """A button *Copy link*, and a popover with the link as text and as a QR code.

    Args:
        instead: titles of the scorings that the link names in place of typed formulas that are
            wrong.
    """
    done = gettext("Link copied")
    if instead:
        done = gettext(
            "Link copied with {scoring}: the typed formula is wrong", scoring=listed(instead)
        )
    _button(
        key="copy-link", width="content", height="content",
        data={
            "text": link, "label": gettext("Copy link"),
            "done": done,
            "failed": gettext("Not copied: take it from the QR code's menu"),
        },
    )  # fmt: skip
    shared = st.popover(
        gettext("QR code"), icon=":material/qr_code_2:", type="tertiary", key="share",
        on_change="rerun",
    )  # fmt: skip
    if shared.open:
        with shared:
            st.caption(gettext("Whoever opens this link sees this page as it is now."))
            if instead:
                st.caption(
                    plain(
                        gettext(
                            "It names {scoring}: the typed formula is wrong.",
                            scoring=listed(instead),
                        )
                    )
                )
            st.code(link, language=None, wrap_lines=True)
            if len(link) <= _LONGEST_CODE:
                st.image(_code(link), width=240)
            else:
                st.caption(
                    gettext(
                        "The link is too long for a QR code. Keep the page, and share the run."
                    )
                )


def _code(link: str) -> str:
    """A QR code as SVG, dark on light in either theme, as cameras want it."""
    import segno

    return segno.make(link, error="l", micro=False).svg_inline(
        scale=4, border=4, dark="#000", light="#fff"
    )


_FIRST_WAIT = 0.3
_LONGEST_TAB = 60  # characters of what a page shows
_PROBLEMS_SHOWN = 8
_FAULTS_SHOWN = 8


def name_tab(title: str, shown: Sequence[str] = ()) -> None:
    """Name the browser's tab by the page and what it shows, so that tabs can be told apart.

    Args:
        title: of the page.
        shown: titles of its panels.
    """
    content = ", ".join(dict.fromkeys(shown))
    if len(content) > _LONGEST_TAB:
        content = content[: _LONGEST_TAB - 1].rstrip(" ,") + "…"
    parts = (content, title, "Attention Workbench")
    st.set_page_config(page_title=" · ".join(filter(None, parts)))


def heading(title: str, explanation: str, *, alone: bool = False) -> DeltaGenerator:
    """The page's title with the choice of language and a sentence; returns where its buttons go.

    Args:
        alone: whether that place lies below the sentence rather than beside it.
    """
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center",
        key="page-title",
    ):  # fmt: skip
        st.title(title, anchor=False, width="content")
        speaking.language_button(draw_anew)
    session.draw()
    words, beside = st.container(), None
    if not alone:
        words, beside = st.columns([3, 4], vertical_alignment="bottom", gap="medium")
    with words:
        st.caption(explanation)
    return place_for_buttons(beside)


def place_for_buttons(within: DeltaGenerator | None = None) -> DeltaGenerator:
    """A row for a page's buttons, at its right edge."""
    return (within or st).container(
        horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="xsmall"
    )


def actions(
    place: DeltaGenerator,
    link: Mapping[str, str],
    catalogue: Catalogue | None,
    *,
    aloud: bool = True,
    part: str = "",
    instead: Sequence[str] = (),
) -> None:
    """The buttons that every page has: its link, and a look for plugins.

    Args:
        catalogue: what is installed; None for a page that needs no plugin.
        part: see :func:`.page_script.page_script`.
        instead: see :func:`.copying.copy_button`.
        aloud: whether what the last look changed pops up.
    """
    if catalogue is not None:
        changes(catalogue, aloud=aloud)
    with place:
        if catalogue is not None and catalogue.failures:
            _faults(catalogue)
        glossary_button()
        copy_button(address(link), instead)
        page_script(part)
        if catalogue is not None and owner.visitor().administers:
            st.button(
                gettext("Reload plugins"),
                icon=":material/refresh:",
                type="tertiary",
                on_click=reload,
                help=gettext(
                    "Starts new workers, which find plugins that were installed meanwhile. "
                    "Until they are ready, all pages go on with the present ones."
                ),
            )


def notice(problems: Sequence[str]) -> None:
    """What in the opened link could not be used, and what is shown instead."""
    if not problems:
        return
    with st.container(border=True, key="link-problems", gap="xsmall"):
        title = gettext("Parts of this link were changed")
        st.markdown(f":material/info: **{title}**")
        for sentence in problems[:_PROBLEMS_SHOWN]:
            st.text(translated(sentence))
        if len(problems) > _PROBLEMS_SHOWN:
            st.caption(gettext("and {count:,} more", count=len(problems) - _PROBLEMS_SHOWN))


def offer(jobs: Jobs, words: Callable[[Sequence[Request]], str]) -> None:
    """The button that begins what costs more than a link may start by itself."""
    held = jobs.held
    if not held:
        return
    seconds = jobs.estimate_held()
    label = words(held)
    said = [gettext("Opening a page does not start work of this size.")]
    if seconds is not None:
        duration = translated(about(seconds))
        label = gettext("{clause}, {duration}", clause=label, duration=duration)
        said.append(gettext("How long it takes is measured on this server."))
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", key="held-work"
    ):  # fmt: skip
        st.button(
            plain(label), icon=":material/play_arrow:", type="primary", key="begin-held",
            on_click=jobs.approve,
        )  # fmt: skip
        st.caption(together(said))


def _faults(catalogue: Catalogue) -> None:
    """Plugins that could not be loaded; everything else works without them."""
    count = len(catalogue.failures)
    label = ngettext("{count} plugin problem", "{count} plugin problems", count)
    with st.popover(label, icon=":material/extension_off:", type="tertiary"):
        for failure in catalogue.failures[:_FAULTS_SHOWN]:
            st.text(f"{failure['plugin']}: {translated(failure['message'])}")
            if advice := translated(failure.get("advice", "")):
                st.caption(plain(gettext("What to do: {advice}", advice=advice)))
        if count > _FAULTS_SHOWN:
            more = count - _FAULTS_SHOWN
            st.caption(gettext("and {count:,} more: see the page Plugins", count=more))


def catalogue_or_wait(panels: int, height: int) -> Catalogue | None:
    """The catalogue; while there is none, a page in waiting is drawn, and it looks again."""
    found = workbench().catalogue(_FIRST_WAIT)
    if isinstance(found, Catalogue):
        return found
    if found is None:
        st.fragment(_starting, run_every=POLL)(panels, height)
    else:
        _no_catalogue(found)
    return None


def _starting(panels: int, height: int) -> None:
    if workbench().catalogue() is not None:
        st.rerun()
    said = gettext("Starting the workers and loading the plugins …")
    st.caption(f":material/hourglass_top: {said}")
    with st.container(key="starting"), grid(panels):
        for _ in range(panels):
            st.skeleton(height)


def _no_catalogue(event: Event) -> None:
    with st.container(border=True, key="no-catalogue"):
        title = gettext("The plugins could not be listed")
        st.markdown(f":material/error: **{title}**")
        st.text(translated(event.note))
        details(event)
        again = reload if owner.visitor().administers else workbench().refresh
        st.button(gettext("Try again"), icon=":material/refresh:", on_click=again)

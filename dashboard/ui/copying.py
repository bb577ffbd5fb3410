"""A button that copies a link with one click, and the same link as text and as a QR code."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.components.v2 import component

from dashboard.language import gettext
from dashboard.language.joining import listed
from dashboard.ui.widgets import plain

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

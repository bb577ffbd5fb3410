"""A button that copies a link with one click, and the same link as text and as a QR code.

Every page has it, so it also begins every page at its top, and closes the menu that covers it on a
phone: Streamlit leaves both as they were on the page before.
"""

from __future__ import annotations

import streamlit as st
from streamlit.components.v2 import component

from dashboard import language, navigation
from dashboard.language import TAGS, gettext

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
button:hover { color: var(--st-primary-color); }
button:focus-visible {
  outline: 2px solid var(--st-primary-color); outline-offset: 2px; border-radius: 4px;
}
.told { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
"""
# Browsers offer their clipboard to pages that came by https or from this machine; a selection of
# one's own can be copied on any.
_JS = """
const shown = 2500;  // milliseconds
const narrow = 768;  // px; below it Streamlit's menu of pages covers the page
let page = null;

function beginAtTop(opened) {
  if (page !== null && page !== opened) {
    document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0, behavior: "instant" });
    const menu = document.querySelector("[data-testid=stSidebar][data-collapsed=false]");
    if (innerWidth < narrow)
      menu?.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
  }
  page = opened;
}

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
  document.documentElement.lang = data.language;
  beginAtTop(data.page);
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
    }, shown);
  };
}
"""
_button = component("attention_workbench_copy", html=_HTML, css=_CSS, js=_JS)


def copy_button(link: str, part: str = "") -> None:
    """A button *Copy link*, and a popover with the link as text and as a QR code.

    Args:
        part: what of the page is seen; another part begins at the top as another page does.
    """
    _button(
        key="copy-link", width="content", height="content",
        data={
            "page": f"{navigation.current().name} {part}", "language": TAGS[language.current()],
            "text": link, "label": gettext("Copy link"),
            "done": gettext("Link copied"),
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

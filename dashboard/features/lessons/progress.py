"""The row of all lessons, with ticks that only the visitor's browser knows.

The server says which lesson is seen and whether its goal is reached now. Which lessons were done
stands in the browser's own storage; nothing of it is sent back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.components.v2 import component

from dashboard.features.lessons.course import LESSONS
from dashboard.features.lessons.lesson import Lesson
from dashboard.language import gettext
from dashboard.ui import speaking

_KEY = "lessons-progress"
_HTML = '<nav><ol></ol><span class="said" role="status"></span><button></button></nav>'
_CSS = """
nav { display: flex; flex-wrap: wrap; align-items: center; gap: 0.35rem 0.75rem;
  font-family: var(--st-font); font-size: 0.875rem; color: var(--st-text-color); }
ol { display: flex; flex-wrap: wrap; gap: 0.3rem; margin: 0; padding: 0; list-style: none; }
a { display: inline-flex; align-items: center; justify-content: center; min-width: 2rem;
  height: 2rem; padding: 0 0.25rem; box-sizing: border-box; border-radius: 1rem;
  border: 1px solid var(--st-border-color); color: inherit; text-decoration: none; }
a:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
a[aria-current] { border: 2px solid var(--st-primary-color); font-weight: 600; }
a[data-done]::after { content: "\\2713"; margin-left: 0.1rem; color: var(--st-green-text-color); }
button { border: none; background: none; padding: 0.25rem 0; color: inherit; font: inherit;
  text-decoration: underline; cursor: pointer; }
button[hidden] { display: none; }
a:focus-visible, button:focus-visible { outline: 2px solid var(--st-primary-color);
  outline-offset: 2px; }
"""
# A browser may refuse to store anything; then ticks last as long as the page.
_JS = """
const place = "attention-workbench-lessons";
let held = [];

function known() {
  try { held = JSON.parse(localStorage.getItem(place)) || []; } catch { /* not stored */ }
  return Array.isArray(held) ? held : [];
}

function keep(done) {
  held = done;
  try { localStorage.setItem(place, JSON.stringify(done)); } catch { /* not stored */ }
}

export default function ({ parentElement, data, setTriggerValue }) {
  const list = parentElement.querySelector("ol");
  const said = parentElement.querySelector(".said");
  const reset = parentElement.querySelector("button");

  function draw() {
    const done = known().filter((name) => data.lessons.some((one) => one.name === name));
    list.replaceChildren(...data.lessons.map((one, index) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const finished = done.includes(one.name);
      link.href = one.link;
      link.textContent = String(index + 1);
      link.title = one.title;
      link.setAttribute("aria-label", finished ? one.finished : one.open);
      if (finished) link.dataset.done = "yes";
      if (index + 1 === data.current) link.setAttribute("aria-current", "step");
      link.onclick = (event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        setTriggerValue("chosen", index + 1);
      };
      item.append(link);
      return item;
    }));
    said.textContent = data.words.count.replace("{done}", done.length)
      .replace("{all}", data.lessons.length);
    reset.textContent = data.words.reset;
    reset.hidden = !done.length;
  }

  if (data.finished && !known().includes(data.finished)) keep([...known(), data.finished]);
  reset.onclick = () => { keep([]); draw(); };
  const other = (event) => { if (event.key === place) draw(); };
  window.addEventListener("storage", other);
  draw();
  return () => window.removeEventListener("storage", other);
}
"""
_row = component("attention_workbench_lessons", html=_HTML, css=_CSS, js=_JS)


def progress(current: int, finished: str, choose: Callable[[int], None]) -> None:
    """Draw the row.

    Args:
        current: the lesson that is seen, counted from 1.
        finished: its name where its goal is reached now; else empty.
        choose: called with the number of the lesson that the visitor goes to.
    """
    lessons = [_row_of(number, lesson) for number, lesson in enumerate(LESSONS, 1)]

    def chosen() -> None:
        number: Any = st.session_state[_KEY].get("chosen")
        if isinstance(number, int) and 1 <= number <= len(LESSONS):
            choose(number)

    _row(
        key=_KEY, height="content", on_chosen_change=chosen,
        data={
            "lessons": lessons, "current": current, "finished": finished,
            "words": {
                "count": gettext("{done} of {all} done; only this browser knows"),
                "reset": gettext("Start over"),
            },
        },
    )  # fmt: skip


def _row_of(number: int, lesson: Lesson) -> dict[str, str]:
    """What the row has of one lesson; ``open`` and ``finished`` are said by a screen reader."""
    title = gettext(lesson.title)
    return {
        "name": lesson.name, "title": title, "open": f"{number}. {title}",
        "finished": gettext("{number}. {title}, done", number=number, title=title),
        "link": f"?{urlencode({'lesson': number, **speaking.in_link()})}",
    }  # fmt: skip

"""Convolution, recurrence, self-attention: what each costs, by formula and by the clock."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard.charts.series import draw_series
from dashboard.features.complexity import measured
from dashboard.features.complexity import view as complexity
from dashboard.features.complexity.view import Complexity
from dashboard.jobs.backend import Event
from dashboard.language import gettext, translated
from dashboard.links.attending import absent_normaliser
from dashboard.links.fields import next_seed
from dashboard.records.beside import beside
from dashboard.records.request import Result
from dashboard.ui import charts, layout, results, shown
from dashboard.ui.fields import draw_choice, draw_device, draw_normaliser_of_view, draw_settings
from dashboard.ui.jobs import Jobs
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["page"]

_HEIGHT = 440  # px, of the charts with their legends and captions
_WIDTH, _TIMES_WIDTH = 176, 150  # px, of a control
# Vaswani et al. 2017, table 1; the exponents are those of the second column.
_FORMULAS = {
    "cnn": "$O(k\\,n\\,d^2)$ | $O(1)$ | $O(n/k)$", "rnn": "$O(n\\,d^2)$ | $O(n)$ | $O(n)$",
    "attention": "$O(n^2 d)$ | $O(1)$ | $O(1)$",
}  # fmt: skip


def _controls(session: Session[Complexity]) -> None:
    columns = gettext("Layer"), gettext("Work"), gettext("In sequence"), gettext("Path")
    costs = [f"{title} | {_FORMULAS[layer]}" for layer, title in measured.titles().items()]
    rows = [" | ".join(columns), ":-- | :-: | :-: | :-:", *costs]
    shown.markdown("\n".join(f"| {row} |" for row in rows))
    shown.caption(gettext(_SAID["costs"]))
    with layout.row("complexity-controls"):
        # Drawn last, since whoever changes a setting then sees what is measured with it.
        first = st.container(horizontal=True, vertical_alignment="bottom", width="content")
        before = session.view
        draw_settings(session, complexity.SETTINGS, width=_WIDTH)
        draw_normaliser_of_view(session, width=_WIDTH)
        draw_device(session, complexity.DEVICE)
        if session.view != before and session.view.times == complexity.REFERENCE:
            session.change(replace(session.view, times=complexity.HERE))
        with first:
            _times(session)


def _times(session: Session[Complexity]) -> None:
    if draw_choice(session, complexity.TIMES, width=_TIMES_WIDTH) == complexity.REFERENCE:
        label, values = gettext("Measure on this machine"), {"times": complexity.BOTH}
        hint = gettext("With the settings beside it; the reference measurement stays.")
    else:
        label, values = gettext("Measure again"), {"seed": next_seed(session.view.seed)}
        hint = gettext("With other weights and inputs: the next seed.")

    def measure() -> None:
        since = math.ceil(time.time()) if "seed" in values else 0
        session.change(replace(session.view, since=since, **values))

    st.button(label, icon=":material/timer:", help=hint, on_click=measure)


def _results(session: Session[Complexity], _: None) -> None:
    view, jobs = session.view, session.jobs
    if view.times == complexity.REFERENCE:
        request, key = complexity.reference(), "complexity-reference"
        results.results(jobs, request, measured.drawn, _HEIGHT, key, grows=True)
        return
    request = complexity.measurement(view, session.catalogue)
    if request is None:
        absent = absent_normaliser(view, session.catalogue)
        results.absent(absent, _HEIGHT, "complexity-absent")
        return
    recorded = _recorded(jobs) if view.times == complexity.BOTH else None
    live = partial(_live, compared=recorded) if jobs.final(request) is None else None
    results.results(
        jobs, request, partial(measured.drawn, compared=recorded), _HEIGHT, "complexity-result",
        meanwhile=live, grows=True,
    )  # fmt: skip


def _recorded(jobs: Jobs) -> Result | None:
    event = jobs.final(complexity.reference())
    return event.result if event and event.result and "recorded" in event.result.facts else None


def _live(events: Sequence[Event], compared: Result | None) -> None:
    timed = [event.facts for event in events if "seconds" in event.facts]
    if not timed:
        results.waiting(events, _HEIGHT)
        return
    # Each point is told again in every round; the last time counts.
    points = [*{(one["layer"], one["n"], one["d"]): one for one in timed}.values()]
    latest = events[-1]
    st.progress(min(1.0, latest.fraction or 0.0), text=plain(translated(latest.note)))
    for place, axis in zip(shown.columns(2, gap="large"), measured.AXES, strict=True):
        if len({one[axis] for one in measured.points_over(points, axis)}) > 1:
            with place:
                size, dashed = gettext(measured.AXES[axis]), measured.times_of(compared)
                charts.show_prepared(
                    draw_series, measured.times_over(points, None, axis, dashed),
                    gettext("Milliseconds of one pass over {size}, measured so far", size=size),
                )  # fmt: skip


PAGE = Page(
    name="complexity", **beside(__file__, "words.toml")["heading"], link=complexity.LINK,
    controls=_controls, requests=complexity.requests, work=complexity.timing_work,
    offer=lambda _: gettext("Time the three layers"), results=_results, height=_HEIGHT, folds=True,
)  # fmt: skip

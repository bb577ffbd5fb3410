"""The start page: one slider over three scorings, what it did in words, and three doors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import navigation
from dashboard.charts import PANEL_COLOURS
from dashboard.charts.template import Prepared
from dashboard.features.start import view as reading
from dashboard.features.start.chart import Curve, draw_start, prepare_start
from dashboard.features.start.view import (
    BASELINE,
    LINK,
    MOVED,
    USUAL_WIDTH,
    WIDTH_FIELD,
    Start,
    before,
    requests,
    same_curves,
)
from dashboard.language import gettext, gettext_noop
from dashboard.links.fits import fit_work
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request
from dashboard.records.result import Result
from dashboard.ui import layout, results, shown
from dashboard.ui.charts import show_filled
from dashboard.ui.fields import draw_setting
from dashboard.ui.jobs import Jobs
from dashboard.ui.maps import frames
from dashboard.ui.page import Page
from dashboard.ui.page_script import TO_FORMULA
from dashboard.ui.session import Session
from dashboard.ui.titles import scoring_title
from dashboard.ui.widgets import plain

_NARROWEST = 250  # px of a door, before doors wrap
_FORMULA = {"a": "=-norm(q - k) / w", "b": "gaussian"}


def doors(curves: Mapping[str, str]) -> None:
    """Draw the way to the lessons, and the doors beside each other where there is room.

    Args:
        curves: parameters of the link to *Kernel regression* with the curves that are seen.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="to-lessons"):
        st.markdown(gettext("**New to attention?**"), width="content")
        navigation.link_to("lessons", {}, gettext("Take ten short lessons"))
    with st.grid(3, min_column_width=_NARROWEST, gap="medium", key="doors"):
        purpose = gettext("Which words a trained translator looks at while it writes each word.")
        with _door("see", gettext("See"), purpose):
            navigation.link_to("translation", {}, gettext("Translate a sentence"))
        purpose = gettext("Other scorings, other data, and the weights of every prediction.")
        with _door("play", gettext("Play"), purpose):
            navigation.link_to("regression", curves, gettext("Continue with these curves"))
        purpose = gettext("A scoring of your own, as a formula or as ten lines of Python.")
        with _door("build", gettext("Build"), purpose):
            with st.container(key=TO_FORMULA):
                navigation.link_to("regression", _FORMULA, gettext("Type a formula"), "function")
            navigation.link_to("plugins", {}, gettext("Write a plugin"))


def _door(name: str, title: str, purpose: str) -> DeltaGenerator:
    door = st.container(border=True, gap="xsmall", key=f"door-{name}")
    with door:
        st.header(title, anchor=False)
        st.write(purpose)
    return door


_HEIGHT = 390  # px of the chart with its axis and legend
_WORDS = 130  # px, so that the chart stays where it is while sentences change
_SEEN = gettext_noop("Three scorings over the same points, and their weights at x = 2")


class _Places(NamedTuple):
    """Where the results go, beside the slider and above the doors."""

    words: shown.Place
    chart: shown.Place


def _controls(session: Session[Start], catalogue: Catalogue) -> _Places:
    left, right = shown.columns([4, 7], gap="large")
    with left:
        with layout.row("start-controls"):
            draw_setting(session, catalogue, WIDTH_FIELD)
        words = shown.container(key="start-words", height=_WORDS, border=False)
    with right:
        chart = shown.container()
        shown.caption(
            gettext(
                "Dashed: the truth. Rings: training points. Errors are mean squared. Point at or "
                "tap the chart to move the line."
            )
        )
    doors(same_curves(session.view))
    return _Places(words, chart)


def _results(session: Session[Start], catalogue: Catalogue, places: _Places) -> None:
    asked, start = requests(session.view, catalogue), before(catalogue)
    if start is None or BASELINE not in asked:
        return
    jobs = session.jobs
    # Looked at once: what ends while the page is drawn is drawn by the next run.
    ends = {request: jobs.final(request) for request in (*asked.values(), start)}
    made = {request: event.result for request, event in ends.items() if event and event.result}
    missing = next((request for request in ends if request not in made), None)
    with places.chart:
        if missing is None:
            _chart({name: made[request] for name, request in asked.items()}, catalogue)
        elif ends[missing] or jobs.holds(missing):
            results.results(jobs, missing, lambda _: None, _HEIGHT, "start-chart")
        else:
            st.fragment(run_every=jobs.pace(results.POLL))(_waiting)(jobs, missing)
    if missing is None:
        with places.words:
            _words({name: made[one] for name, one in asked.items()}, made[start], catalogue)


def _waiting(jobs: Jobs, request: Request) -> None:
    if jobs.settled():
        st.rerun()
    results.waiting(jobs.progress(request), _HEIGHT)


def _words(made: Mapping[str, Result], start: Result, catalogue: Catalogue) -> None:
    now = reading.read(made[MOVED])
    title = plain(scoring_title(MOVED, catalogue))
    shown.markdown(
        reading.weight_sentence(now, reading.read(start), title=title, start=USUAL_WIDTH)
    )
    shown.markdown(reading.curve_sentence(now, reading.read(made[BASELINE])))


def _chart(made: Mapping[str, Result], catalogue: Catalogue) -> None:
    titles = [scoring_title(name, catalogue) for name in made]
    key = f"{titles} " + " ".join(result.digest for result in made.values())
    with shown.container(height=_HEIGHT, border=False, key="start-chart"):
        show_filled(f"start {key}", draw_start, partial(_prepared, made, titles), gettext(_SEEN))


def _prepared(made: Mapping[str, Result], titles: Sequence[str]) -> Prepared:
    first = made[MOVED]
    curves = [
        Curve(title, colour, one.tables["curve"], frames(one)[0].weights)
        for title, one, colour in zip(titles, made.values(), PANEL_COLOURS.values(), strict=False)
    ]
    return prepare_start(curves, first.tables["points"], reading.marked(first))


def _wanted(view: Start, catalogue: Catalogue) -> list[Request]:
    start = before(catalogue)
    return list(dict.fromkeys([*requests(view, catalogue).values(), *([start] if start else [])]))


PAGE = Page(
    name="start",
    title="See attention at work",
    explanation="Each prediction is a mean of known values, weighted by attention.",
    link=LINK,
    controls=_controls,
    requests=_wanted,
    work=fit_work,
    results=_results,
    height=_HEIGHT,
    buttons_below=True,
)

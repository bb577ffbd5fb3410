"""The start page: one slider over three scorings, what it did in words, and three doors."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import altair as alt
import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.charts import PANEL_COLOURS, theme
from dashboard.charts.curves import ROOM, Axes, Problem, Scene, axes, problem, table_of
from dashboard.charts.frames import Table
from dashboard.charts.grid import OWN_SCALES, Lane, stacked
from dashboard.charts.legend import named_strokes
from dashboard.charts.summary import of_lines
from dashboard.charts.template import Prepared, Sources
from dashboard.features.start import view as reading
from dashboard.language import gettext, gettext_noop
from dashboard.links.fits import fit_work
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result, Scalar
from dashboard.ui import layout, live, navigation, results, shown
from dashboard.ui.charts import show_filled
from dashboard.ui.fields import draw_setting
from dashboard.ui.frame import TO_FORMULA
from dashboard.ui.live import Followers, Found, Slider
from dashboard.ui.maps import frames
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["page"]

_CURVES, _WEIGHTS, _GAP = 180, 80, 38  # px
_UNIT = 10_000  # weights travel as whole numbers of this part
_TICKS = 2  # of the axis of weights


class Curve(NamedTuple):
    """One scoring: its name, colour, table ``curve`` and weights ``(queries, keys)``."""

    name: str
    colour: str
    curve: Table
    weights: np.ndarray


class StartShape(NamedTuple):
    """What a specification follows from: names with colours, the marked query."""

    axes: Axes
    names: tuple[tuple[str, str], ...]
    marked: int


def prepare_start(curves: Sequence[Curve], points: Table, marked: int) -> Prepared[StartShape]:
    """What :func:`draw_start` draws: curves at the same queries over the training points.

    Args:
        marked: the query, counted by its x, whose weights are drawn while the pointer is on none.
    """
    drawn = [problem(one.curve, points, one.weights) for one in curves]
    first = drawn[0]
    wide = {name: held for name, held in first.curve.items() if name != "prediction"}
    lines: dict[str, np.ndarray] = {}
    for number, (one, made) in enumerate(zip(curves, drawn, strict=True)):
        lines[one.name] = made.curve["prediction"]
        wide |= {f"p{number}": lines[one.name], f"w{number}": _told(made)}
    names = np.array([one.name for one in curves], dtype=object)
    tall = {
        "x": np.concatenate([one.curve["x"] for one in drawn]),
        "prediction": np.concatenate([one.curve["prediction"] for one in drawn]),
        "scoring": np.repeat(names, [len(one.curve["x"]) for one in drawn]),
    }
    tables = {"queries": wide, "points": first.points, "curves": tall}
    return Prepared(
        {name: table_of(columns) for name, columns in tables.items()},
        StartShape(axes(drawn, "y"), tuple((one.name, one.colour) for one in curves), marked),
        summary=of_lines(first.curve["x"], lines, x_title=first.x_title, y_title="y"),
        live={
            "queries": tuple(f"{column}{i}" for i in range(len(curves)) for column in "pw"),
            "curves": ("prediction",),
        },
    )


def draw_start(data: Sources, shape: StartShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_start` makes it, or names it."""
    upper, lower = stacked([_CURVES, _WEIGHTS], _GAP)
    scene = Scene(data["queries"], data["points"], shape.axes, upper)
    strokes = named_strokes("scoring", dict(shape.names), columns="4")
    seen = alt.Chart(scene.queries).transform_filter(
        f"isValid(hover.q) ? datum.q == hover.q[0] : datum.q == {shape.marked}"
    )
    told = {name: f"p{i}" for i, (name, _) in enumerate(shape.names)}
    layers = [
        theme.ramp(),
        scene.strips(lower.bottom, told),
        *(  # with a gap, where the title of the weights stands on a phone
            seen.mark_rule(color=theme.POINTER, strokeWidth=1)
            .encode(x=scene.x(), y=alt.YValue(lane.top), y2=alt.Y2Value(lane.bottom))
            .properties(name=name)
            for name, lane in (("marked", upper), ("marked_below", lower))
        ),
        *scene.scatter(),
        alt.Chart(data["curves"])
        .mark_line(strokeWidth=2)
        .encode(x=scene.x(), y=scene.y("prediction"), stroke=strokes)
        .properties(name="curves"),
        _weights(seen, scene, [name for name, _ in shape.names], lower, strokes),
    ]
    chart = alt.LayerChart(layer=layers, resolve=OWN_SCALES)
    return theme.finished(chart, width=theme.WIDTH, height=lower.bottom)


def _weights(
    seen: alt.Chart, scene: Scene, names: Sequence[str], lane: Lane, strokes: alt.Stroke
) -> alt.Chart:
    rows = (
        seen.transform_fold([f"w{number}" for number in range(len(names))], as_=["column", "told"])
        .transform_calculate(
            scoring=f"{json.dumps(names)}[toNumber(slice(datum.column, 1))]",
            said="split(datum.told, ' ')",
        )
        .transform_calculate(k="sequence(length(datum.said))")
        .transform_flatten(["said", "k"])
        .transform_lookup("k", from_=alt.LookupData(scene.points, "k", ["x"]), as_=["input"])
        .transform_calculate(weight=f"toNumber(datum.said) / {_UNIT}")
    )
    # Without a domain it follows the line: at the ends of x weights are five times as large.
    scale = alt.Scale(range=[lane.bottom, lane.top], nice=_TICKS, zero=True)
    title = gettext("weight of each training point at the line")
    axis = lane.axis(title, ROOM, theme.NUMBER, tickCount=_TICKS)
    drawn = rows.mark_line(strokeWidth=1.5, point={"size": 12, "filled": True}).encode(
        x=scene.x("input"),
        y=alt.Y("weight:Q", scale=scale, axis=axis),
        # Of the legend nothing is said again: Vega would warn of two that differ.
        stroke=alt.Stroke("scoring:N", scale=strokes["scale"]),
    )
    return drawn.properties(name="weights")


def _told(drawn: Problem) -> np.ndarray:
    """Every query's weights as one text, in the order of the training points' x."""
    assert drawn.weights is not None
    rows = np.rint(drawn.weights[drawn.curve["q"]] * _UNIT).astype(int).tolist()
    return np.array([" ".join(map(str, row)) for row in rows], dtype=object)


_NARROWEST = 250  # px of a door, before doors wrap
_FORMULA = {"a": "=-norm(q - k) / w", "b": "gaussian"}


def doors(curves: Mapping[str, str]) -> None:
    """Draw the ways on, one with the curves that are seen, by parameters of its link."""
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
_WORDS = 136  # px, so that the chart stays where it is while sentences change
_NAME = "start"  # what frames call the chart
_SEEN = gettext_noop("Three scorings over the same points, and their weights at x = 2")


def _controls(session: Session[reading.Start]) -> tuple[shown.Place, shown.Place]:
    left, right = shown.columns([4, 7], gap="large")
    with left:
        with layout.row("start-controls"):
            draw_setting(session, reading.WIDTH_FIELD)
        words = shown.container(key="start-words", height=_WORDS, border=False)
    with right:
        chart = shown.container(height=_HEIGHT, border=False, key="start-place")
        shown.caption(gettext(_SAID["drawn"]))
    doors(reading.same_curves(session.view))
    return words, chart


def _results(session: Session[reading.Start], places: tuple[shown.Place, shown.Place]) -> None:
    words, chart = places
    asked = reading.requests(session.view, session.catalogue)
    start = reading.before(session.catalogue)
    if start is None or reading.BASELINE not in asked:
        return
    jobs = session.jobs
    # Looked at once: what ends while the page is drawn is drawn by the next run.
    made = jobs.ended({request: request for request in (*asked.values(), start)})
    missing = next((request for request in (*asked.values(), start) if request not in made), None)
    slider = _slider(session)
    followers: list[Followers] = []
    with chart:
        if missing is None:
            found = {name: made[request] for name, request in asked.items()}
            _chart(found, session.catalogue, live.standing([slider]))
        else:
            more = lambda _: results.waiting(jobs.progress(missing), _HEIGHT)  # noqa: E731
            results.results(jobs, missing, more, _HEIGHT, "start-chart")
    if missing is None:
        said = _sentences(made[start], session.catalogue)
        with words:
            for name, sentence in said.items():
                live.words(name, sentence(slider.at, found), [slider], "markdown")
        followers.append(_follower(slider, made[start], session.catalogue))
    live.follow(session, followers)


def _follower(slider: Slider, start: Result, catalogue: Catalogue) -> Followers:
    """What follows the width; ``start`` is the fit of the bare address."""
    charts = {_NAME: lambda _, made: _prepared(made, _titles(made, catalogue))}
    titles = _titles(reading.SCORINGS, catalogue)
    return Followers(slider, charts, _sentences(start, catalogue), f"{titles} {start.digest}")


def _slider(session: Session[reading.Start]) -> Slider:
    view, catalogue = session.view, session.catalogue
    return Slider(
        session.key(reading.WIDTH_FIELD.name), reading.WIDTH, view.width,
        lambda width: reading.requests(replace(view, width=float(width)), catalogue),
    )  # fmt: skip


def _sentences(start: Result, catalogue: Catalogue) -> dict[str, Callable[[Scalar, Found], str]]:
    """What follows the slider in words; ``start`` is the fit of the bare address."""
    before, title = reading.read(start), plain(layout.scoring_title(reading.MOVED, catalogue))

    def weight(_: Scalar, made: Found) -> str:
        return reading.weight_sentence(reading.read(made[reading.MOVED]), before, title=title)

    def curve(_: Scalar, made: Found) -> str:
        now, pooled = (reading.read(made[name]) for name in (reading.MOVED, reading.BASELINE))
        return reading.curve_sentence(now, pooled)

    return {"weight": weight, "curve": curve}


def _titles(names: Iterable[str], catalogue: Catalogue) -> list[str]:
    return [layout.scoring_title(name, catalogue) for name in names if name in catalogue.scorings]


def _chart(made: Mapping[str, Result], catalogue: Catalogue, follows: Mapping[str, float]) -> None:
    titles = _titles(made, catalogue)
    key = f"{titles} " + " ".join(result.digest for result in made.values())
    show_filled(
        f"start {key}", draw_start, partial(_prepared, made, titles), gettext(_SEEN),
        follows=(_NAME, follows),
    )  # fmt: skip


def _prepared(made: Mapping[str, Result], titles: Sequence[str]) -> Prepared:
    first = made[reading.MOVED]
    curves = [
        Curve(title, colour, one.tables["curve"], frames(one)[0].weights)
        for title, one, colour in zip(titles, made.values(), PANEL_COLOURS.values(), strict=False)
    ]
    return prepare_start(curves, first.tables["points"], reading.marked(first))


def _wanted(view: reading.Start, catalogue: Catalogue) -> list[Request]:
    wanted = (*reading.requests(view, catalogue).values(), reading.before(catalogue))
    return [*dict.fromkeys(filter(None, wanted))]


PAGE = Page(
    name="start", **beside(__file__, "words.toml")["heading"], link=reading.LINK,
    controls=_controls, requests=_wanted, work=fit_work, results=_results, height=_HEIGHT,
    buttons_below=True,
)  # fmt: skip

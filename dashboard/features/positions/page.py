"""Positional encoding: sines of falling frequency, and the rotation that carries i to i + δ."""

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.frames import matrix
from dashboard.charts.series import SeriesShape, draw_series, prepare_series
from dashboard.charts.template import Prepared
from dashboard.features.positions import view as positions
from dashboard.features.positions.rotation import followers, rotation, similarity, sliders
from dashboard.language import gettext, listed
from dashboard.records.beside import beside
from dashboard.records.request import Result
from dashboard.ui import charts, layout, live, results, shown
from dashboard.ui.fields import draw_settings
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import place

_SAID = beside(__file__, "words.toml")["page"]
_ROWS_HEIGHT = 420  # px, of all positions below each other
_FLOW = beside(__file__, "flow.toml")


def _curves(result: Result, columns: tuple[int, ...]) -> None:
    def prepare() -> Prepared[SeriesShape]:
        encoding = matrix(result.tables["encoding"])
        names = [gettext("column {index}", index=column) for column in columns]
        frame = pd.concat(
            pd.DataFrame({"x": range(len(encoding)), "y": encoding[:, column], "series": name})
            for column, name in zip(columns, names, strict=True)
        )
        colours = dict(zip(names, PANEL_COLOURS.values(), strict=False))
        return prepare_series(
            frame, colours, x_title=gettext("position i"), y_title=gettext("value")
        )

    charts.show_filled(
        f"curves {result.digest} {columns}", draw_series, prepare,
        gettext("Columns {columns} by position", columns=listed(map(str, columns))),
    )  # fmt: skip
    lengths = result.facts["wavelengths"]
    repeats = listed(
        gettext("{column} every {length:,.1f}", column=column, length=lengths[column // 2])
        for column in columns
    )
    shown.caption(gettext(_SAID["repeats"], repeats=repeats))


def _whole(result: Result) -> None:
    shown.header(gettext("Every position has a row of its own"))
    encoding, bits = (matrix(result.tables[name]) for name in ("encoding", "bits"))
    cell = _ROWS_HEIGHT / len(encoding)
    left, middle, right = shown.columns([5, 2, 3], gap="medium")
    with left:
        charts.show_values(
            f"encoding {result.digest}", encoding,
            gettext("The encoding: positions down, columns across"), vmax=1, cell=(24, cell),
            titles=(gettext("position"), gettext("column of P")),
        )  # fmt: skip
    with middle:
        charts.show_values(
            f"bits {result.digest}", bits,
            gettext("The same positions in binary, the lowest bit first"), vmax=1, signed=False,
            cell=(24, cell), titles=(gettext("position"), gettext("bit")), room=20,
        )  # fmt: skip
    with right:
        lengths = result.facts["wavelengths"]
        shown.markdown(gettext(_SAID["binary"], first=lengths[0], last=lengths[-1]))


def _flow(result: Result) -> None:
    shapes = result.facts["shapes"]
    with layout.grid(4):
        for name, step in _FLOW.items():
            with shown.container(gap="xsmall"):
                shown.markdown(rf"$\displaystyle {step['formula']}$")
                shape = ", ".join(map(str, shapes[name]))
                caption = gettext(step["caption"])
                shown.caption(gettext(_SAID["shape"], shape=shape, caption=caption))
                numbers = matrix(result.tables[f"flow_{name}"])
                wave = name in ("sines", "cosines", "encoding", "output")
                charts.show_values(
                    f"flow {result.digest} {name}", numbers, gettext(step["title"]),
                    # Positions and divisors are no waves: their cells stay pale.
                    vmax=1.0 if wave else 10 * float(np.abs(numbers).max() or 1),
                    numbers=".2f" if wave else ".3~g", cell=(54, 24), room=18,
                )  # fmt: skip


_HEIGHT = 290  # px, of the first figure
_SETTING_WIDTH, _COLUMNS_WIDTH = 190, 330  # px
_ENCODING = (
    r"p_{i,\,2j} = \sin\left(i / 10000^{2j/d}\right)",
    r"p_{i,\,2j+1} = \cos\left(i / 10000^{2j/d}\right)",
)


def _controls(session: Session[positions.Positions]) -> list[shown.Place]:
    with layout.grid(2):
        for formula in _ENCODING:
            shown.latex(formula)
    with layout.row("positions-sizes"):
        _sliders(session, "size", "positions")
        _columns(session)
    curves, whole = shown.container(), shown.container()
    shown.header(gettext("Step by step"))
    with layout.row("positions-flow"):
        _sliders(session, "flow_rows", "flow_size")
        _sliders(session, "flow_tokens")  # drawn apart, as the rows bound them
    steps = shown.container()
    shown.header(gettext("From position i to i + δ"))
    with layout.row("positions-rotation"):
        _sliders(session, "position", "offset", "pair")
    return [curves, whole, steps, shown.container(), shown.container()]


def _sliders(session: Session[positions.Positions], *names: str) -> None:
    draw_settings(session, positions.SETTINGS, only=names, width=_SETTING_WIDTH)


def _columns(session: Session[positions.Positions]) -> None:
    size = session.view.size
    kept = [column for column in session.view.columns if column < size]
    key = session.key("columns")
    beyond = any(column >= size for column in st.session_state.get(key, ()))
    chosen = st.multiselect(
        gettext("Columns drawn as curves"), range(size),
        key=place(key, kept or [*positions.usual_columns(size)], session.fresh or beyond),
        max_selections=positions.MOST_COLUMNS, width=_COLUMNS_WIDTH,
    )  # fmt: skip
    session.update(columns=tuple(sorted(chosen)) or positions.usual_columns(size))


def _results(session: Session[positions.Positions], places: list[shown.Place]) -> None:
    curves, whole, steps, turn, products = places
    view = session.view
    (request,) = positions.requests(view, session.catalogue)

    def draw(result: Result) -> None:
        _curves(result, view.columns)
        with whole:
            _whole(result)
        with steps:
            _flow(result)
        with turn:
            rotation(result, view, sliders(session, result))
        with products:
            similarity(result, view.size)

    with curves:
        results.results(session.jobs, request, draw, _HEIGHT, "positions-result", grows=True)
    event = session.jobs.final(request)
    made = event.result if event else None
    live.follow(session, followers(made, view, sliders(session, made)) if made else ())


PAGE = Page(
    name="positions", **beside(__file__, "words.toml")["heading"], link=positions.LINK,
    controls=_controls, requests=positions.requests, results=_results, height=_HEIGHT,
)  # fmt: skip

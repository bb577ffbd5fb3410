"""Layer norm beside batch norm: which numbers are taken together, and what padding then does."""

import math
from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts.frames import matrix
from dashboard.charts.template import Prepared
from dashboard.charts.values import draw_values, prepare_values
from dashboard.features.norms import view as norms
from dashboard.language import gettext, gettext_noop, ngettext
from dashboard.links.fields import next_seed
from dashboard.records.beside import beside
from dashboard.records.request import Result
from dashboard.ui import charts, layout, live, results, shown
from dashboard.ui.fields import draw_settings
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import place

_SAID = beside(__file__, "words.toml")["page"]
CHARTS = beside(__file__, "charts.toml")
_CELL = (58, 28)  # px, holds a number
_OUTPUT_END = 2.0  # of the colours of normalised numbers: few lie beyond two deviations
_STEPS = 101  # of a slider, at most: each has a frame, since results are small
_ADDED = (*CHARTS["add_and_norm"],)
_CHANGES = (*CHARTS["changes"],)
_FOLLOW = {  # what follows each slider: charts, and words
    "momentum": (("evaluated", "running"), ()),
    "batches": (("evaluated", "running"), ("evaluated",)),
    "padding": (_CHANGES, ("padded", *_CHANGES)),
    "dropout": (_ADDED, ("dropout",)),
}
Sliders = Mapping[str, live.Slider]


def sliders(session: Session[norms.Norms]) -> Sliders:
    """Those that are followed, by their names: all."""
    return live.of_settings(
        session, norms.SETTINGS,
        lambda view, catalogue: dict.fromkeys([norms.TASK], *norms.requests(view, catalogue)),
        _FOLLOW, most=_STEPS,
    )  # fmt: skip


def values(result: Result, name: str, *sliders: live.Slider) -> None:
    """Draw a chart, which follows these sliders."""
    title = gettext((CHARTS["matrices"] | CHARTS["changes"])[name]["title"])
    charts.show_filled(
        f"norms {result.digest} {name}", draw_values, partial(prepared, result, name), title,
        follows=(name, live.standing(sliders)),
    )  # fmt: skip


def prepared(result: Result, name: str) -> Prepared:
    """A chart by its name: a matrix of the result, or the running statistics."""
    if name in _CHANGES:
        return prepare_values(
            matrix(result.tables[name]), rows=_tokens(result.facts["lengths"]),
            vmax=max(result.facts["change"].values()), numbers=".2f", cell=(_CELL[0], 22),
            titles=("", gettext("feature")),
        )  # fmt: skip
    rows, end = None, _OUTPUT_END
    if name == "running":
        numbers = np.array(result.facts["statistics"]["evaluated"])
        rows = gettext("mean"), gettext("variance")
        end = 10 * float(np.abs(numbers).max())  # these are no outputs: their cells stay pale
    else:
        numbers = matrix(result.tables[name])
        if name in _ADDED and name != "normed":
            end = float(np.abs(matrix(result.tables["added"])).max()) or 1.0
    framed = CHARTS["matrices"][name].get("framed", "")
    return prepare_values(
        numbers, rows=rows, vmax=end, numbers=".3~g", framed=framed, cell=_CELL,
        room=60 if name in _FOLLOW["batches"][0] else 18,
    )  # fmt: skip


def _tokens(lengths: list[int]) -> list[str]:
    return [
        gettext("s{sentence} t{token}", sentence=sentence, token=token)
        for sentence, length in enumerate(lengths, start=1)
        for token in range(1, length + 1)
    ]


def said(result: Result, name: str, value: float) -> str:
    """Words by their name, at a position of the slider that they follow."""
    if name == "evaluated":
        return ngettext(**_SAID["batches"], count=int(value))
    if name == "padded":
        lengths = result.facts["lengths"]
        return gettext(
            _SAID["padded"], first=lengths[0], second=lengths[1], less=max(lengths),
            more=max(lengths) + int(value),
        )  # fmt: skip
    if name in _CHANGES:
        if largest := result.facts["change"][name.removeprefix("change_")]:
            return gettext("Valid outputs: changes by up to {largest:.2f}.", largest=largest)
        return gettext("Valid outputs: nothing changes.")
    if math.isclose(value, 0):
        return gettext(_SAID["no_dropout"])
    return gettext(_SAID["dropout"], rate=value, factor=1 / (1 - value))


def followers(sliders: Sliders) -> Iterator[live.Followers]:
    """What each slider moves."""
    for slider, (drawn, told) in _FOLLOW.items():
        made = {n: lambda _, found, n=n: prepared(found[norms.TASK], n) for n in drawn}
        words = {
            name: lambda value, found, name=name: said(found[norms.TASK], name, float(value))
            for name in told
        }
        yield live.Followers(sliders[slider], made, words)


_ROW, _COLUMN = gettext_noop("row {index}"), gettext_noop("column {index}")
_NUMBER_WIDTH, _COLUMN_WIDTH = 120, 70  # px, of a size's field and of the editor's columns
_EDITOR = "norms-editor"
_HEIGHT = 300  # px, of the matrices side by side
_WIDTH = 190  # px, of a control


def _compared(result: Result) -> None:
    with layout.grid(2):
        with shown.container(gap="small"):
            shown.markdown(gettext("**Layer norm**: each row by itself"))
            values(result, "layer")
            _statistics(result, "layer", _ROW)
        with shown.container(gap="small"):
            shown.markdown(gettext("**Batch norm**, in training: each column by itself"))
            values(result, "batch")
            _statistics(result, "batch", _COLUMN)
    shown.caption(gettext("Variances divide by the count; ε = {eps:g}.", eps=result.facts["eps"]))


def _statistics(result: Result, name: str, each: str) -> None:
    means, variances = result.facts["statistics"][name]
    table = pd.DataFrame({gettext("mean"): means, gettext("variance"): variances})
    table.index = [gettext(each, index=index) for index in range(len(table))]
    shown.table(table, width="content")


def _evaluated(result: Result, sliders: Sliders) -> None:
    left, right = shown.columns([3, 2], gap="large")
    with left:
        shown.latex(r"\mathrm{running} \leftarrow (1 - m)\,\mathrm{running} + m\,\mathrm{batch}")
        shown.markdown(gettext(_SAID["evaluated"]))
        shown.caption(gettext(_SAID["variance"]))
    with right:
        moved = sliders["momentum"], sliders["batches"]
        seen = said(result, "evaluated", sliders["batches"].at)
        live.words("evaluated", seen, moved, "markdown")
        values(result, "evaluated", *moved)
        shown.caption(gettext("What it takes of each column:"))
        values(result, "running", *moved)


def _padded(result: Result, slider: live.Slider) -> None:
    """By how much so many more positions of padding change the outputs of the tokens."""
    live.words("padded", said(result, "padded", slider.at), [slider], "markdown")
    with layout.grid(len(CHARTS["changes"])):
        for name, one in CHARTS["changes"].items():
            with shown.container(gap="small"):
                shown.markdown(gettext(one["caption"]))
                values(result, name, slider)
                live.words(name, said(result, name, slider.at), [slider], "caption")


def _add_and_norm(result: Result, slider: live.Slider) -> None:
    steps = CHARTS["add_and_norm"]
    with layout.grid(len(steps)):
        for name, one in steps.items():
            with shown.container(gap="xsmall"):
                shown.markdown(rf"$\displaystyle {one['formula']}$")
                shown.caption(gettext(one["caption"]))
                values(result, name, slider)
    left, right = shown.columns(2, gap="large")
    with left:
        shown.markdown(gettext("**Post-norm** (Vaswani et al. 2017): the sum is normalised."))
        shown.latex(r"\mathrm{LayerNorm}\big(X + \mathrm{Dropout}(f(X))\big)")
    with right:
        shown.markdown(
            gettext("**Pre-norm**: only the sublayer's input is; the sum runs on untouched.")
        )
        shown.latex(r"X + \mathrm{Dropout}\big(f(\mathrm{LayerNorm}(X))\big)")
    live.words("dropout", said(result, "dropout", slider.at), [slider], "caption")


def _matrix_editor(session: Session[norms.Norms]) -> None:
    shown.markdown(gettext("**X**: a row per example, a column per feature"))
    x, _ = norms.matrix_of(session.view.x)
    with layout.row("norms-size"):
        for name, label, value, least in (
            ("rows", gettext("Rows"), len(x), norms.FEWEST_ROWS),
            ("columns", gettext("Columns"), len(x[0]), 1),
        ):
            st.number_input(
                label, least, norms.MOST, key=place(f"norms-{name}", value, session.fresh),
                width=_NUMBER_WIDTH, on_change=_resize, args=(session,),
            )  # fmt: skip
    # The editor keeps its changes against the table that it was first given, under one key.
    version, table = st.session_state.get(_EDITOR, (0, None))
    if session.fresh or table is None:
        version, table = version + 1, pd.DataFrame(x, columns=[str(i) for i in range(len(x[0]))])
        st.session_state[_EDITOR] = version, table
    number = st.column_config.NumberColumn(
        min_value=-norms.LARGEST, max_value=norms.LARGEST, width=_COLUMN_WIDTH
    )
    edited = st.data_editor(
        table, key=f"{_EDITOR}-{version}", hide_index=True, num_rows="fixed", width="content",
        column_config=dict.fromkeys(table, number),
    )  # fmt: skip
    shown.note_table(edited, alt="X", width="content")
    session.update(x=norms.text_of(edited.fillna(0.0).to_numpy(float).tolist()))


def _resize(session: Session[norms.Norms]) -> None:
    x = np.array(norms.matrix_of(session.view.x)[0])
    resized = np.zeros((st.session_state["norms-rows"], st.session_state["norms-columns"]))
    rows, columns = map(min, zip(x.shape, resized.shape, strict=True))
    resized[:rows, :columns] = x[:rows, :columns]
    session.change(x=norms.text_of(resized.tolist()))


def _controls(session: Session[norms.Norms]) -> list[shown.Place]:
    shown.latex(r"y = \frac{x - \mathrm{mean}}{\sqrt{\mathrm{variance} + \varepsilon}}")
    left, right = shown.columns([2, 5], gap="large")
    with left:
        _matrix_editor(session)
    compared = right.container()
    shown.header(gettext("Batch norm: training and evaluation"))
    with layout.row("norms-training"):
        _sliders(session, "momentum", "batches")
    evaluated = shown.container()
    shown.header(gettext("Why each token by itself"))
    with layout.row("norms-sequence"):
        _sliders(session, "padding")
    padded = shown.container()
    shown.header(gettext("Add & norm"))
    with layout.row("norms-residual"):
        _sliders(session, "dropout")
        st.button(
            gettext("Draw again"), icon=":material/casino:",
            on_click=lambda: session.change(seed=next_seed(session.view.seed)),
        )  # fmt: skip
    return [compared, evaluated, padded, shown.container()]


def _sliders(session: Session[norms.Norms], *names: str) -> None:
    draw_settings(session, norms.SETTINGS, only=names, width=_WIDTH)


def _results(session: Session[norms.Norms], places: list[shown.Place]) -> None:
    compared, evaluated, padded, added = places
    (request,) = norms.requests(session.view, session.catalogue)
    moved = sliders(session)

    def draw(result: Result) -> None:
        _compared(result)
        with evaluated:
            _evaluated(result, moved)
        with padded:
            _padded(result, moved["padding"])
        with added:
            _add_and_norm(result, moved["dropout"])

    with compared:
        results.results(session.jobs, request, draw, _HEIGHT, "norms-result", grows=True)
    event = session.jobs.final(request)
    live.follow(session, followers(moved) if event and event.result else ())


PAGE = Page(
    name="norms", **beside(__file__, "words.toml")["heading"], link=norms.LINK, controls=_controls,
    requests=norms.requests, results=_results, panels=3, height=_HEIGHT,
)  # fmt: skip

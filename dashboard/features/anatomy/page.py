"""Anatomy: one attention step taken apart, and three looks at why it is made as it is."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.series import draw_series, prepare_series
from dashboard.charts.template import Prepared
from dashboard.features.anatomy import chart, following, tensors
from dashboard.features.anatomy import view as anatomy
from dashboard.features.anatomy.controls import SLIDER_WIDTH, scoring_controls, step_controls
from dashboard.features.anatomy.following import Plot
from dashboard.features.anatomy.moves import show_matrix
from dashboard.features.anatomy.view import Anatomy
from dashboard.language import gettext, gettext_noop, listed
from dashboard.links.attending import brings_own
from dashboard.links.fields import Setting
from dashboard.records.attending import SOFTMAX
from dashboard.records.beside import beside
from dashboard.records.request import Request, Result
from dashboard.ui import layout, results, shown
from dashboard.ui.fields import draw_setting
from dashboard.ui.page import Page
from dashboard.ui.session import Session
from dashboard.ui.widgets import formula, place, plain

_WORDS = beside(__file__, "words.toml")
_SAID = _WORDS["page"]
_MASK_HEIGHT = 420  # px, of a place while it waits
# A field, its title, and an example of what may be typed.
_LENGTHS = (
    (anatomy.PER_ROW, gettext_noop("One length per batch row"), "2, 3"),
    (anatomy.PER_QUERY, gettext_noop("One length per query"), "1, 3 / 2, 4"),
)


def mask_controls(session: Session[Anatomy]) -> None:
    """The scores and both kinds of lengths."""
    with layout.row("anatomy-mask"):
        matrices = list(tensors.read(session.view.scores, anatomy.SCORES_SHAPE))
        for row, matrix in enumerate(matrices):
            key = place(f"anatomy-scores-{row}", tensors.write_lines(matrix), session.fresh)
            title = gettext("Scores of batch row {row}", row=row)
            given = st.text_area(title, key=key, height=96, width=250)
            try:
                matrices[row] = tensors.read_lines(given, anatomy.SCORES_SHAPE[1:])
            except tensors.TensorError as error:
                shown.text(gettext("Batch row {row}: {error}", row=row, error=error))
        session.update(scores=tensors.write(matrices))
        for field, title, example in _LENGTHS:
            lengths = field.of(session.view).replace("/", " / ")
            key = place(session.key(field.name), lengths, session.fresh)
            given = st.text_input(gettext(title), key=key, placeholder=example, width=200)
            try:
                session.update(**{field.name: field.parse(given, session.view)})
            except tensors.TensorError as error:
                shown.text(gettext("{field}: {error}", field=gettext(title), error=error))


def draw_mask(session: Session[Anatomy], asked: Sequence[Request]) -> None:
    """Both kinds beside each other."""
    formula(r"\alpha_{ij} = \frac{m_{ij}\,e^{s_{ij}}}{\sum_l m_{il}\,e^{s_{il}}}")
    shown.caption(gettext(_SAID["beyond"]))
    with layout.grid(len(_LENGTHS)):
        for (field, title, _example), request in zip(_LENGTHS, asked, strict=True):
            key = f"mask-{field.name}"
            with shown.container(border=True, key=key):
                shown.header(gettext(title))
                results.results(
                    session.jobs, request, _masking, _MASK_HEIGHT, f"{key}-result", grows=True
                )


def _masking(result: Result) -> None:
    found = chart.stages(result.tables["stages"])
    # All batch rows below each other.
    rows = {name: each.values.reshape(-1, each.values.shape[-1]) for name, each in found.items()}
    rows["difference"] = rows["wrong"] - rows["weights"]
    batch, queries, _ = found["scores"].values.shape
    labels = [f"b{row} q{query}" for row in range(batch) for query in range(queries)]
    beyond = rows["allowed"] == 0
    keys, names = found["scores"].labels(-1), (gettext("query"), gettext("key"))
    said = gettext_noop("{title}: a row per query, a column per key")

    def matrix(name: str, title: str, masked: np.ndarray | None = beyond) -> None:
        score, difference = name in ("scores", "callers"), name == "difference"
        with shown.container(gap="xsmall"):
            shown.markdown(f"**{title}**")
            show_matrix(
                f"mask {result.digest} {name} {masked is None}",
                gettext("Weights of masking with 0, less those of the masked softmax")
                if difference else gettext(said, title=title),
                chart.Matrix(values=rows[name], rows=labels, columns=keys, names=names,
                quantity=gettext("score") if score
                else gettext("difference") if difference else gettext("weight"),
                masked=None if difference else masked, vmax=None if score else 1.0,
                signed=True if difference else None),
            )  # fmt: skip

    with layout.grid(2):
        matrix("scores", gettext("Scores; grey ones do not count"))
        matrix("weights", gettext("Right: masked softmax"))
        matrix("wrong", gettext("Wrong: masked with 0"))
        matrix("difference", gettext("What masking with 0 changed"))
    leak = np.array(result.facts["leak"])
    shares = listed(f"{part:.1%}" for part in leak)
    shown.caption(gettext(_SAID["leaked"], shares=shares, mean=leak.mean()))
    shown.header(gettext("Overwriting the input"))
    shown.caption(gettext(_SAID["overwritten"]))
    with layout.grid(2):
        matrix("scores", gettext("The caller's scores before"), None)
        matrix("callers", gettext("The caller's scores after"))
        matrix("again", gettext("Weights of all keys, as they were"), None)
        matrix("again_wrong", gettext("The same of what is left"), None)
    lost = np.abs(rows["again"] - rows["again_wrong"]).max()
    shown.caption(gettext("The largest of these errors is {lost:.3f}.", lost=lost))


_ROOT_TITLES, _LANDSCAPES = _WORDS["root"], _WORDS["landscapes"]


def draw_root(session: Session[Anatomy], asked: Sequence[Request]) -> None:
    """Variance, largest weight and entropy against d."""
    (request,), view = asked, session.view
    formula(
        r"\mathrm{Var}\Big(\sum_{i=1}^{d} q_i k_i\Big) = d, \qquad "
        r"\mathrm{Var}\Big(\tfrac{1}{\sqrt d}\sum_{i=1}^{d} q_i k_i\Big) = 1"
    )
    shown.caption(gettext(_SAID["drawn"]))

    # The chosen scoring is measured too where it is a third.
    names = {name: gettext(title) for name, title in _ROOT_TITLES.items()}
    names.setdefault(view.scoring, session.catalogue.scorings[view.scoring].title)
    following.draw_plots(
        session, request, {column: partial(_spread, names, column) for column in _MEASURES}
    )


_MEASURES = {  # against d, by their columns: what they are called
    "variance": gettext_noop("variance of the scores"),
    "largest": gettext_noop("largest weight, on average"),
    "entropy": gettext_noop("entropy of the weights, nats"),
}


def _spread(names: Mapping[str, str], column: str, view: Anatomy, result: Result) -> Plot:
    def prepare() -> Prepared:
        spread = result.tables["spread"].to_pandas()
        frame = pd.DataFrame(
            {"x": spread["d"], "y": spread[column], "series": spread["scoring"].map(names)}
        )
        looks: dict[str, Any] = {"within": (0, 1 if column == "largest" else math.log(view.count))}
        lines = frame
        if column == "variance":  # the lines of these two are what theory says
            looks = {"log": bool((frame["y"] > 0).all())}
            for name, y in {names["dot"]: frame["x"], names["scaled_dot"]: 1.0}.items():
                lines = lines.assign(y=np.where(lines["series"] == name, y, lines["y"]))
        return prepare_series(
            frame, dict(zip(names.values(), PANEL_COLOURS.values(), strict=False)), fitted=lines,
            x_title="d", y_title=title, doubling=True, ticks=(1, 4, 16, 64, 256), **looks,
        )  # fmt: skip

    title = gettext(_MEASURES[column])
    return Plot(draw_series, prepare, gettext("{title} against d", title=title), "")


def draw_planes(session: Session[Anatomy], asked: Sequence[Request]) -> None:
    """Scores and weights over all keys of two numbers."""
    (request,), view = asked, session.view
    formula("a(q, k) = " + session.catalogue.scorings[view.scoring].formula)
    if brings_own(view, session.catalogue):
        shown.caption(gettext(_SAID["own_way"]))
    else:
        name = plain(layout.normaliser_title(view.normaliser, session.catalogue))
        shown.caption(gettext(_SAID["by_normaliser"], normaliser=name))
    chosen = session.catalogue.normalisers.get(view.normaliser)
    if chosen and view.normaliser != SOFTMAX:
        formula(r"\alpha_i = " + chosen.formula, description=chosen.description)

    following.draw_plots(session, request, {
        column: partial(_landscape, column, words) for column, words in _LANDSCAPES.items()
    })  # fmt: skip


def _landscape(column: str, words: Mapping[str, str], view: Anatomy, result: Result) -> Plot:
    title = gettext(words["quantity"])
    prepare = partial(
        chart.prepare_landscape, result.tables["landscape"], column, (view.x, view.y), title=title
    )
    return Plot(chart.draw_landscape, prepare, gettext(words["shows"], x=view.x, y=view.y), title)


_TITLES = _WORDS["parts"]
_PLACES, _HEIGHT = 3, 300  # of a page in waiting
_PLOTTED: dict[str, tuple[Setting[Anatomy], ...]] = {
    anatomy.ROOT: (anatomy.COUNT_FIELD,), anatomy.LANDSCAPE: (anatomy.X_FIELD, anatomy.Y_FIELD),
}  # fmt: skip
_DRAW: dict[str, Callable[[Session[Anatomy], tuple[Request, ...]], None]] = {
    anatomy.STEP: following.draw, anatomy.MASK: draw_mask, anatomy.ROOT: draw_root,
    anatomy.LANDSCAPE: draw_planes,
}  # fmt: skip


def _controls(session: Session[Anatomy]) -> None:
    chosen = st.segmented_control(
        gettext(anatomy.PART.title), anatomy.PARTS,
        format_func=lambda part: gettext(_TITLES[part]),
        key=place(session.key(anatomy.PART.name), session.view.part, session.fresh),
        label_visibility="collapsed",
    )  # fmt: skip
    # Pressed once more, a choice is taken back: the part stays.
    session.update(part=chosen or session.view.part)
    shown.setting(gettext(anatomy.PART.title), gettext(_TITLES[session.view.part]))
    if session.view.part == anatomy.STEP:
        step_controls(session)
    elif session.view.part == anatomy.MASK:
        mask_controls(session)
    else:
        row = layout.row("anatomy-plot")
        scoring_controls(session, row)
        with row:
            for field in _PLOTTED[session.view.part]:
                draw_setting(session, field, width=SLIDER_WIDTH)


def _results(session: Session[Anatomy], _: None) -> None:
    if sentence := anatomy.missing(session.catalogue, session.view):
        results.absent(sentence, _HEIGHT, "anatomy-absent")
        return
    _DRAW[session.view.part](session, anatomy.requests(session.view, session.catalogue))


PAGE = Page(
    name="anatomy", **_WORDS["heading"], link=anatomy.LINK, controls=_controls,
    requests=anatomy.requests, formulas=anatomy.formulas, results=_results, panels=_PLACES,
    height=_HEIGHT,
)  # fmt: skip

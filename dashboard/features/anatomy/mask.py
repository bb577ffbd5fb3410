"""The part *Masked softmax* of the anatomy: the right way, and what two wrong ones do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from dashboard.features.anatomy import tensors
from dashboard.features.anatomy.chart_matrix import Stage, draw_matrix, prepare_matrix, stages
from dashboard.features.anatomy.state import SCORES_SHAPE, Anatomy
from dashboard.features.anatomy.tensors import Lengths
from dashboard.features.anatomy.view import PER_QUERY, PER_ROW
from dashboard.language import gettext, gettext_noop, listed
from dashboard.records.request import Request, Result
from dashboard.ui import charts, layout, results, shown
from dashboard.ui.session import Session
from dashboard.ui.widgets import formula, place

_HEIGHT = 420  # px, of a place while it waits
# A field, its title, and an example of what may be typed.
_KINDS = (
    (PER_ROW, gettext_noop("One length per batch row"), "2, 3"),
    (PER_QUERY, gettext_noop("One length per query"), "1, 3 / 2, 4"),
)


def controls(session: Session[Anatomy]) -> None:
    """The scores and both kinds of lengths."""
    with layout.row("anatomy-mask"):
        matrices = list(tensors.read(session.view.scores, SCORES_SHAPE))
        for row in range(SCORES_SHAPE[0]):
            given = st.text_area(
                gettext("Scores of batch row {row}", row=row),
                key=place(
                    f"anatomy-scores-{row}", tensors.write_lines(matrices[row]), session.fresh
                ),
                height=96,
                width=250,
            )
            try:
                matrices[row] = tensors.read_lines(given, SCORES_SHAPE[1:])
            except tensors.TensorError as error:
                shown.text(gettext("Batch row {row}: {error}", row=row, error=error))
        session.update(scores=tensors.write(matrices))
        for field, title, example in _KINDS:
            _lengths(session, field, gettext(title), example)


def _lengths(session: Session[Anatomy], field: Lengths[Anatomy], title: str, example: str) -> None:
    held = field.of(session.view).replace("/", " / ")
    given = st.text_input(
        title,
        key=place(session.key(field.name), held, session.fresh),
        placeholder=example,
        width=200,
    )
    try:
        session.update(**{field.name: field.parse(given, session.view)})
    except tensors.TensorError as error:
        shown.text(gettext("{field}: {error}", field=title, error=error))


def draw(session: Session[Anatomy], asked: Sequence[Request]) -> None:
    """Both kinds beside each other."""
    formula(r"\alpha_{ij} = \frac{m_{ij}\,e^{s_{ij}}}{\sum_l m_{il}\,e^{s_{il}}}")
    shown.caption(
        gettext(
            "A key beyond the valid length must get no weight. Masking with 0 does not do that: "
            "a score of 0 still counts as exp(0) = 1. Writing the mask into the scores destroys "
            "numbers that the caller may need again."
        )
    )
    with layout.grid(len(_KINDS)):
        for (field, title, _example), request in zip(_KINDS, asked, strict=True):
            key = f"mask-{field.name}"
            with shown.container(border=True, key=key):
                shown.header(gettext(title))
                results.results(session.jobs, request, _ways, _HEIGHT, f"{key}-result", grows=True)


def _ways(result: Result) -> None:
    found = stages(result.tables["stages"])
    masked = _rows(found["allowed"]) == 0
    with layout.grid(2):
        _chart(result, found, "scores", gettext("Scores; grey ones do not count"), masked)
        _chart(result, found, "weights", gettext("Right: masked softmax"), masked, vmax=1.0)
        _chart(result, found, "wrong", gettext("Wrong: masked with 0"), masked, vmax=1.0)
        with shown.container(gap="xsmall"):
            shown.markdown(f"**{gettext('What masking with 0 changed')}**")
            charts.show_filled(
                f"mask {result.digest} difference",
                draw_matrix,
                lambda: prepare_matrix(
                    _rows(found["wrong"]) - _rows(found["weights"]),
                    _labels(found["scores"]), found["scores"].labels(-1),
                    quantity=gettext("difference"), names=(gettext("query"), gettext("key")),
                    vmax=1.0, signed=True,
                ),
                gettext("Weights of masking with 0, less those of the masked softmax"),
            )  # fmt: skip
    leak = np.array(result.facts["leak"])
    shown.caption(
        gettext(
            "Leaked to padding, row by row: {shares}. On average {mean:.1%} of the weight goes "
            "where nothing is.",
            shares=listed(f"{part:.1%}" for part in leak), mean=leak.mean(),
        )
    )  # fmt: skip
    shown.header(gettext("Overwriting the input"))
    shown.caption(
        gettext(
            "“X[~mask] = 0” on a view of the caller's scores changes the caller's own tensor. "
            "Whoever asks once more, now for all keys, gets other weights."
        )
    )
    with layout.grid(2):
        _chart(result, found, "scores", gettext("The caller's scores before"), None)
        _chart(result, found, "callers", gettext("The caller's scores after"), masked)
        _chart(result, found, "again", gettext("Weights of all keys, as they were"), None, 1.0)
        _chart(result, found, "again_wrong", gettext("The same of what is left"), None, 1.0)
    lost = np.abs(_rows(found["again"]) - _rows(found["again_wrong"])).max()
    shown.caption(gettext("The largest of these errors is {lost:.3f}.", lost=lost))


def _chart(
    result: Result,
    found: Mapping[str, Stage],
    name: str,
    title: str,
    masked: np.ndarray | None,
    vmax: float | None = None,
) -> None:
    with shown.container(gap="xsmall"):
        shown.markdown(f"**{title}**")
        charts.show_filled(
            f"mask {result.digest} {name} {masked is None}",
            draw_matrix,
            lambda: prepare_matrix(
                _rows(found[name]), _labels(found[name]), found[name].labels(-1),
                quantity=_quantity(name), names=(gettext("query"), gettext("key")), masked=masked,
                vmax=vmax,
            ),
            gettext("{title}: a row per query, a column per key", title=title),
        )  # fmt: skip


def _quantity(name: str) -> str:
    """What a cell of a stage is."""
    return gettext("score") if name in ("scores", "callers") else gettext("weight")


def _rows(stage: Stage) -> np.ndarray:
    """All batch rows below each other."""
    return stage.values.reshape(-1, stage.values.shape[-1])


def _labels(stage: Stage) -> list[str]:
    batch, queries, _ = stage.values.shape
    return [f"b{row} q{query}" for row in range(batch) for query in range(queries)]

"""The part *Masked softmax* of the anatomy: the right way, and what two wrong ones do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from dashboard.charts.matrix import matrix_chart
from dashboard.charts.stages import Stage, stages
from dashboard.controls import formula, place
from dashboard.pages import figures, parts
from dashboard.runs import tensors
from dashboard.runs.anatomy_view import SCORES_SHAPE, Anatomy, mask_request
from dashboard.runs.offers import Catalogue
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.state import Visit

_HEIGHT = 420  # px, of a place while it waits
_KINDS = (
    ("per_row", "One length per batch row", "row", "2, 3"),
    ("per_query", "One length per query", "query", "1, 3 / 2, 4"),
)


def controls(here: Visit, view: Anatomy) -> Anatomy:
    """The scores and both kinds of lengths."""
    with parts.row("anatomy-mask"):
        matrices = list(tensors.read(view.scores, SCORES_SHAPE))
        for row in range(SCORES_SHAPE[0]):
            given = st.text_area(
                f"Scores of batch row {row}",
                key=place(f"anatomy-scores-{row}", tensors.write_lines(matrices[row]), here.fresh),
                height=96,
                width=250,
            )
            try:
                matrices[row] = tensors.read_lines(given, SCORES_SHAPE[1:])
            except tensors.TensorError as error:
                st.text(f"Batch row {row}: {error}")
        view = replace(view, scores=tensors.write(matrices))
        for name, title, kind, example in _KINDS:
            view = _lengths(here, view, name, title, kind, example)
    return view


def _lengths(
    here: Visit, view: Anatomy, name: str, title: str, kind: str, example: str
) -> Anatomy:
    held = getattr(view, name)
    given = st.text_input(
        title,
        key=place(f"anatomy-{name}", held.replace("/", " / "), here.fresh),
        placeholder=example,
        width=200,
    )
    try:
        return replace(view, **{name: tensors.read_lengths(given, *SCORES_SHAPE[:2], kind)})
    except tensors.TensorError as error:
        st.text(f"{title}: {error}")
        return view


def requests(view: Anatomy) -> list[Request]:
    """One result per kind of lengths."""
    return [mask_request(view, getattr(view, name)) for name, *_ in _KINDS]


def draw(here: Visit, catalogue: Catalogue, view: Anatomy, asked: Sequence[Request]) -> None:
    """Both kinds beside each other."""
    formula(r"\alpha_{ij} = \frac{m_{ij}\,e^{s_{ij}}}{\sum_l m_{il}\,e^{s_{il}}}")
    st.caption(
        "A key beyond the valid length must get no weight. Masking with 0 does not do that: "
        "a score of 0 still counts as exp(0) = 1. Writing the mask into the scores destroys "
        "numbers that the caller may need again."
    )
    with parts.grid(len(_KINDS)):
        for (name, title, *_), request in zip(_KINDS, asked, strict=True):
            with st.container(border=True, key=f"mask-{name}"):
                st.subheader(title, anchor=False)
                parts.results(
                    here.jobs, request, lambda result, own=request: _ways(own, result),
                    _HEIGHT, f"mask-{name}-result", grows=True,
                )  # fmt: skip


def _ways(request: Request, result: Result) -> None:
    found = stages(result.tables["stages"])
    masked = _rows(found["allowed"]) == 0
    with parts.grid(2):
        _chart(request, found, "scores", "Scores; grey ones do not count", masked)
        _chart(request, found, "weights", "Right: masked softmax", masked, vmax=1.0)
        _chart(request, found, "wrong", "Wrong: masked with 0", masked, vmax=1.0)
        with st.container(gap="xsmall"):
            st.markdown("**What masking with 0 changed**")
            figures.show(
                f"mask {request.key} difference",
                lambda: matrix_chart(
                    _rows(found["wrong"]) - _rows(found["weights"]),
                    _labels(found["scores"]), found["scores"].labels(-1),
                    quantity="difference", names=("query", "key"), vmax=1.0, signed=True,
                ),
                "Weights of masking with 0, less those of the masked softmax",
            )  # fmt: skip
    leak = np.array(result.facts["leak"])
    st.caption(
        f"Leaked to padding, row by row: {', '.join(f'{part:.1%}' for part in leak)}. "
        f"On average {leak.mean():.1%} of the weight goes where nothing is."
    )
    st.subheader("Overwriting the input", anchor=False)
    st.caption(
        "“X[~mask] = 0” on a view of the caller's scores changes the caller's own tensor. Whoever "
        "asks once more, now for all keys, gets other weights."
    )
    with parts.grid(2):
        _chart(request, found, "scores", "The caller's scores before", None)
        _chart(request, found, "callers", "The caller's scores after", masked)
        _chart(request, found, "again", "Weights of all keys, as they were", None, vmax=1.0)
        _chart(request, found, "again_wrong", "The same of what is left", None, vmax=1.0)
    lost = np.abs(_rows(found["again"]) - _rows(found["again_wrong"])).max()
    st.caption(f"The largest of these errors is {lost:.3f}.")


def _chart(
    request: Request,
    found: Mapping[str, Stage],
    name: str,
    title: str,
    masked: np.ndarray | None,
    vmax: float | None = None,
) -> None:
    with st.container(gap="xsmall"):
        st.markdown(f"**{title}**")
        figures.show(
            f"mask {request.key} {title}",
            lambda: matrix_chart(
                _rows(found[name]), _labels(found[name]), found[name].labels(-1),
                quantity=name.partition("_")[0], names=("query", "key"), masked=masked, vmax=vmax,
            ),
            f"{title}: a row per query, a column per key",
        )  # fmt: skip


def _rows(stage: Stage) -> np.ndarray:
    """All batch rows below each other."""
    return stage.values.reshape(-1, stage.values.shape[-1])


def _labels(stage: Stage) -> list[str]:
    batch, queries, _ = stage.values.shape
    return [f"b{row} q{query}" for row in range(batch) for query in range(queries)]

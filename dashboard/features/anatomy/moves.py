"""Shapes that move in the anatomy: the additive broadcast, and heads cut apart and joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.features.anatomy.chart_matrix import Stage, draw_matrix, prepare_matrix
from dashboard.features.anatomy.chart_shapes import Shape, shape_flow
from dashboard.features.anatomy.state import Anatomy
from dashboard.language import gettext
from dashboard.ui import charts, shown

_BATCH = ("B",)
_FLOW_WIDTH = 420  # px, of a column that holds a flow


def heads(view: Anatomy, tensors: Mapping[str, Stage]) -> None:
    """``(B, n, H·d) -> (B, n, H, d) -> (B, H, n, d) -> (B·H, n, d)``, one number followed."""
    batch, count, rows, size = tensors["split_q"].values.shape
    cut, follow = shown.columns(2, gap="large")
    with cut:
        shown.markdown(gettext("**How the shape moves**"))
        steps = (
            Shape(
                said=gettext("projected, all heads in one row"), axes=(_BATCH, ("n",), ("H", "d"))
            ),
            Shape(
                said=gettext("reshape, each row cut into heads"),
                axes=(_BATCH, ("n",), ("H",), ("d",)),
            ),
            Shape(
                said=gettext("transpose, heads before positions"),
                axes=(_BATCH, ("H",), ("n",), ("d",)),
            ),
            Shape(
                said=gettext("reshape, every head a batch row"), axes=(("B", "H"), ("n",), ("d",))
            ),
        )
        _flow("heads", steps, {"B": batch, "n": rows, "H": count, "d": size})
    linear, split = tensors["linear_q"].values, tensors["split_q"].values
    column = min(view.column, count * size - 1)
    head, inside = divmod(column, size)
    where = (
        ((view.row, view.query, column), linear[view.row, view.query, column]),
        ((view.row, view.query, head, inside), split[view.row, head, view.query, inside]),
        ((view.row, head, view.query, inside), split[view.row, head, view.query, inside]),
        (
            (view.row * count + head, view.query, inside),
            split.reshape(-1, rows, size)[view.row * count + head, view.query, inside],
        ),
    )
    with follow:
        shown.markdown(gettext("**Where one number goes**"))
        shown.caption(
            gettext("Query and column under “Look at” choose it; its value never changes.")
        )
        _table(["(B, n, H·d)", "(B, n, H, d)", "(B, H, n, d)", "(B·H, n, d)"], where)


def joined(view: Anatomy, tensors: Mapping[str, Stage]) -> None:
    """The way back: ``(B·H, n, d) -> (B, H, n, d) -> (B, n, H, d) -> (B, n, H·d)``."""
    batch, count, rows, size = tensors["pooled"].values.shape
    back, follow = shown.columns(2, gap="large")
    with back:
        shown.markdown(gettext("**How the shape moves back**"))
        steps = (
            Shape(said=gettext("output of every head"), axes=(("B", "H"), ("n",), ("d",))),
            Shape(
                said=gettext("reshape, batch rows apart"), axes=(_BATCH, ("H",), ("n",), ("d",))
            ),
            Shape(
                said=gettext("transpose, positions before heads"),
                axes=(_BATCH, ("n",), ("H",), ("d",)),
            ),
            Shape(said=gettext("reshape, heads side by side"), axes=(_BATCH, ("n",), ("H", "d"))),
        )
        _flow("joined", steps, {"B": batch, "n": rows, "H": count, "d": size})
    pooled, merged = tensors["pooled"].values, tensors["merged"].values
    column = min(view.column, count * size - 1)
    head, inside = divmod(column, size)
    value = pooled[view.row, head, view.query, inside]
    where = (
        ((view.row * count + head, view.query, inside), value),
        ((view.row, head, view.query, inside), value),
        ((view.row, view.query, head, inside), value),
        ((view.row, view.query, column), merged[view.row, view.query, column]),
    )
    with follow:
        shown.markdown(gettext("**Where one number goes**"))
        _table(["(B·H, n, d)", "(B, H, n, d)", "(B, n, H, d)", "(B, n, H·d)"], where)


def broadcast(digest: str, view: Anatomy, tensors: Mapping[str, Stage]) -> None:
    """``(B, n_q, 1, h) + (B, 1, n_k, h) -> (B, n_q, n_k, h) -> tanh -> v -> (B, n_q, n_k)``.

    Args:
        digest: of the result that the tensors are from.
    """
    sums = tensors["sums"]
    sizes = dict(zip(sums.axes, sums.values.shape, strict=True))
    lead = tuple((axis,) for axis in sums.axes[:-3])
    steps = (
        Shape(
            said=gettext("queries, with a new axis"),
            axes=(*lead, ("n_q",), ("(n_k)",), ("h",)),
            into=2,
        ),
        Shape(said=gettext("keys, with a new axis"), axes=(*lead, ("(n_q)",), ("n_k",), ("h",))),
        Shape(
            said=gettext("their sum, both stretched; then tanh"),
            axes=(*lead, ("n_q",), ("n_k",), ("h",)),
        ),
        Shape(
            said=gettext("times v, the last axis summed away"), axes=(*lead, ("n_q",), ("n_k",))
        ),
    )
    moves, numbers = shown.columns(2, gap="large")
    with moves:
        shown.markdown(gettext("**How the shape moves**"))
        _flow("broadcast", steps, sizes)
    query, key = view.query, view.key
    at = {name: tensors[name].matrix(view.row, view.head) for name in _TRACED}
    vector = tensors["vector"].values
    rows = {
        f"W_q q{query}": at["projected_q"][query],
        f"W_k k{key}": at["projected_k"][key],
        gettext("sum"): at["sums"][query, key],
        "tanh": at["features"][query, key],
        "v": vector,
        "v · tanh": vector * at["features"][query, key],
    }
    with numbers:
        shown.markdown(
            gettext(
                "**Query {query} against key {key}, hidden unit by hidden unit**",
                query=query, key=key,
            )
        )  # fmt: skip
        charts.show_filled(
            f"anatomy {digest} trace {view.row} {view.head} {query} {key}",
            draw_matrix,
            lambda: prepare_matrix(
                np.stack(list(rows.values())), list(rows), range(len(vector)),
                names=(gettext("number"), gettext("hidden unit")), picked=(5, None),
            ),
            gettext("The additive score of query {query} and key {key}", query=query, key=key),
        )  # fmt: skip
        score = at["scores"][query, key]
        shown.caption(
            gettext(
                "The last row sums to {score}, the score of query {query} and key {key}.",
                score=f"{score:.4f}".replace("-", "−"), query=query, key=key,
            )
        )  # fmt: skip


_TRACED = ("projected_q", "projected_k", "sums", "features", "scores")


def _flow(name: str, steps: Sequence[Shape], sizes: Mapping[str, int]) -> None:
    key = f"anatomy {name} {sorted(sizes.items())}"
    words = gettext("; then ").join(step.said for step in steps)
    charts.show(
        key,
        lambda: shape_flow(steps, sizes, width=_FLOW_WIDTH),
        gettext("Shapes: {steps}", steps=words),
    )


def _table(shapes: Sequence[str], where: Sequence[tuple[tuple[int, ...], float]]) -> None:
    value = gettext("Value")
    frame = pd.DataFrame(
        {
            gettext("Shape"): shapes,
            gettext("Index"): [f"[{', '.join(map(str, index))}]" for index, _ in where],
            value: [number for _, number in where],
        }
    )
    shown.table(
        frame, hide_index=True, width="stretch",
        column_config={value: st.column_config.NumberColumn(format="%.4f")},
    )  # fmt: skip

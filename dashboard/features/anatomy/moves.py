"""Shapes that move in the anatomy: the additive broadcast, and heads cut apart and joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Literal, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts import theme
from dashboard.charts.grid import boxes, positions
from dashboard.features.anatomy.chart_matrix import Stage, draw_matrix, prepare_matrix
from dashboard.features.anatomy.view import Anatomy
from dashboard.language import gettext
from dashboard.ui import charts, shown

_BLOCK, _LABEL, _GAP = 26, 20, 22  # px: a block, what its step is called, the room above that
_BETWEEN = 0.22  # of a block's width, between axes; blocks of one axis touch
_NARROW = 0.34  # of a block's width, what an axis of 1 leaves free at either side
_COLOURS = (*theme.PANEL_COLOURS.values(), theme.QUIET)
_INK = alt.ExprRef(theme.INK)


class Shape(NamedTuple):
    """A tensor's shape as it stands in one step.

    Attributes:
        title: what happened, such as ``"transpose"``.
        axes: ``"B n H·d"`` is ``(B, n, H·d)``. A name in brackets, ``"(n)"``, is an axis of size
            1 that stretches to ``n`` later.
        into: the number of the step that this one goes into; the next where None.
    """

    title: str
    axes: str
    into: int | None = None

    @property
    def names(self) -> list[list[str]]:
        """The names of every axis."""
        return [axis.split("·") for axis in self.axes.split()]


def shape_flow(
    steps: Sequence[Shape], sizes: Mapping[str, int], *, width: int = theme.WIDTH
) -> alt.LayerChart:
    """Steps from top to bottom; every axis keeps its colour, and a band ties it to itself.

    Args:
        sizes: of every name; names take their colours in this order.

    Raises:
        ValueError: no step, or an axis without a size.
    """
    unknown = {n.strip("()") for step in steps for axis in step.names for n in axis} - set(sizes)
    if unknown or not steps:
        raise ValueError(f"need the size of {', '.join(sorted(unknown)) or 'at least one step'}")
    blocks = _blocks(steps, sizes)
    height = _top(len(steps) - 1) + _BLOCK
    widest = max(_extent(step) for step in steps)
    x = alt.X("left:Q", scale=alt.Scale(domain=[0, widest], nice=False, zero=False), axis=None)
    y = alt.Y("top:Q", scale=positions(height, height), axis=None)
    base = alt.Chart(pd.DataFrame(blocks)).encode(x=x, y=y)
    placed = boxes(base, x, y).encode(
        tooltip=[
            alt.Tooltip("label:N", title=gettext("axis")),
            alt.Tooltip("shape:N", title=gettext("shape")),
        ]
    )
    layers = [
        theme.ramp(),
        *(band.encode(x=x, x2=alt.X2("right:Q"), y=y) for band in _bands(steps, blocks)),
        placed.transform_filter("!datum.one")
        .mark_rect()
        .encode(color=alt.Color("colour:N", scale=None))
        .properties(name="blocks"),
        placed.transform_filter("datum.one")
        .mark_rect(fillOpacity=0, strokeWidth=1.5, strokeDash=[4, 3])
        .encode(stroke=alt.Stroke("colour:N", scale=None))
        .properties(name="ones"),
        _words(base.transform_filter("!datum.one"), "#ffffff", 600),
        _words(base.transform_filter("datum.one"), _INK, 400),
        _titles(steps, blocks).encode(y=y),
    ]
    return theme.finished(alt.LayerChart(layer=layers), width=width, height=height)


def _top(step: int) -> float:
    return step * (_LABEL + _BLOCK + _GAP) + _LABEL


def _extent(step: Shape) -> float:
    return sum(map(len, step.names)) + _BETWEEN * (len(step.names) - 1)


class _Block(NamedTuple):
    step: int
    name: str
    one: bool  # an axis of size 1 that stretches later
    colour: str
    left: float
    right: float
    top: float
    bottom: float
    label: str
    shape: str  # of the whole step


def _blocks(steps: Sequence[Shape], sizes: Mapping[str, int]) -> list[_Block]:
    """All blocks. They are equally wide, since sizes differ too much to be drawn to scale."""
    colours = dict(zip(sizes, _COLOURS, strict=False))
    blocks = []
    for number, step in enumerate(steps):
        left = (max(map(_extent, steps)) - _extent(step)) / 2
        # A bracketed name has no size of its own: it counts as 1.
        shape = ", ".join(str(prod(sizes.get(n, 1) for n in axis)) for axis in step.names)
        for axis in step.names:
            for written in axis:
                name, one = written.strip("()"), written.startswith("(")
                margin = _NARROW if one else 0.0
                block = _Block(
                    step=number, name=name, one=one, colour=colours[name],
                    left=left + margin, right=left + 1 - margin,
                    top=_top(number), bottom=_top(number) + _BLOCK,
                    label="1" if one else f"{name} = {sizes[name]}", shape=f"({shape})",
                )  # fmt: skip
                blocks.append(block)
                left += 1
            left += _BETWEEN
    return blocks


def _bands(steps: Sequence[Shape], blocks: Sequence[_Block]) -> list[alt.Chart]:
    """What ties a block to the same axis where its step goes into."""
    ends: dict[str, list[tuple[float, float, float, str]]] = {}
    for upper in blocks:
        into = steps[upper.step].into
        goal = upper.step + 1 if into is None else into
        lower = next((b for b in blocks if (b.step, b.name) == (goal, upper.name)), None)
        if lower is not None:
            band = f"{upper.step} {upper.name}"
            ends.setdefault(upper.colour, []).extend(
                [
                    (upper.left, upper.right, upper.bottom, band),
                    (lower.left, lower.right, lower.top, band),
                ]
            )
    # A layer per colour: an area takes a colour by its name for a number that is missing.
    return [
        alt.Chart(pd.DataFrame(own, columns=["left", "right", "top", "band"]))
        .mark_area(opacity=0.2, orient="horizontal", aria=False, color=colour)
        .encode(detail="band:N")
        .properties(name=f"bands {colour}")
        for colour, own in ends.items()
    ]


def _words(base: alt.Chart, colour: str | alt.ExprRef, weight: Literal[400, 600]) -> alt.Chart:
    middle = base.transform_calculate(
        left="(datum.left + datum.right) / 2", top="(datum.top + datum.bottom) / 2"
    )
    return middle.mark_text(
        fontSize=theme.FONT_SIZE + 1, fontWeight=weight, color=colour, aria=False
    ).encode(text="label:N")


def _titles(steps: Sequence[Shape], blocks: Sequence[_Block]) -> alt.Chart:
    shapes = {block.step: block.shape for block in blocks}
    rows = [
        {
            "top": _top(i) - _LABEL / 2,
            "text": gettext("{step}: {shape}", step=step.title, shape=shapes[i]),
        }
        for i, step in enumerate(steps)
    ]
    return (
        alt.Chart(pd.DataFrame(rows))
        .mark_text(align="left", fontSize=theme.FONT_SIZE, color=_INK)
        .encode(x=alt.XValue(2), text="text:N")
        .properties(name="said")
    )


_FLOW_WIDTH = 420  # px, of a column that holds a flow


def heads(view: Anatomy, tensors: Mapping[str, Stage]) -> None:
    """``(B, n, H·d) -> (B, n, H, d) -> (B, H, n, d) -> (B·H, n, d)``, one number followed."""
    batch, count, rows, size = tensors["split_q"].values.shape
    cut, follow = shown.columns(2, gap="large")
    with cut:
        shown.markdown(gettext("**How the shape moves**"))
        steps = (
            Shape(gettext("projected, all heads in one row"), "B n H·d"),
            Shape(gettext("reshape, each row cut into heads"), "B n H d"),
            Shape(gettext("transpose, heads before positions"), "B H n d"),
            Shape(gettext("reshape, every head a batch row"), "B·H n d"),
        )
        _flow("heads", steps, {"B": batch, "n": rows, "H": count, "d": size})
    linear, split = tensors["linear_q"].values, tensors["split_q"].values
    column = min(view.column, count * size - 1)
    head, inside = divmod(column, size)
    row, query = view.row, view.query
    value = split[row, head, query, inside]
    where = (
        ((row, query, column), linear[row, query, column]),
        ((row, query, head, inside), value),
        ((row, head, query, inside), value),
        (
            (row * count + head, query, inside),
            split.reshape(-1, rows, size)[row * count + head, query, inside],
        ),
    )
    with follow:
        shown.markdown(gettext("**Where one number goes**"))
        shown.caption(
            gettext("Query and column under “Look at” choose it; its value never changes.")
        )
        _table(steps, where)


def joined(view: Anatomy, tensors: Mapping[str, Stage]) -> None:
    """The way back: ``(B·H, n, d) -> (B, H, n, d) -> (B, n, H, d) -> (B, n, H·d)``."""
    batch, count, rows, size = tensors["pooled"].values.shape
    back, follow = shown.columns(2, gap="large")
    with back:
        shown.markdown(gettext("**How the shape moves back**"))
        steps = (
            Shape(gettext("output of every head"), "B·H n d"),
            Shape(gettext("reshape, batch rows apart"), "B H n d"),
            Shape(gettext("transpose, positions before heads"), "B n H d"),
            Shape(gettext("reshape, heads side by side"), "B n H·d"),
        )
        _flow("joined", steps, {"B": batch, "n": rows, "H": count, "d": size})
    pooled, merged = tensors["pooled"].values, tensors["merged"].values
    column = min(view.column, count * size - 1)
    head, inside = divmod(column, size)
    row, query = view.row, view.query
    value = pooled[row, head, query, inside]
    where = (
        ((row * count + head, query, inside), value),
        ((row, head, query, inside), value),
        ((row, query, head, inside), value),
        ((row, query, column), merged[row, query, column]),
    )
    with follow:
        shown.markdown(gettext("**Where one number goes**"))
        _table(steps, where)


def broadcast(digest: str, view: Anatomy, tensors: Mapping[str, Stage]) -> None:
    """``(B, n_q, 1, h) + (B, 1, n_k, h) -> (B, n_q, n_k, h) -> tanh -> v -> (B, n_q, n_k)``.

    Args:
        digest: of the result that the tensors are from.
    """
    sums = tensors["sums"]
    sizes = dict(zip(sums.axes, sums.values.shape, strict=True))
    lead = " ".join(sums.axes[:-3])
    steps = (
        Shape(gettext("queries, with a new axis"), f"{lead} n_q (n_k) h", into=2),
        Shape(gettext("keys, with a new axis"), f"{lead} (n_q) n_k h"),
        Shape(gettext("their sum, both stretched; then tanh"), f"{lead} n_q n_k h"),
        Shape(gettext("times v, the last axis summed away"), f"{lead} n_q n_k"),
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
    words = gettext("; then ").join(step.title for step in steps)
    charts.show(
        key,
        lambda: shape_flow(steps, sizes, width=_FLOW_WIDTH),
        gettext("Shapes: {steps}", steps=words),
    )


def _table(steps: Sequence[Shape], where: Sequence[tuple[tuple[int, ...], float]]) -> None:
    value = gettext("Value")
    frame = pd.DataFrame(
        {
            gettext("Shape"): [f"({', '.join(step.axes.split())})" for step in steps],
            gettext("Index"): [f"[{', '.join(map(str, index))}]" for index, _ in where],
            value: [number for _, number in where],
        }
    )
    shown.table(
        frame, hide_index=True, width="stretch",
        column_config={value: st.column_config.NumberColumn(format="%.4f")},
    )  # fmt: skip

"""Shapes that move in the anatomy: the additive broadcast, and heads cut apart and joined."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Literal, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from dashboard.charts import theme
from dashboard.charts.grid import boxes, positions
from dashboard.charts.summary import fixed
from dashboard.charts.values import draw_values
from dashboard.features.anatomy.chart import Matrix, Stage, prepare_matrix
from dashboard.features.anatomy.view import Anatomy
from dashboard.language import gettext
from dashboard.ui import charts, live, shown

_BLOCK, _LABEL, _GAP = 26, 20, 22  # px: a block, what its step is called, the room above that
_BETWEEN = 0.22  # of a block's width, between axes; blocks of one axis touch
_NARROW = 0.34  # of a block's width, what an axis of 1 leaves free at either side
_FLOW_WIDTH = 420  # px, of a column that holds a flow
_COLOURS = (*theme.PANEL_COLOURS.values(), theme.QUIET)
_INK = alt.ExprRef(theme.INK)


class Shape(NamedTuple):
    """A tensor's shape as it stands in one step, after what ``title`` says.

    The ``axes`` ``"B n H·d"`` are ``(B, n, H·d)``. A name in brackets, ``"(n)"``, is an axis of
    size 1 that stretches to ``n`` later. The step goes ``into`` that of this number, or the next.
    """

    title: str
    axes: str
    into: int | None = None

    @property
    def names(self) -> list[list[str]]:
        """Of every axis."""
        return [axis.split("·") for axis in self.axes.split()]


def shape_flow(steps: Sequence[Shape], sizes: Mapping[str, int]) -> alt.LayerChart:
    """Steps from top to bottom; every axis keeps its colour, and a band ties it to itself.

    Names take their colours in the order of ``sizes``; ValueError for one without a size.
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
    return theme.finished(alt.LayerChart(layer=layers), width=_FLOW_WIDTH, height=height)


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
                    step=number, name=name, one=one, colour=colours[name], left=left + margin,
                    right=left + 1 - margin, top=_top(number), bottom=_top(number) + _BLOCK,
                    label="1" if one else f"{name} = {sizes[name]}", shape=f"({shape})",
                )  # fmt: skip
                blocks.append(block)
                left += 1
            left += _BETWEEN
    return blocks


def _bands(steps: Sequence[Shape], blocks: Sequence[_Block]) -> list[alt.Chart]:
    places = {(block.step, block.name): block for block in blocks}
    ends: dict[str, list[tuple[float, float, float, str]]] = {}
    for upper in blocks:
        into = steps[upper.step].into
        lower = places.get((upper.step + 1 if into is None else into, upper.name))
        if lower is not None:
            band = f"{upper.step} {upper.name}"
            ends.setdefault(upper.colour, []).extend([
                (upper.left, upper.right, upper.bottom, band),
                (lower.left, lower.right, lower.top, band),
            ])  # fmt: skip
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
    said = [gettext("{step}: {shape}", step=step.title, shape=shapes[i])
            for i, step in enumerate(steps)]  # fmt: skip
    rows = [{"top": _top(i) - _LABEL / 2, "text": text} for i, text in enumerate(said)]
    return (
        alt.Chart(pd.DataFrame(rows))
        .mark_text(align="left", fontSize=theme.FONT_SIZE, color=_INK)
        .encode(x=alt.XValue(2), text="text:N")
        .properties(name="said")
    )


def heads(view: Anatomy, tensors: Mapping[str, Stage]) -> None:
    """``(B, n, H·d) -> (B, n, H, d) -> (B, H, n, d) -> (B·H, n, d)``, one number followed."""
    steps = (
        Shape(gettext("projected, all heads in one row"), "B n H·d"),
        Shape(gettext("reshape, each row cut into heads"), "B n H d"),
        Shape(gettext("transpose, heads before positions"), "B H n d"),
        Shape(gettext("reshape, every head a batch row"), "B·H n d"),
    )
    how = gettext("**How the shape moves**")
    said = gettext("Query and column under “Look at” choose it; its value never changes.")
    _follow(view, steps, (how, said), tensors["split_q"].values, tensors["linear_q"].values)


def joined(view: Anatomy, tensors: Mapping[str, Stage]) -> None:
    """The way back: ``(B·H, n, d) -> (B, H, n, d) -> (B, n, H, d) -> (B, n, H·d)``."""
    steps = (
        Shape(gettext("output of every head"), "B·H n d"),
        Shape(gettext("reshape, batch rows apart"), "B H n d"),
        Shape(gettext("transpose, positions before heads"), "B n H d"),
        Shape(gettext("reshape, heads side by side"), "B n H·d"),
    )
    how = gettext("**How the shape moves back**")
    _follow(view, steps, (how, ""), tensors["pooled"].values, tensors["merged"].values)


def _follow(
    view: Anatomy, steps: Sequence[Shape], words: tuple[str, str], cut: np.ndarray, row: np.ndarray
) -> None:
    """The shapes of all steps, and beside them where one number stands in each.

    ``words`` stand over both. ``cut`` is ``(B, H, n, d)``, and ``row`` the same with all heads in
    one row, ``(B, n, H·d)``.
    """
    batch, count, rows, size = cut.shape
    moves, follow = shown.columns(2, gap="large")
    with moves:
        shown.markdown(words[0])
        name = "heads" if words[1] else "joined"
        _flow(name, steps, {"B": batch, "n": rows, "H": count, "d": size})
    column = min(view.column, count * size - 1)
    head, inside = divmod(column, size)
    first, query = view.row, view.query
    places = {
        "B n H·d": ((first, query, column), row),
        "B n H d": ((first, query, head, inside), cut.swapaxes(1, 2)),
        "B H n d": ((first, head, query, inside), cut),
        "B·H n d": ((first * count + head, query, inside), cut.reshape(-1, rows, size)),
    }
    where = [places[step.axes] for step in steps]
    value = gettext("Value")
    frame = pd.DataFrame({
        gettext("Shape"): [f"({', '.join(step.axes.split())})" for step in steps],
        gettext("Index"): [f"[{', '.join(map(str, index))}]" for index, _ in where],
        value: [values[index] for index, values in where],
    })  # fmt: skip
    with follow:
        shown.markdown(gettext("**Where one number goes**"))
        if words[1]:
            shown.caption(words[1])
        shown.table(
            frame, hide_index=True, width="stretch",
            column_config={value: st.column_config.NumberColumn(format="%.4f")},
        )  # fmt: skip


def broadcast(
    digest: str, view: Anatomy, tensors: Mapping[str, Stage], sliders: Sequence[live.Slider]
) -> None:
    """``(B, n_q, 1, h) + (B, 1, n_k, h) -> (B, n_q, n_k, h) -> tanh -> v -> (B, n_q, n_k)``."""
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
    with numbers:
        live.words("traced", traced_words(view, tensors), sliders, "markdown")
        query, key = view.query, view.key
        show_matrix(
            f"anatomy {digest} trace {view.row} {view.head} {query} {key}",
            gettext("The additive score of query {query} and key {key}", query=query, key=key),
            traced(view, tensors), ("traced", live.standing(sliders)),
        )  # fmt: skip


def traced_words(view: Anatomy, tensors: Mapping[str, Stage]) -> str:
    """Which score is followed, and what it is."""
    at = {"query": view.query, "key": view.key}
    score = tensors["scores"].matrix(view.row, view.head)[view.query, view.key]
    title = gettext("**Query {query} against key {key}, hidden unit by hidden unit**", **at)
    return title + "\n" + gettext(
        "The last row sums to {score}, the score of query {query} and key {key}.",
        score=fixed(score, 4), **at,
    )  # fmt: skip


def traced(view: Anatomy, tensors: Mapping[str, Stage]) -> Matrix:
    """How the additive score of the query and the key that are looked at is made."""
    query, key = view.query, view.key
    features = tensors["features"].matrix(view.row, view.head)[query, key]
    vector = tensors["vector"].values
    rows = {
        f"W_q q{query}": tensors["projected_q"].matrix(view.row, view.head)[query],
        f"W_k k{key}": tensors["projected_k"].matrix(view.row, view.head)[key],
        gettext("sum"): tensors["sums"].matrix(view.row, view.head)[query, key], "tanh": features,
        "v": vector, "v · tanh": vector * features,
    }  # fmt: skip
    return Matrix(
        values=np.stack(list(rows.values())), rows=list(rows), columns=range(len(vector)),
        picked=(5, None), names=(gettext("number"), gettext("hidden unit")),
    )  # fmt: skip


def show_matrix(key: str, alt: str, drawn: Matrix, follows: tuple[str, Any] = ("", {})) -> None:
    """Draw numbers; ``follows`` as of :func:`~dashboard.ui.charts.show_filled`."""
    charts.show_filled(key, draw_values, lambda: prepare_matrix(drawn), alt, follows=follows)


def _flow(name: str, steps: Sequence[Shape], sizes: Mapping[str, int]) -> None:
    charts.show(
        f"anatomy {name} {sorted(sizes.items())}", lambda: shape_flow(steps, sizes),
        gettext("Shapes: {steps}", steps=gettext("; then ").join(step.title for step in steps)),
    )  # fmt: skip

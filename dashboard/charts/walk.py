"""An attention step as one chart: the number that is pointed at shows where it comes from.

Matrices stand in columns from left to right, or flow in lines on a narrow page; the browser
chooses one of these plans by its width.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.image import at
from dashboard.charts.labels import MOST_ROOM, displayed, room, wrapped
from dashboard.charts.lineage import Block, Lineage, Words, lineage
from dashboard.charts.live import PARAMETERS
from dashboard.charts.summary import Summary, fixed
from dashboard.charts.template import Prepared, Sources, values_of
from dashboard.language import gettext, gettext_noop

POINT = gettext_noop(
    "Point at a number, or tap it. Blue with a solid edge: what it is computed from. Orange with "
    "a broken edge: what it goes into. Below, the charts in words have all of it as a table."
)
_MOST = 8  # rows and columns of a matrix
_WIDE, _HIGH = 34, 24  # px, of a cell
_ABOVE, _GAP, _LINE = 34, 12, 17  # px: over a matrix, between two, of a line of text
_NARROW = 330  # px
_LETTER = 7.2  # px
_LOOKS: dict[str, dict[str, Any]] = {  # of what is marked; told apart without colours as well
    "from": {"stroke": theme.PANEL_COLOURS["a"], "fill": theme.PANEL_COLOURS["a"],
             "fillOpacity": 0.3, "strokeWidth": 2},
    "into": {"stroke": theme.PANEL_COLOURS["b"], "fill": theme.PANEL_COLOURS["b"],
             "fillOpacity": 0.2, "strokeWidth": 2, "strokeDash": [4, 3]},
    "self": {"stroke": theme.POINTER, "fillOpacity": 0, "strokeWidth": 3},
}  # fmt: skip
_LIVE = {"cells": ("text", "said"), "said": ("text",), PARAMETERS: ("heights",)}
Plan = Sequence[tuple[float, float]]  # where the blocks stand


def fits(tensors: Mapping[str, np.ndarray]) -> bool:
    """Whether a step can be drawn: its matrices are small, and no weight is dropped."""
    small = all(max(tensor.shape) <= _MOST for tensor in tensors.values())
    return small and np.array_equal(tensors["dropped"], tensors["weights"])


def prepare_walk(tensors: Mapping[str, np.ndarray], words: Words) -> Prepared[None]:
    """What :func:`draw_walk` draws; arguments as of :func:`~dashboard.charts.lineage.lineage`."""
    words = words._replace(queries=displayed(words.queries), keys=displayed(words.keys))
    made = lineage(tensors, words)
    blocks, cells = made
    plans = _flow(blocks), _columns(blocks)
    sizes = [*map(_size, blocks)]
    ends = [np.add(plan, sizes).max(axis=0) for plan in plans]
    said = [
        {"id": _id(made, place), "plan": plan,
         "text": "\n".join([cell.name, *wrapped(cell.said, letters, letters)])}
        for plan, letters in enumerate(int(width / _LETTER) for width in (_NARROW, ends[1][0]))
        for place, cell in enumerate(cells)
    ]  # fmt: skip
    below = [float(low) + _GAP for _, low in ends]
    lines = [1 + max(row["text"].count("\n") for row in said if row["plan"] == plan)
             for plan in (0, 1)]  # fmt: skip
    values = {
        "lefts": [f"{x:g}" for plan in plans for x, _ in plan],
        "tops": [f"{y:g}" for plan in plans for _, y in plan],
        "below": [f"{start:g}" for start in below],
        "heights": [f"{start + _LINE * n:g}" for start, n in zip(below, lines, strict=True)],
        "blocks": len(blocks), "widest": float(ends[1][0]),
    }  # fmt: skip
    lefts = [*map(_beside, blocks)]
    stand = [
        {"b": block, "x": lefts[block] + column * _WIDE, "y": float(_ABOVE + row * _HIGH)}
        for block, row, column, *_ in cells
    ]
    rows = {"cells": _cells(made, stand), "edges": _edges(made, stand), "labels": _labels(made),
            "said": said}  # fmt: skip
    tables = {name: pa.Table.from_pylist(each) for name, each in rows.items()}
    return Prepared(tables, None, values, _summary(made), live=_LIVE)


def draw_walk(data: Sources, _: None = None) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_walk` makes it, or names it.

    Before anything is pointed at, or tapped, the last number of the output is.
    """
    pointed = alt.selection_point(
        name="pointed", fields=["id"], on="rect:pointerover, rect:click", clear=False,
        toggle=False, empty=False, value=[{"id": 0}],
    )  # fmt: skip
    x, y = (f"toNumber({name}[plan * blocks + datum.b]) + datum.{axis}"
            for name, axis in (("lefts", "x"), ("tops", "y")))  # fmt: skip

    def boxes(chart: alt.Chart, name: str, **look: Any) -> alt.Chart:
        ends = f"{x} + 1", f"{y} + 1", f"{x} + {_WIDE - 1}", f"{y} + {_HIGH - 1}"
        return at(chart, *ends).mark_rect(**look).properties(name=name)

    def texts(chart: alt.Chart, name: str, x: str, y: str, **look: Any) -> alt.Chart:
        ink = {"color": alt.ExprRef(theme.INK), "baseline": "middle", "aria": False}
        placed = at(chart, x, y).mark_text(fontSize=theme.FONT_SIZE, **ink, **look)
        return placed.encode(text="text:N").properties(name=name)

    cells, edges, labels, said = (alt.Chart(data[n]) for n in ("cells", "edges", "labels", "said"))
    edges, said = edges.transform_filter(pointed), said.transform_filter(pointed)
    said, down = said.transform_filter("datum.plan == plan"), f"(datum.line + 0.5) * {_LINE}"
    said = said.transform_calculate(text="split(datum.text, '\\n')")
    said = said.transform_calculate(line="sequence(length(datum.text))")
    said = said.transform_flatten(["text", "line"])
    layers = [
        theme.ramp(),
        boxes(cells, "cells", fill=theme.QUIET, fillOpacity=0.14, cursor="crosshair")
        .encode(description=alt.Description("said:N"))
        .add_params(pointed),
        *(boxes(edges.transform_filter(f"datum.way == '{way}'"), way, aria=False, **look)
          for way, look in _LOOKS.items()),
        texts(cells, "numbers", f"{x} + {_WIDE / 2}", f"{y} + {_HIGH / 2}"),
        *(texts(labels.transform_filter(f"datum.align == '{align}'"), f"labels {align}", x, y,
                align=align, fontWeight=weight)
          for align, weight in (("left", 600), ("center", 400), ("right", 400))),
        *(texts(said.transform_filter(f"datum.line {which}"), name, "0",
                f"toNumber(below[plan]) + {down}", align="left", fontWeight=weight)
          for name, which, weight in (("name", "== 0", 600), ("arithmetic", "> 0", 400))),
    ]  # fmt: skip
    follow = {"plan": "width >= widest ? 1 : 0", "height": "toNumber(heights[plan])"}
    chart, values = alt.LayerChart(layer=layers), values_of(data)
    return theme.finished(chart, width=theme.WIDTH, params=values, expressions=follow)


def _beside(block: Block) -> float:
    return room(block.rows, MOST_ROOM) + 2


def _size(block: Block) -> tuple[float, float]:
    wide = _beside(block) + len(block.columns) * _WIDE
    return max(wide, len(block.title) * _LETTER * 1.15), _ABOVE + len(block.rows) * _HIGH


def _columns(blocks: Sequence[Block]) -> Plan:
    """A column for each group, in the middle of the tallest."""
    groups = [[*map(_size, group)] for _, group in groupby(blocks, lambda block: block.group)]
    heights = [sum(high + _GAP for _, high in group) for group in groups]
    plan, x = [], 0.0
    for group, height in zip(groups, heights, strict=True):
        y = (max(heights) - height) / 2
        for _, high in group:
            plan.append((x, y))
            y += high + _GAP
        x += max(wide for wide, _ in group) + _GAP
    return plan


def _flow(blocks: Sequence[Block]) -> Plan:
    """Lines, one or more for the blocks of the first groups, whose numbers belong together."""
    plan, x, y, low = [], 0.0, 0.0, 0.0
    for number, block in enumerate(blocks):
        wide, high = _size(block)
        begins = block.group != blocks[number - 1].group and block.group <= 3
        if number and (begins or x + wide > _NARROW):
            x, y = 0.0, low + _GAP
        plan.append((x, y))
        x, low = x + wide + _GAP, max(low, y + high)
    return plan


def _id(made: Lineage, place: int) -> int:
    """The last cell has 0, which is what is pointed at first."""
    return len(made.cells) - 1 - place


def _cells(made: Lineage, stand: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"id": _id(made, place), "text": _short(cell.value), "said": f"{cell.name}: {cell.said}",
         **stand[place]}
        for place, cell in enumerate(made.cells)
    ]  # fmt: skip


def _edges(made: Lineage, stand: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is marked where the cell ``id`` is pointed at: itself, and both ways of every pair."""
    pairs = [(child, child, "self") for child in range(len(made.cells))]
    for child, cell in enumerate(made.cells):
        for parent in cell.parents:
            pairs += [(child, parent, "from"), (parent, child, "into")]
    return [
        {"id": _id(made, one), "other": _id(made, other), "way": way, **stand[other]}
        for one, other, way in pairs
    ]


def _labels(made: Lineage) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for number, block in enumerate(made.blocks):
        left = _beside(block)
        rows.append({"b": number, "x": 0.0, "y": 9.0, "text": block.title, "align": "left"})
        rows += [{"b": number, "x": left - 4.0, "y": _ABOVE + (i + 0.5) * _HIGH, "text": text,
                  "align": "right"} for i, text in enumerate(block.rows)]  # fmt: skip
        rows += [{"b": number, "x": left + (i + 0.5) * _WIDE, "y": _ABOVE - 7.0, "text": text,
                  "align": "center"} for i, text in enumerate(block.columns)]  # fmt: skip
    return rows


def _short(value: float) -> str:
    """In the width of a cell."""
    if not np.isfinite(value):
        return "−∞" if value == -np.inf else "?"
    whole = value == round(value) and abs(value) < 10_000
    if whole or 0.005 <= abs(value) < 1_000:  # below, two digits would make it 0
        return fixed(value, 0 if whole else 2 if abs(value) < 10 else 1)
    return f"{value:.0e}".replace("e-0", "e-").replace("-", "−")


def _summary(made: Lineage) -> Summary:
    last = made.cells[-1]
    words = gettext("{name}: {arithmetic}.", name=last.name, arithmetic=last.said)
    rows = {gettext("Number"): [cell.name for cell in made.cells],
            gettext("How it is made"): [cell.said for cell in made.cells]}  # fmt: skip
    return Summary(words, lambda: pa.table(rows))

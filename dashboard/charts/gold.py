"""What a gold alignment says of the cells of a map, and the outlines of those that it links."""

from __future__ import annotations

from collections.abc import Iterable

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.grid import inset
from dashboard.charts.vega_text import quoted
from dashboard.language import gettext, gettext_noop

# As a tooltip says it, each in the visitor's language.
SURE, POSSIBLE = gettext_noop("gold"), gettext_noop("gold, possible")
OTHER = gettext_noop("not gold")

Cell = tuple[int, int]

_DASH = [4, 4]  # px, of a link that is possible only
_EDGE = 1.5  # px, of the dark line under a gold one, both sides together


def gold_cells(
    shape: tuple[int, int], sure: Iterable[Cell], possible: Iterable[Cell]
) -> np.ndarray:
    """What gold says of every cell, in words ``(queries, keys)``.

    Raises:
        ValueError: a cell ``(query, key)`` that is not there.
    """
    said = np.full(shape, gettext(OTHER), dtype=object)
    for cells, word in ((possible, POSSIBLE), (sure, SURE)):
        for query, key in cells:
            if not (0 <= query < shape[0] and 0 <= key < shape[1]):
                raise ValueError(
                    f"need outlined cells (query, key) of a map of {shape[0]} x {shape[1]}, "
                    f"got ({query}, {key})"
                )
            said[query, key] = gettext(word)
    return said


def gold_table(links: np.ndarray) -> pa.Table:
    """The cells that are linked: ``q``, ``k``, ``gold``, of what :func:`gold_cells` says."""
    query, key = np.nonzero(links != gettext(OTHER))
    return pa.table({"q": query, "k": key, "gold": pa.array(links[query, key], pa.string())})


def outlines(cells: alt.Chart, small: bool) -> list[alt.Chart]:
    """Gold cells within their sides: a line with a dark edge, broken where a link is possible.

    Args:
        cells: with places and tooltips; their column ``gold`` holds what :func:`gold_cells` says.
        small: whether cells have no room for thick lines.
    """
    thick = 1 if small else 2
    sure, possible, other = (quoted(gettext(word)) for word in (SURE, POSSIBLE, OTHER))
    return [
        cells.transform_filter(f"datum.gold {which}")
        .mark_rect(
            filled=False, aria=False, stroke=stroke, strokeWidth=wide, strokeDash=dash,
            **inset(thick),
        )
        .properties(name=name)
        for name, which, stroke, wide, dash in (
            ("edges", f"!== {other}", theme.GOLD_EDGE, thick + _EDGE, alt.Undefined),
            ("gold", f"=== {sure}", theme.GOLD, thick, alt.Undefined),
            ("possible", f"=== {possible}", theme.GOLD, thick, _DASH),
        )
    ]  # fmt: skip

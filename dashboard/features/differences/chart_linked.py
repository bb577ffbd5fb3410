"""Several maps of one sentence in one chart: the row that is pointed at in one is shown in all.

One view holds all maps, for two reasons: they share the row without a message to a server, and
their places are expressions of the view's width, so they stand side by side where there is room
and below each other where there is not. The view's height follows from that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import theme
from dashboard.charts.frames import below_0, rounded
from dashboard.charts.labels import MOST_ROOM, displayed, room
from dashboard.charts.summary import Summary, of_matrix
from dashboard.charts.template import Prepared, Sources, values_of
from dashboard.features.differences import chart_linked_layers as layers
from dashboard.language import gettext, together

MOST_CELLS = 2 * theme.MAX_RECTS  # of all maps: under the pointer only words change, no cell
_LEAST, _MOST = 256, 400  # px, the width of a map with its labels
_GAP = 20  # px, between maps
_CELL, _TALLEST = 34, 420  # px, the side of a cell, and of all rows together
_LETTER, _AROUND, _BETWEEN = 6.9, 10, 4  # px, of a word: a letter's mean width, margins, a gap
_FLAT = 16  # px, the room of level labels


@dataclass(frozen=True, kw_only=True)
class Tile:
    """One map of the chart.

    Args:
        letter: of its panel, whose colour it takes; of a difference as ``a − b``, in no colour.
        title, subtitle: what it is.
        weights: ``(queries, keys)``, NaN where masked.
        bars: ``(queries,)``, from 0 to 1, NaN for none: beside the rows of a difference, whose
            ``weights`` go from -1 to 1.
        notes: one per query, shown where that is the row; or none at all.
    """

    letter: str
    title: str
    weights: np.ndarray
    subtitle: str = ""
    bars: np.ndarray | None = None
    notes: Sequence[str] = ()


class LinkedShape(NamedTuple):
    """What a specification follows from: the ``count`` of maps, what they share, and whether one
    is a difference or has masked weights."""

    count: int
    sizes: layers.Sizes
    signed: bool
    masked: bool
    below: bool = False  # whether weights are below 0, besides differences


def prepare_linked(
    tiles: Sequence[Tile], query_labels: Sequence[object], key_labels: Sequence[object], *,
    start: int = 0,
) -> Prepared[LinkedShape]:  # fmt: skip
    """What :func:`draw_linked` draws: maps whose rows light up together.

    Args:
        tiles: maps of the same queries and keys.
        query_labels, key_labels: one per row and per column.
        start: the row that is shown before the pointer comes.

    Raises:
        ValueError: no tile, one whose weights, notes or bars do not fit the labels, or more than
            :data:`MOST_CELLS` cells.
    """
    queries, keys = displayed(query_labels), displayed(key_labels)
    _check(tiles, len(queries), len(keys))
    tables = {
        "cells": _cells(tiles, _flow(keys)), "titles": _table(tiles),
        "rows": _table(tiles, "q", len(queries)), "columns": _table(tiles, "k", len(keys)),
    }  # fmt: skip
    if signed := any(tile.bars is not None for tile in tiles):
        tables["bars"] = _bars(tiles)
    shape = LinkedShape(
        count=len(tiles), sizes=_sizes(tiles, queries, keys), signed=signed,
        masked=any(bool(np.isnan(tile.weights).any()) for tile in tiles),
        below=any(tile.bars is None and below_0(tile.weights) for tile in tiles),
    )  # fmt: skip
    told = {"queries": queries, "keys": keys, "start": int(start)}
    return Prepared(tables, shape, told, _summary(tiles, queries, keys))


def _summary(tiles: Sequence[Tile], queries: Sequence[str], keys: Sequence[str]) -> Summary:
    each = [of_matrix(tile.weights, queries, keys) for tile in tiles]
    words = [
        gettext("{title}: {words}", title=tile.title, words=one.words)
        for tile, one in zip(tiles, each, strict=True)
    ]

    def table() -> pa.Table:
        parts = []
        for tile, one in zip(tiles, each, strict=True):
            made = one.table()
            parts.append(made.add_column(0, gettext("map"), [[tile.title] * made.num_rows]))
        return pa.concat_tables(parts)

    return Summary(together(words), table)


def draw_linked(data: Sources, shape: LinkedShape) -> alt.LayerChart:
    """The maps of ``data``, as :func:`prepare_linked` makes them, or names them.

    Under each stand the keys as words, shaded by one row: that on which the pointer was last, or
    which was tapped, the parameter ``row``.
    """
    sizes, count = shape.sizes, shape.count
    chart = alt.LayerChart(
        layer=[
            *layers.ramps(shape.signed, shape.below),
            *layers.maps(data["cells"], sizes, masked=shape.masked),
            *layers.labels(data["rows"], data["columns"], sizes),
            *(layers.bars(data["bars"], sizes) if shape.signed else ()),
            *layers.titles(data["titles"], sizes),
            *layers.words(data["cells"], sizes),
        ]
    )
    follows = {
        "row": "isValid(pointed.q) ? pointed.q[0] : start",
        "fit": f"max(1, floor((width + {_GAP}) / {_LEAST + _GAP}))",
        # As few rows as there must be, and these as long as each other.
        "across": f"ceil({count} / ceil({count} / fit))",
        "tile": f"min((width + {_GAP}) / across - {_GAP}, {_MOST})",
        "pitch": f"tile + {_GAP}",
        "height": f"ceil({count} / across) * {sizes.pitch:g}",
    }
    width = count * (_LEAST + 44 + _GAP) - _GAP  # where no host stretches the chart
    return theme.finished(
        chart, width=width, height=sizes.pitch, params=values_of(data), expressions=follows
    )


def _check(tiles: Sequence[Tile], queries: int, keys: int) -> None:
    if not tiles or not queries * keys:
        raise ValueError(f"need maps with cells, got {len(tiles)} of {queries} x {keys}")
    for tile in tiles:
        fits = np.shape(tile.weights) == (queries, keys)
        fits &= tile.bars is None or np.shape(tile.bars) == (queries,)
        if not fits or len(tile.notes) not in (0, queries):
            raise ValueError(
                f"map {tile.letter}: need weights for {queries} queries and {keys} keys, and as "
                f"many notes and bars as queries, got weights of shape {np.shape(tile.weights)}"
            )
    if len(tiles) * queries * keys > MOST_CELLS:
        raise ValueError(gettext(
            "need at most {most:,} cells in {maps} maps, got {queries} x {keys} each",
            most=MOST_CELLS, maps=len(tiles), queries=queries, keys=keys,
        ))  # fmt: skip


def _sizes(tiles: Sequence[Tile], queries: list[str], keys: list[str]) -> layers.Sizes:
    query_room = room(queries, MOST_ROOM)
    beside = layers.BESIDE if any(tile.bars is not None for tile in tiles) else 0
    level = room(keys, MOST_ROOM) <= min(_CELL, (_LEAST - query_room - beside) / len(keys))
    return layers.Sizes(
        queries=len(queries), keys=len(keys), cell=_CELL, row=min(_CELL, _TALLEST / len(queries)),
        query_room=query_room, key_room=_FLAT if level else room(keys, MOST_ROOM), level=level,
        lines=_flow(keys)[-1][1] + 1,
    )  # fmt: skip


def _flow(words: Sequence[str]) -> list[tuple[float, int, float]]:
    """Left, line and width of every word, in lines as wide as the narrowest map."""
    found: list[tuple[float, int, float]] = []
    left, line = 0.0, 0
    for word in words:
        wide = round(min(len(word) * _LETTER + _AROUND, _LEAST), 1)
        if left and left + wide > _LEAST:
            left, line = 0.0, line + 1
        found.append((left, line, wide))
        left = round(left + wide + _BETWEEN, 1)
    return found


def _table(tiles: Sequence[Tile], name: str = "", count: int = 1) -> pa.Table:
    """Rows for each tile, numbered by ``name``, with what marks need to know of the tile."""
    return pa.Table.from_pylist([
        {
            "tile": number, "letter": tile.letter, "title": tile.title,
            "subtitle": tile.subtitle,
            "signed": tile.bars is not None or below_0(tile.weights),
            "beside": layers.BESIDE if tile.bars is not None else 0,
            **({name: index} if name else {}),
        }
        for number, tile in enumerate(tiles)
        for index in range(count)
    ])  # fmt: skip


def _cells(tiles: Sequence[Tile], flow: Sequence[tuple[float, int, float]]) -> pa.Table:
    """A row per cell; with the place of its key's word, and in the first cell the row's note."""
    values = np.stack([np.asarray(tile.weights, dtype=np.float64) for tile in tiles])
    count, queries, keys = values.shape
    number, query, key = (axis.ravel() for axis in np.indices(values.shape))
    notes = [
        tile.notes[q] if tile.notes and k == 0 else ""
        for tile in tiles for q in range(queries) for k in range(keys)
    ]  # fmt: skip
    left, line, wide = np.tile(np.array(flow).T, count * queries)
    table = _table(tiles).select(["tile", "letter", "signed", "beside"]).take(number)
    columns = {
        "q": query, "k": key, "value": pa.array(rounded(values.ravel()), from_pandas=True),
        "word_left": left, "word_line": line, "word_width": wide, "note": notes,
    }  # fmt: skip
    return pa.table({**dict(zip(table.column_names, table.columns, strict=True)), **columns})


def _bars(tiles: Sequence[Tile]) -> pa.Table:
    bars = [
        {"tile": number, "signed": True, "beside": layers.BESIDE, "q": q, "bar": round(bar, 4)}
        for number, tile in enumerate(tiles)
        for q, bar in enumerate([] if tile.bars is None else tile.bars.tolist())
        if np.isfinite(bar)
    ]
    schema = pa.schema([("tile", pa.int64()), ("signed", pa.bool_()), ("beside", pa.int64()),
                        ("q", pa.int64()), ("bar", pa.float64())])  # fmt: skip
    return pa.Table.from_pylist(bars, schema)

"""Several maps of one sentence in one chart: the row that is pointed at in one is shown in all.

One view holds all maps, for two reasons: they share the row without a message to a server, and
their places are expressions of the view's width, so they stand side by side where there is room
and below each other where there is not. The view's height follows from that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.frames import rounded
from dashboard.charts.labels import MOST_ROOM, displayed, room
from dashboard.features.differences import chart_linked_labels as linked_labels
from dashboard.features.differences import chart_linked_layers as layers

MOST_CELLS = 2 * theme.MAX_RECTS  # of all maps: under the pointer only words change, no cell
_LEAST, _MOST = 256, 400  # px, the width of a map with its labels
_GAP = 20  # px, between maps
_CELL, _TALLEST = 34, 420  # px, the side of a cell, and of all rows together
_LETTER, _AROUND, _BETWEEN = 6.3, 10, 4  # px, of a word: a letter's mean width, margins, a gap
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


def linked_maps(
    tiles: Sequence[Tile],
    query_labels: Sequence[object],
    key_labels: Sequence[object],
    *,
    start: int = 0,
    vmax: float = 1.0,
    width: int = 0,
) -> alt.LayerChart:
    """Maps whose rows light up together; under each the keys as words, shaded by that row.

    The row is the one that the pointer was on last, or that was tapped: the parameter ``row``.

    Args:
        tiles: maps of the same queries and keys.
        query_labels, key_labels: one per row and per column.
        start: the row that is shown before the pointer comes.
        vmax: the end of the colour scale of weights; that of differences is 1.
        width: px, where no host stretches the chart; all maps side by side where 0.

    Raises:
        ValueError: no tile, one whose weights, notes or bars do not fit the labels, or more than
            :data:`MOST_CELLS` cells.
    """
    queries, keys = displayed(query_labels), displayed(key_labels)
    _check(tiles, len(queries), len(keys))
    count = len(tiles)
    sizes = _sizes(tiles, queries, keys)
    signed = [tile.bars is not None for tile in tiles]
    names = [{"letter": t.letter, "title": t.title, "subtitle": t.subtitle} for t in tiles]
    bars = [
        {"tile": number, "q": query, "bar": round(float(bar), 4)}
        for number, tile in enumerate(tiles)
        for query, bar in enumerate(() if tile.bars is None else tile.bars)
        if np.isfinite(bar)
    ]
    chart = alt.LayerChart(
        layer=[
            *layers.ramps(vmax, any(signed)),
            *layers.maps(_cells(tiles), sizes),
            *linked_labels.labels(count, sizes),
            *(linked_labels.bars(pd.DataFrame(bars), sizes) if bars else ()),
            *linked_labels.titles(pd.DataFrame(names), sizes),
            *layers.words(_cells(tiles), sizes),
        ]
    )
    follows = {
        "row": f"isValid(pointed.q) ? pointed.q[0] : {int(start)}",
        "fit": f"max(1, floor((width + {_GAP}) / {_LEAST + _GAP}))",
        # As few rows as there must be, and these as long as each other.
        "across": f"ceil({count} / ceil({count} / fit))",
        "tile": f"min((width + {_GAP}) / across - {_GAP}, {_MOST})",
        "pitch": f"tile + {_GAP}",
        "height": f"ceil({count} / across) * {sizes.pitch:g}",
    }
    lists = {
        "queries": queries,
        "keys": keys,
        "letters": [tile.letter for tile in tiles],
        "signed": signed,
        "beside": [linked_labels.BESIDE if one else 0 for one in signed],
        "places": [list(place) for place in _flow(keys)],
        "notes": [list(tile.notes) for tile in tiles],
    }
    natural = count * (_LEAST + 44 + _GAP) - _GAP
    return theme.finished(
        chart, width=width or natural, height=sizes.pitch, params=lists, expressions=follows
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
        raise ValueError(
            f"need at most {MOST_CELLS:,} cells in {len(tiles)} maps, got {queries} x {keys} each"
        )


def _sizes(tiles: Sequence[Tile], queries: list[str], keys: list[str]) -> layers.Sizes:
    query_room = room(queries, MOST_ROOM)
    beside = linked_labels.BESIDE if any(tile.bars is not None for tile in tiles) else 0
    level = room(keys, MOST_ROOM) <= min(_CELL, (_LEAST - query_room - beside) / len(keys))
    return layers.Sizes(
        queries=len(queries),
        keys=len(keys),
        cell=_CELL,
        row=min(_CELL, _TALLEST / len(queries)),
        query_room=query_room,
        key_room=_FLAT if level else room(keys, MOST_ROOM),
        level=level,
        lines=_flow(keys)[-1][1] + 1,
    )


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


def _cells(tiles: Sequence[Tile]) -> pd.DataFrame:
    values = np.stack([np.asarray(tile.weights, dtype=np.float64) for tile in tiles])
    tile, query, key = (axis.ravel() for axis in np.indices(values.shape))
    return pd.DataFrame({"tile": tile, "q": query, "k": key, "value": rounded(values.ravel())})

"""Every map of one kind of attention: the chosen one large, all of them small below it.

One view holds both, so a click on a small map enlarges it at once, in the browser. The small ones
are images whose places are expressions of the view's width; the large one's cells look their
weights up in a list that travels with the chart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme
from dashboard.charts.cells import Plot, cell_layers, picture_layers
from dashboard.charts.codes import SIGNS, looked_up, written
from dashboard.charts.frames import MapFrame
from dashboard.charts.gold import Cell, gold_cells
from dashboard.charts.heatmap import CELL, map_plot, masked_rows
from dashboard.charts.image import PICK, pictures
from dashboard.charts.map_picture import pointed_layers, pointed_title
from dashboard.charts.places import at

MEAN = "mean"
_SIDE = 54  # px, the height of a small map
_LABEL, _GAP = 13, 4  # px, above a small map for its name, and beside it
_ABOVE, _BESIDE = 14, 15  # px, between large and small maps, and for the names of layers
_WIDEST, _NARROWEST = 2.0, 0.7  # of a small map's height


class _Map(NamedTuple):
    map: str
    name: str  # over the large map
    layer: str
    head: str
    short: str  # over the small one, where there is no room for its head
    weights: np.ndarray


def head_grid(
    frames: Sequence[MapFrame],
    *,
    chosen: str = "",
    outlined: Iterable[Cell] | None = None,
    possible: Iterable[Cell] = (),
    vmax: float = 1.0,
    cell: int = CELL,
    query_room: int | None = None,
    key_room: int | None = None,
    height: int = 0,
    width: int = theme.WIDTH,
) -> alt.LayerChart:
    """The maps of one kind, a row per layer and a column per head, under the chosen one.

    The means over the heads of a layer come first in its row. They are a summary: no head need
    look like its layer's mean. The selection ``head`` tells by ``map`` what is clicked.

    Args:
        frames: of all layers, with the same queries and keys.
        chosen: one of :func:`map_names`; :func:`usual_map` where it is none of them.
        outlined, possible: cells of the large map, as of
            :func:`~dashboard.charts.heatmap.attention_heatmap`.
        vmax: the end of the colour scale of all maps.
        cell, query_room, key_room: as of :func:`~dashboard.charts.heatmap.attention_heatmap`.
        height: px, at least, from the large map's top to its end: equal ones align panels.
        width: px, of the whole chart where the host does not stretch it.

    Raises:
        ValueError: no maps, maps of different shapes, or outlined cells that they do not have.
    """
    shapes = [frame.weights.shape[1:] for frame in frames]
    if len(set(shapes)) != 1:
        raise ValueError(f"need maps of one shape (queries, keys), got {shapes}")
    drawn = _maps(frames)
    first = frames[0]
    labels = (first.query_labels, first.key_labels)
    plot = map_plot(drawn[0].weights[None], labels, (query_room, key_room), cell, width=width)
    top = max(plot.height, height) + _ABOVE
    small = _thumbnails(drawn, vmax)
    values = np.stack([one.weights for one in drawn])
    links = None if outlined is None else gold_cells(shapes[0], outlined, possible)
    title = alt.ExprRef("names[shown]")
    picture = small.transform_filter("datum.map == chosen")
    if values[0].size <= theme.MOST_ELEMENTS:
        large = _cells(values, plot, vmax, links)
    elif values[0].size <= theme.MAX_RECTS:
        large = pointed_layers(picture, plot, vmax, links)
        title = pointed_title("names[shown]", plot, "weights[shown]")
    else:
        large = picture_layers(picture, plot, vmax, links)
    start = chosen if chosen in map_names(frames) else usual_map(frames)
    chart = alt.LayerChart(layer=[*large, *_grid(small, drawn, plot, top, start)])
    chosen_map = {
        "chosen": f"isValid(head.map) ? head.map[0] : '{start}'",
        "shown": "indexof(maps, chosen)",
    }
    lists = {
        "queries": plot.queries,
        "keys": plot.keys,
        "maps": [one.map for one in drawn],
        "names": [one.name for one in drawn],
        "layers": [one.layer for one in drawn],
        "heads": [one.head for one in drawn],
        "weights": [written(one.weights) for one in drawn],
        "signs": SIGNS,
    }
    return theme.finished(
        chart,
        width=width,
        height=top + grid_height(frames) - _ABOVE,
        title=alt.Title(title),
        params=lists,
        expressions=chosen_map,
        marks=values[0].size,
    )


def map_names(frames: Sequence[MapFrame]) -> list[str]:
    """What can be enlarged: ``layer.head`` counted from 1, or ``layer.mean`` for all its heads."""
    found = []
    for frame in sorted(frames, key=lambda frame: frame.layer):
        heads = len(frame.weights)
        means = [MEAN] if heads > 1 else []
        found += [f"{frame.layer + 1}.{head}" for head in (*means, *range(1, heads + 1))]
    return found


def usual_map(frames: Sequence[MapFrame]) -> str:
    """The last layer: the mean of its heads, or its only head."""
    last = max(frames, key=lambda frame: frame.layer)
    return map_names([last])[0]


def grid_height(frames: Sequence[MapFrame]) -> int:
    """Px that :func:`head_grid` takes below the large map; 0 where there is only one map."""
    return _ABOVE + len(frames) * (_SIDE + _LABEL) if len(map_names(frames)) > 1 else 0


def _maps(frames: Sequence[MapFrame]) -> list[_Map]:
    found = []
    for frame in sorted(frames, key=lambda frame: frame.layer):
        layer, heads = f"{frame.layer + 1}", len(frame.weights)
        if heads > 1:
            name = f"layer {layer} · mean of {heads} heads, a summary"
            mean = frame.weights.astype(np.float64).mean(axis=0)
            found.append(_Map(f"{layer}.{MEAN}", name, layer, f"mean of {heads}", "avg", mean))
        for head, weights in enumerate(frame.weights, start=1):
            key, name = f"{layer}.{head}", f"layer {layer} · head {head}"
            found.append(_Map(key, name, layer, f"{head}", f"{head}", weights))
    return [one._replace(weights=masked_rows(one.weights)) for one in found]


def _thumbnails(drawn: Sequence[_Map], vmax: float) -> alt.Chart:
    """The data of the small maps: what each is, its row and column, its picture."""
    layers = list(dict.fromkeys(one.layer for one in drawn))
    rows = []
    for one in drawn:
        row = layers.index(one.layer)
        column = sum(other["row"] == row for other in rows)
        urls, _ = pictures(one.weights, vmax)
        long = MEAN if one.map.endswith(MEAN) else f"head {one.head}"
        names = {"name": one.name, "layer": f"layer {one.layer}", "long": long, "short": one.short}
        rows.append({"map": one.map, "row": row, "column": column, **names, **urls})
    return alt.Chart(pd.DataFrame(rows))


def _cells(
    values: np.ndarray, plot: Plot, vmax: float, links: np.ndarray | None
) -> list[alt.Chart]:
    """The cells of the chosen map, each with the weight that it has there."""
    queries, keys = values.shape[1:]
    query, key = (axis.ravel() for axis in np.indices((queries, keys)))
    table = pd.DataFrame({"q": query, "k": key})
    if links is not None:
        table["gold"] = links.ravel()
    source = looked_up(alt.Chart(table), "weights[shown]", keys).transform_calculate(
        layer="layers[shown]", head="heads[shown]"
    )
    more = [alt.Tooltip("layer:N"), alt.Tooltip("head:N")]
    return cell_layers(
        plot, theme.sequential(vmax), source=source, more=more,
        masked=bool(np.isnan(values).any()), gold=links is not None,
    )  # fmt: skip


def _grid(
    small: alt.Chart, drawn: Sequence[_Map], plot: Plot, top: float, start: str
) -> list[alt.Chart]:
    """The small maps with their names, a frame around the chosen one, and what can be clicked."""
    across = max(sum(one.layer == other.layer for other in drawn) for one in drawn)
    shape = np.clip(len(plot.keys) / len(plot.queries), _NARROWEST, _WIDEST)
    left = _BESIDE - plot.query_room  # of the first column, under the large map's labels
    pitch = f"min((width - {left}) / {across}, {shape * _SIDE + _GAP:g})"
    x = f"{left} + datum.column * {pitch}"
    y = f"{top + _LABEL} + datum.row * {_SIDE + _LABEL}"
    wide = f"({pitch} - {_GAP})"
    image = (
        at(small.transform_calculate(url=PICK), x, y)
        .mark_image(
            width=alt.ExprRef(wide), height=_SIDE, aspect=False, smooth=False,
            align="left", baseline="top", aria=False,
        )
        .encode(url=alt.Url("url:N"))
        .properties(name="thumbnails")
    )  # fmt: skip
    ink = alt.ExprRef(theme.INK)
    name = (
        at(small, x, f"{y} - 2")
        .mark_text(
            align="left", baseline="bottom", fontSize=theme.FONT_SIZE - 1, fill=ink, aria=False
        )
        .encode(text=alt.TextValue(alt.ExprRef(f"{wide} >= 38 ? datum.long : datum.short")))
    )
    layer = (
        at(small, f"{-plot.query_room}", f"{y} + {_SIDE / 2}")
        .transform_filter("datum.column == 0")
        .mark_text(
            angle=270, align="center", baseline="top", fontSize=theme.FONT_SIZE - 1, fill=ink,
            aria=False,
        )
        .encode(text="layer:N")
    )  # fmt: skip
    picked = alt.selection_point(
        name="head", fields=["map"], on="@heads_marks:click", clear=False, toggle=False,
        empty=False, value=[{"map": start}],
    )  # fmt: skip
    is_chosen = "datum.map == chosen"
    click = (
        at(small, x, y, f"{x} + {wide}", f"{y} + {_SIDE}")
        .mark_rect(fill="white", fillOpacity=0, cursor="pointer")
        .encode(
            stroke=alt.condition(is_chosen, alt.value(theme.POINTER), alt.value(theme.QUIET)),
            strokeWidth=alt.condition(is_chosen, alt.value(2), alt.value(0.5)),
            tooltip=alt.Tooltip("name:N", title="enlarge"),
            description=alt.Description("name:N"),
        )
        .add_params(picked)
        .properties(name="heads")
    )
    return [image, name, layer, click]

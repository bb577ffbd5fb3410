"""Every map of one kind of attention: the chosen one large, all of them small below it.

One view holds both, so a click on a small map enlarges it at once, in the browser: its cells look
their weights up in a list that travels with the chart. Of many cells none is a mark of its own:
transparent rectangles tell which cell the pointer is on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import altair as alt
import numpy as np
import pyarrow as pa

from dashboard.charts import cells, theme
from dashboard.charts import frames as map_frames
from dashboard.charts.frames import HeadMap, MapFrame, map_names, map_title, named_maps, usual_map
from dashboard.charts.grid import hover
from dashboard.charts.image import PICK, SIGNS, at, looked_up, pictures, read, span, written
from dashboard.charts.summary import of_matrix
from dashboard.charts.template import Data, Prepared, Sources, chart_maker, values_of
from dashboard.language import gettext, gettext_noop, together


def _pointed_layers(
    source: alt.Chart, hit: Data, plot: cells.Plot, gold: Data | None = None
) -> list[alt.Chart]:
    """The one row of ``source`` as an image, and frames around the row and column pointed at.

    The selection ``hover`` tells by ``left`` and ``top`` a cell of the :func:`_hit_table`.
    """
    base = (
        alt.Chart(alt.sequence(0, 1, as_="one"))
        .transform_filter("isValid(hover.top)")
        .mark_rect(filled=False, stroke=theme.POINTER, strokeWidth=1, aria=False)
    )
    top, bottom = (f"{end}(hover.top[0]) * side" for end in ("floor", "ceil"))
    left, right = (f"{end}(hover.left[0]) * {plot.across}" for end in ("floor", "ceil"))
    frames = [
        at(base, "0", top, plot.end, bottom).properties(name="row"),
        at(base, left, "0", right, cells.HEIGHT).properties(name="column"),
    ]
    unseen = (
        alt.Chart(hit)
        .mark_rect(
            width=alt.ExprRef(plot.across), height=alt.ExprRef("side"), fill="white",
            fillOpacity=0, aria=False,
        )
        .encode(x="left:Q", y="top:Q")
        .add_params(hover("left", "top"))
        .properties(name="hit")
    )  # fmt: skip
    return [*cells.picture_layers(source, plot, gold), unseen, *frames]


def _pointed_title(name: str, weights: str, plot: cells.Plot) -> alt.ExprRef:
    """The expression of a name, and while the pointer is on a cell of its words and its weight."""
    query, key = "floor(hover.top[0])", "floor(hover.left[0])"
    place = f"2 * ({query} * length(keys) + {key})"
    shown = cells.shown_weight(
        read(f"substring({weights}, {place}, {place} + 2)", plot.signed, plot.far)
    )
    weight = f"queries[{query}] + ' → ' + keys[{key}] + ': ' + ({shown})"
    return alt.ExprRef(f"isValid(hover.top) ? {name} + ' · ' + {weight} : {name}")


_ABOVE = 14  # px, between large and small maps
_SIDE = 54  # px, the height of a small map
_LABEL, _GAP = 18, 4  # px, above a small map for its name, and beside it
_LONG = 2.9  # of the room for its height, the width that a long name needs
_WIDEST, _NARROWEST = 2.0, 0.7  # of a small map's height
_LEFT = "(name_room + 2 - query_room)"  # of the first column, under the large map's labels


class GridShape(NamedTuple):
    """What a specification follows from: the large map's plot, all maps, the first large one."""

    plot: cells.Plot
    maps: tuple[HeadMap, ...]
    start: str


def prepare_head_grid(
    frames: Sequence[MapFrame], *, chosen: str = "", outlined: Iterable[cells.Cell] | None = None,
    possible: Iterable[cells.Cell] = (), vmax: float = 1.0, cell: int = cells.CELL,
    query_room: int | None = None, key_room: int | None = None, height: int = 0,
    width: int = theme.WIDTH, log: bool = False, signed: bool = False,
    quantity: str = gettext_noop("weight"),
) -> Prepared[GridShape]:  # fmt: skip
    """The maps of one kind, a row per layer and a column per head, under the chosen one.

    The means over the heads of a layer come first in its row. They are a summary: no head need
    look like its layer's mean. The selection ``head`` tells by ``map`` what is clicked.

    Args:
        frames: of all layers, with the same queries and keys.
        chosen: one of :func:`map_names`; :func:`usual_map` where it is none of them.
        outlined, possible, cell, query_room, key_room: of the large map, as of
            :func:`~dashboard.charts.heatmap.prepare_heatmap`.
        vmax, log: the end of the colour scale of all maps; whether it is logarithmic.
        quantity: what a cell holds.
        signed: whether the scale has two sides, as it has wherever a weight is or may be below 0.
        height: px, at least, from the large map's top to its end: equal ones align panels.
        width: px, of the whole chart where the host does not stretch it.

    Raises:
        ValueError: no maps, maps of different shapes, or outlined cells that they do not have.
    """
    if len({frame.weights.shape[1:] for frame in frames}) != 1:
        got = [frame.weights.shape[1:] for frame in frames]
        raise ValueError(f"need maps of one shape (queries, keys), got {got}")
    drawn, weights = zip(*named_maps(frames), strict=True)
    values = np.stack(weights)
    _, queries, keys = values.shape
    labels = (frames[0].query_labels, frames[0].key_labels)
    rooms = query_room, key_room
    signed = signed or map_frames.any_signed(frames)
    wanted = cells.Plot(quantity, width=width, log=log, signed=signed)
    plot, sizes = cells.map_plot(values[:1], labels, rooms, cell, wanted)
    plot = plot._replace(far=bool((values > cells.FAR).any()))
    links = None if outlined is None else cells.gold_cells((queries, keys), outlined, possible)
    top = max(sizes.height, height) + _ABOVE
    shape = GridShape(
        plot=plot._replace(masked=bool(np.isnan(values).any()), gold=links is not None),
        maps=drawn, start=chosen if chosen in map_names(frames) else usual_map(frames),
    )  # fmt: skip
    told = {**sizes.values, "vmax": theme.checked_end(vmax), "top": float(top)}
    told["height"] = top + grid_height(frames) - _ABOVE
    told |= {"name_room": float(_LABEL), "rows": float(len(frames))}
    tables = {"maps": _small_table(drawn, values, vmax, plot)}
    reach = span(values) if signed or plot.far else None
    told |= {} if reach is None else {"span": reach}
    large = [one.map for one in drawn].index(shape.start)
    summary = of_matrix(values[large], *labels, quantity=quantity)
    named = gettext("The large map is {map_title}.", map_title=map_title(shape.start))
    summary = replace(summary, words=together((named, summary.words)))
    query, key = (axis.ravel() for axis in np.indices((queries, keys)))
    if queries * keys <= theme.MOST_ELEMENTS:
        texts = pa.array(written(each, reach, signed) for each in values)
        tables["maps"] = tables["maps"].append_column("weights", texts)
        tables["cells"] = pa.table({"q": query, "k": key})
        if links is not None:
            said = pa.array(links.ravel(), pa.string())
            tables["cells"] = tables["cells"].append_column("gold", said)
        return Prepared(tables, shape, told, summary)
    if links is not None:
        tables["gold"] = cells.gold_table(links)
    if queries * keys <= theme.MAX_RECTS:
        # The middle of each cell: the browser is twice as quick to place half the numbers.
        tables["hit"] = pa.table({"left": key + 0.5, "top": query + 0.5})
        told["weights"] = [written(each, reach, signed) for each in values]
    return Prepared(tables, shape, told, summary)


def draw_head_grid(data: Sources, shape: GridShape) -> alt.LayerChart:
    """The chart of ``data``, as :func:`prepare_head_grid` makes it, or names it."""
    plot, small = shape.plot, alt.Chart(data["maps"])
    title = alt.ExprRef("names[shown]")
    picture = small.transform_filter("datum.map == chosen")
    values = values_of(data)
    height = values.pop("height")
    fields = ("map", "name", "layer", "head")
    lists = {f"{field}s": [getattr(one, field) for one in shape.maps] for field in fields}
    if "cells" in data:
        large = _cells(data, shape)
    elif "hit" in data:
        large = _pointed_layers(picture, data["hit"], plot, data.get("gold"))
        title = _pointed_title("names[shown]", "weights[shown]", plot)
    else:
        large = cells.picture_layers(picture, plot, data.get("gold"))
    across = max(one.column for one in shape.maps) + 1
    ratio = f"clamp(length(keys) / length(queries), {_NARROWEST}, {_WIDEST})"
    expressions = {
        "chosen": f"isValid(head.map) ? head.map[0] : '{shape.start}'",
        "shown": "indexof(maps, chosen)",
        "pitch": f"min((width - {_LEFT}) / {across}, {ratio} * {_SIDE} + {_GAP})",
    }
    return theme.finished(
        alt.LayerChart(layer=[*large, *_grid(small, shape)]), width=plot.width, height=height,
        title=alt.Title(title), params={**lists, "signs": SIGNS, **values},
        expressions=expressions, canvas="cells" not in data,
    )  # fmt: skip


head_grid = chart_maker(prepare_head_grid, draw_head_grid)


def grid_height(frames: Sequence[MapFrame]) -> int:
    """Px that :func:`head_grid` takes below the large map; 0 where there is only one map."""
    return _ABOVE + len(frames) * (_SIDE + _LABEL) if len(map_names(frames)) > 1 else 0


def _small_table(
    drawn: Sequence[HeadMap], values: np.ndarray, vmax: float, plot: cells.Plot
) -> pa.Table:
    rows = []
    for one, weights in zip(drawn, values, strict=True):
        is_mean = one.map.endswith(map_frames.MEAN)
        long = gettext(map_frames.MEAN) if is_mean else gettext("head {head}", head=one.head)
        layer = gettext("layer {layer}", layer=one.layer)
        names = {"name": one.name, "layer": layer, "long": long, "short": one.short}
        urls, _ = pictures(weights, vmax, plot.log, plot.signed)
        rows.append({"map": one.map, "row": one.row, "column": one.column, **names, **urls})
    return pa.Table.from_pylist(rows)


def _cells(data: Sources, shape: GridShape) -> list[alt.Chart]:
    source = alt.Chart(data["cells"]).transform_calculate(
        map="chosen", layer="layers[shown]", head="heads[shown]"
    )
    source = source.transform_lookup("map", from_=alt.LookupData(data["maps"], "map", ["weights"]))
    more = [
        alt.Tooltip("layer:N", title=gettext("layer")),
        alt.Tooltip("head:N", title=gettext("head")),
    ]
    looked = looked_up(source, "datum.weights", shape.plot.signed, shape.plot.far)
    return cells.cell_layers(shape.plot, looked, more)


def _grid(small: alt.Chart, shape: GridShape) -> list[alt.Chart]:
    x = f"{_LEFT} + datum.column * pitch"
    y = f"top + name_room + datum.row * ({_SIDE} + name_room)"
    wide = f"(pitch - {_GAP})"
    image = (
        at(small.transform_calculate(url=PICK), x, y)
        .mark_image(
            width=alt.ExprRef(wide), height=_SIDE, aspect=False, smooth=False,
            align="left", baseline="top", aria=False,
        )
        .encode(url=alt.Url("url:N"))
        .properties(name="thumbnails")
    )  # fmt: skip
    called = f"{wide} >= {_LONG} * name_room ? datum.long : datum.short"
    text = {"fontSize": theme.FONT_SIZE, "fill": alt.ExprRef(theme.INK), "aria": False}
    name = (
        at(small, x, f"{y} - 2")
        .mark_text(align="left", baseline="bottom", limit=alt.ExprRef(wide), **text)
        .encode(text=alt.TextValue(alt.ExprRef(called)))
        .properties(name="names")
    )
    layer = (
        at(small, "-query_room", f"{y} + {_SIDE / 2}")
        .transform_filter("datum.column == 0")
        .mark_text(angle=270, align="center", baseline="top", **text)
        .encode(text="layer:N")
    )
    picked = alt.selection_point(
        name="head", fields=["map"], on="@heads_marks:click", clear=False, toggle=False,
        empty=False, value=[{"map": shape.start}],
    )  # fmt: skip
    is_chosen = "datum.map == chosen"
    click = (
        at(small, x, y, f"{x} + {wide}", f"{y} + {_SIDE}")
        .mark_rect(fill="white", fillOpacity=0, cursor="pointer")
        .encode(
            stroke=alt.condition(is_chosen, alt.value(theme.POINTER), alt.value(theme.QUIET)),
            strokeWidth=alt.condition(is_chosen, alt.value(2), alt.value(0.5)),
            tooltip=alt.Tooltip("name:N", title=gettext("enlarge")),
            description=alt.Description("name:N"),
        )
        .add_params(picked)
        .properties(name="heads")
    )
    return [image, name, layer, click]

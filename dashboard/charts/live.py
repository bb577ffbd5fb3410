"""Charts that follow a slider while it moves, without a word from the server.

A *frame* is what a chart draws at one position of the slider: the columns of its tables that
change. All frames of a slider lie in the browser before it moves. A chart takes them by a signal
``live``, which listens to an event on the page's body; the object that it gets there is
described in ``live.js``. As soon as the server's own numbers for a position are here they are
drawn again: frames that lie between positions are near, these are exact.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import pyarrow as pa

from dashboard.records.sweep import MOST

Columns = Mapping[str, tuple[str, ...]]  # that change, by table
PARAMETERS = "parameters"  # the table of a chart's values: one row, a column each
OF, AT, ROW, EXACT = "live_of", "live_at", "live_row", "exact_"
PICTURES = ("light", "dark")  # columns of addresses of images, by the page's scheme
_MOVING, _KNOWN, _FRAME, _MOVED = "live_moving", "live_known", "live_frame", "live_moved_"
_DATUM = re.compile(r"datum\.(\w+)")
_TOLD = re.compile(rf"data\('{PARAMETERS}'\)\[0\]\.(\w+)")
_TOOLTIP = "live_told_"  # what is moved of a table, while the pointer is on the chart
_BEFORE = 0.25  # opacity of an exact picture whose slider has no pictures to show


def sent(tables: Mapping[str, pa.Table], columns: Columns) -> dict[str, pa.Table]:
    """The tables as :func:`following` reads them: with the numbers of rows, and exact columns."""
    found = dict(tables)
    for name in columns.keys() & tables.keys():
        table = tables[name]
        moved = {one: EXACT + one for one in columns[name] if one not in PICTURES}
        table = table.rename_columns([moved.get(one, one) for one in table.column_names])
        found[name] = table.append_column(ROW, pa.array(np.arange(len(table), dtype=np.int32)))
    return found


def following(made: dict[str, Any], chart: str, columns: Columns) -> dict[str, Any]:
    """The specification of layers, with frames instead of the columns while the slider moves.

    An expression costs every row of a table at every position. So parameters look up what all
    rows share, and change only where they find something else; and a layer reads only the columns
    that it names, behind the filters that need none of them.
    """
    number = f"indexof({OF}, isValid(live) ? live.of : '')"
    frames = f"live.tables[{json.dumps(chart)}]"
    told = f"({_MOVING} ? {frames}.{PARAMETERS}.\\1[0] : \\g<0>)"
    params = [{**one, "expr": _TOLD.sub(told, one["expr"])}
              if one["name"] in columns.get(PARAMETERS, ()) else one
              for one in made.get("params", ())]  # fmt: skip
    own = {
        _KNOWN: f"{number} >= 0 && isValid({frames})",
        _MOVING: f"{_KNOWN} && abs(live.at - toNumber({AT}[{number}])) > 1e-9",
        _FRAME: f"{_KNOWN} ? live.frame : -1",
    }
    layers: list[dict[str, Any]] = []
    for layer in made["layer"]:
        table = layer.get("data", made.get("data", {})).get("name")
        named = [one for one in columns.get(table, ()) if _names(layer, one)]
        if not named or table == PARAMETERS:
            layers.append(layer)
            continue
        own[_MOVED + table] = f"{_MOVING} ? {frames}.{table} : null"
        if _only_tells(layer, named):
            own[_TOOLTIP + table] = f"isValid(hover.q) ? {_MOVED}{table} : null"
            layers.append(_telling(layer, _TOOLTIP + table, named))
            continue
        if layer["mark"]["type"] == "image":
            own |= {_pictures(table, one): f"{_KNOWN} ? {frames}.{table}.{one} : null"
                    for one in PICTURES}  # fmt: skip
            layers.append(_strip(layer, table))
        layers.append(_layer(layer, table, named))
    listening = {"name": "live", "bind": {"element": "body", "event": f"live {chart}"}}
    follow = [{"name": name, "expr": expression} for name, expression in own.items()]
    return {**made, "params": [*params, listening, *follow], "layer": layers}


def _names(part: Mapping[str, Any], column: str) -> bool:
    return re.search(rf"\b{column}\b", json.dumps(part)) is not None


def _only_tells(layer: dict[str, Any], columns: Sequence[str]) -> bool:
    """Whether a layer names these only in what it tells where the pointer is."""
    drawn = {**layer, "encoding": {**layer.get("encoding", {}), "tooltip": None}}
    tooltip = layer.get("encoding", {}).get("tooltip")
    return "condition" in (tooltip or ()) and not any(_names(drawn, one) for one in columns)


def _telling(layer: dict[str, Any], told: str, columns: Sequence[str]) -> dict[str, Any]:
    """A layer that only tells of these columns: nothing of it is drawn anew while they move."""
    datum = re.compile(rf"datum\.({'|'.join(columns)})\b")
    reads = f"({told} ? {told}.\\1[datum.{ROW}] : datum.{EXACT}\\1)"
    tooltip = json.loads(datum.sub(reads, json.dumps(layer["encoding"]["tooltip"])))
    return {**layer, "encoding": {**layer["encoding"], "tooltip": tooltip}}


def _pictures(table: str, scheme: str) -> str:
    return f"live_{scheme}_of_{table}"


def _layer(layer: dict[str, Any], table: str, columns: Sequence[str]) -> dict[str, Any]:
    moved = _MOVED + table
    reads = [
        {"calculate": f"{moved} ? {moved}.{one}[datum.{ROW}] : datum.{EXACT}{one}", "as": one}
        for one in columns if one not in PICTURES
    ]  # fmt: skip
    steps = layer.get("transform", ())
    first = [*takewhile(lambda step: "filter" in step
                        and not any(_names(step, one) for one in columns), steps)]  # fmt: skip
    own = {**layer, "transform": [*first, *reads, *steps[len(first) :]]}
    if layer["mark"]["type"] == "line":  # of all its points Vega would make words that none hears
        own["mark"] = {**layer["mark"], "aria": False}
    if layer["mark"]["type"] == "image":
        hidden = f"{_MOVING} ? ({moved}.light ? 0 : {_BEFORE}) : 1"
        own["mark"] = {**layer["mark"], "opacity": {"expr": hidden}, "aria": False}
    return own


def _strip(layer: dict[str, Any], table: str) -> dict[str, Any]:
    """The pictures of all frames, each as wide as nothing but the one that is seen.

    Vega loads a picture anew for every new row, and meanwhile draws nothing. So these rows stay,
    and they lie under the exact picture, which they stand for until it is loaded.
    """
    text = json.dumps(layer)
    fields = re.findall(r'"field": "(\w+)"', text) + _DATUM.findall(text)
    read = [one for one in dict.fromkeys(fields) if one not in ("url", *PICTURES)]
    copied = [{"calculate": f"data('{table}')[0].{one}", "as": one} for one in read]
    held = {one: _pictures(table, one) for one in PICTURES}
    urls = [{"calculate": f"{of} ? {of}[datum.frame] || '' : ''", "as": one}
            for one, of in held.items()]  # fmt: skip
    wide = f"{_FRAME} == datum.frame ? {layer['mark']['width']['expr']} : 0"
    return {
        **{part: held for part, held in layer.items() if part != "name"},  # no two may have it
        "data": {"sequence": {"start": 0, "stop": MOST, "as": "frame"}},
        "transform": [*copied, *urls, *layer.get("transform", ())],
        "mark": {**layer["mark"], "width": {"expr": wide}, "aria": False},
    }


def frames(found: Sequence[Mapping[str, pa.Table]], columns: Columns) -> dict[str, Any]:
    """The columns of a chart's tables at each position, by table and name, as JSON holds them.

    None at all of a chart that is the same everywhere, or that has more rows here than there.
    """
    held: dict[str, Any] = {}
    for table, names in columns.items():
        if table not in found[0]:
            continue
        known = [one for one in names if one in found[0][table].column_names]
        held[table] = {one: [each[table][one].to_pylist() for each in found] for one in known}
        for one in {*PICTURES} & {*known}:
            held[table][one] = [value for (value,) in held[table][one]]
    rows = {tuple((name, len(table)) for name, table in each.items()) for each in found}
    moves = any(one != values[0] for each in held.values() for values in each.values()
                for one in values)  # fmt: skip
    return held if moves and len(rows) == 1 else {}


def kept(charts: Mapping[str, Any], *, texts: bool, pictures: bool) -> dict[str, Any]:
    """The :func:`frames` of charts, maybe without what takes most room: texts are empty then."""

    def left(name: str, values: list[Any]) -> Any:
        if name in PICTURES:
            return values if pictures else None
        if texts or not isinstance(values[0][0], str):
            return values
        return [[""] * len(values[0])] * len(values)

    return {
        chart: {
            table: {name: left(name, values) for name, values in columns.items()}
            for table, columns in tables.items()
        }
        for chart, tables in charts.items()
    }

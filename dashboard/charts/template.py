"""Charts as templates: drawn by Altair once per shape, filled with tables from then on.

A chart is a function ``draw(data, shape)``: its specification follows from ``shape`` alone; what
changes from result to result stands in named tables and in values of parameters. On a page the
values travel as one more table: the browser keeps the chart and changes the data under it.
"""

import functools
import inspect
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, ParamSpec, Self, TypeVar

import altair as alt
import pyarrow as pa
from altair.utils.schemapi import debug_mode

from dashboard import language
from dashboard.charts.live import AT, OF, PARAMETERS, Columns, following, sent
from dashboard.charts.summary import Summary

Data = pa.Table | alt.NamedData
Value = float | str | Sequence[str]  # of a parameter
Sources = Mapping[str, Any]  # tables or their names, and values of parameters
Shape = TypeVar("Shape", bound=Hashable)
Arguments = ParamSpec("Arguments")
AnyChart = TypeVar("AnyChart", bound=alt.TopLevelMixin)
Draw = Callable[[Sources, Any], alt.TopLevelMixin]

_BETWEEN = "\n"  # two texts of a list; `displayed` leaves none in a label
_KEPT = 300
_altair = threading.RLock()  # its switch for checks is one for all threads


@dataclass(frozen=True)
class Prepared(Generic[Shape]):
    """What a chart draws.

    Args:
        tables: the numbers, by the names under which the specification knows them.
        shape: everything else; equal shapes have equal specifications.
        values: of the chart's parameters by name; ``height`` is that of the plot, in px. The
            texts of a list are single lines.
        summary: the chart in words and numbers.
        live: the columns that a slider may change while it moves, see
            :mod:`dashboard.charts.live`; those of ``PARAMETERS`` are values.
        chart: what their frames call the chart; empty where it follows no slider.
    """

    tables: Mapping[str, pa.Table]
    shape: Shape
    values: Mapping[str, Value] = field(default_factory=dict)
    summary: Summary | None = None
    live: Columns = field(default_factory=dict)
    chart: str = ""

    def following(self, chart: str, sliders: Mapping[str, float]) -> Self:
        """The same, drawn so that it follows sliders: where they stand, by what they are of."""
        values = {OF: [*sliders], AT: [repr(at) for at in sliders.values()]}
        live = {name: tuple(one for one in self.live[name] if one in table.column_names)
                for name, table in self.sent.items() if name in self.live}  # fmt: skip
        return replace(self, chart=chart, live=live, values={**self.values, **values})

    @property
    def sources(self) -> Sources:
        """What a chart that holds its data is drawn of."""
        return {**self.tables, **self.values}

    @property
    def sent(self) -> Mapping[str, pa.Table]:
        """The tables of its :func:`template`, that of the values among them."""
        tables = sent(self.tables, self.live) if self.chart else self.tables
        if not self.values:
            return tables
        row = {name: [_cell(value)] for name, value in self.values.items()}
        return {**tables, PARAMETERS: pa.table(row)}


def values_of(data: Sources) -> dict[str, Any]:
    """The values of parameters among what a chart is drawn of."""
    return {name: it for name, it in data.items() if not isinstance(it, Data)}


def chart_of(draw: Callable[[Sources, Shape], AnyChart], prepared: Prepared[Shape]) -> AnyChart:
    """A chart that holds its data, for a notebook or a file."""
    return draw(prepared.sources, prepared.shape)


def chart_maker(
    prepare: Callable[Arguments, Prepared[Shape]], draw: Callable[[Sources, Shape], AnyChart]
) -> Callable[Arguments, AnyChart]:
    """A function that makes a chart that holds its data: arguments and errors as ``prepare``."""

    @functools.wraps(prepare, assigned=("__module__", "__doc__"))
    def make(*args: Arguments.args, **more: Arguments.kwargs) -> AnyChart:
        return chart_of(draw, prepare(*args, **more))

    # What `help` says: the arguments of the one, the result of the other.
    made = inspect.signature(draw).return_annotation
    vars(make)["__signature__"] = inspect.signature(prepare).replace(return_annotation=made)
    return make


def template(draw: Draw, prepared: Prepared) -> Mapping[str, Any]:
    """The specification that ``draw`` makes of the shape, without data; not to be changed."""
    held = prepared.values.items()
    values = tuple((name, not isinstance(value, (str, float, int))) for name, value in held)
    follows = prepared.chart, tuple(prepared.live.items()) if prepared.chart else ()
    tables = tuple(prepared.tables)
    return _template(draw, tables, values, prepared.shape, language.current(), follows)


def built(make: Callable[[], alt.TopLevelMixin]) -> dict[str, Any]:
    """The specification of a chart of ours: tests check it against the schema, this does not."""
    with _altair, debug_mode(False):
        return make().to_dict(validate=False)


@functools.lru_cache(maxsize=_KEPT)
def _template(
    draw: Draw, tables: tuple[str, ...], values: tuple[tuple[str, bool], ...], shape: Hashable,
    spoken: str, follows: tuple[str, tuple[tuple[str, tuple[str, ...]], ...]],
) -> Mapping[str, Any]:  # fmt: skip
    data: Sources = {name: alt.NamedData(name) for name in tables}
    data |= {name: [] if is_list else 1 for name, is_list in values}
    made = built(lambda: draw(data, shape))
    made = _reading(made, values) if values else made
    return following(made, follows[0], dict(follows[1])) if follows[0] else made


def _reading(made: dict[str, Any], values: Sequence[tuple[str, bool]]) -> dict[str, Any]:
    """The specification with parameters that follow the table of their values.

    ``height`` becomes a parameter too: to Vega it is a signal like any other.
    """
    if "layer" not in made:
        raise ValueError("need a chart of one view for a template, got one of several")
    names = {name for name, _ in values}
    others = [one for one in made.get("params", ()) if one["name"] not in names]
    # A table that no layer draws of would not be there for expressions.
    unseen = {"data": {"name": PARAMETERS}, "mark": {"type": "point", "opacity": 0, "aria": False}}
    follow, read = [], f"data('{PARAMETERS}')[0]"
    for name, is_list in values:
        held = f"{read}.{name}"
        follow.append({"name": name, "expr": f"split({held}, '\\n')" if is_list else held})
    return {**made, "params": [*others, *follow], "layer": [*made["layer"], unseen]}


def _cell(value: Value) -> float | str:
    if isinstance(value, str):
        return value
    return float(value) if isinstance(value, (float, int)) else _BETWEEN.join(value)

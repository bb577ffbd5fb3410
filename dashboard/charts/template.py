"""Charts as templates: drawn by Altair once per shape, filled with tables from then on.

A chart is a function ``draw(data, shape)``: what its specification says follows from ``shape``
alone, what changes from result to result stands in named tables. A chart of its own holds its
tables, ``draw(tables, shape)``; on a page it names them, and its specification is kept.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import altair as alt
import pyarrow as pa
from altair.utils.schemapi import debug_mode

Data = pa.Table | alt.NamedData
Sources = Mapping[str, Any]  # tables or their names, and lists
Shape = TypeVar("Shape", bound=Hashable)
Draw = Callable[[Sources, Any], alt.TopLevelMixin]

_KEPT = 300
_altair = threading.RLock()  # its switch for checks is one for all threads


@dataclass(frozen=True)
class Prepared(Generic[Shape]):
    """What a chart draws.

    Args:
        tables: the numbers, by the names under which the specification knows them.
        shape: everything else; equal shapes have equal specifications, but for their lists.
        lists: values of parameters by name, for numbers that no table can hold.
    """

    tables: Mapping[str, pa.Table]
    shape: Shape
    lists: Mapping[str, Sequence[object]] = field(default_factory=dict)

    @property
    def sources(self) -> Sources:
        """What a chart that holds its data is drawn of."""
        return {**self.tables, **self.lists}


def template(draw: Draw, prepared: Prepared) -> Mapping[str, Any]:
    """The specification that ``draw`` makes of the shape, without data; not to be changed."""
    made = _template(draw, tuple(prepared.tables), tuple(prepared.lists), prepared.shape)
    if not prepared.lists:
        return made
    params = [
        {**one, "value": [*prepared.lists[one["name"]]]} if one["name"] in prepared.lists else one
        for one in made["params"]
    ]
    return {**made, "params": params}


def built(make: Callable[[], alt.TopLevelMixin]) -> dict[str, Any]:
    """The specification of a chart of ours: tests check it against the schema, this does not."""
    with _altair, debug_mode(False):
        return make().to_dict(validate=False)


@functools.lru_cache(maxsize=_KEPT)
def _template(
    draw: Draw, tables: tuple[str, ...], lists: tuple[str, ...], shape: Hashable
) -> Mapping[str, Any]:
    data: Sources = {name: alt.NamedData(name) for name in tables} | {name: [] for name in lists}
    return built(lambda: draw(data, shape))

"""Results kept by request, so that what was computed once is answered at once."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from dashboard.runs.request import Request
from dashboard.runs.result import Result


class Kept(NamedTuple):
    """A result and its size in bytes."""

    result: Result
    size: int


class ResultCache:
    """The least recently used results are forgotten beyond a total size in bytes."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._total = 0
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    def get(self, request: Request) -> Kept | None:
        """By canonical JSON: as mapping keys, a width of 1 and one of 1.0 would be equal."""
        if request.key not in self._kept:
            return None
        self._kept.move_to_end(request.key)
        return self._kept[request.key]

    def put(self, request: Request, result: Result, size: int) -> None:
        """Keep a result, unless it says ``{"cacheable": false}`` or is larger than everything."""
        if size > self._capacity or result.facts.get("cacheable") is False:
            return
        if old := self._kept.pop(request.key, None):
            self._total -= old.size
        self._kept[request.key] = Kept(result, size)
        self._total += size
        while self._total > self._capacity:
            self._total -= self._kept.popitem(last=False)[1].size

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()
        self._total = 0

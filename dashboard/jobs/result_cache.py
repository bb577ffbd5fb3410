"""Results in memory by request, so that equal requests are computed once."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from dashboard.records.request import Request
from dashboard.records.result import Result


class CachedResult(NamedTuple):
    """A result and its size in bytes."""

    result: Result
    size: int


class ResultCache:
    """Evicts the least recently used results beyond a total size in bytes."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._total = 0
        self._results: OrderedDict[str, CachedResult] = OrderedDict()

    def get(self, request: Request) -> CachedResult | None:
        """Return the result of an equal request, or None.

        Requests are compared by their canonical JSON: as dictionary keys a width of 1 and one of
        1.0 would be equal.
        """
        if request.key not in self._results:
            return None
        self._results.move_to_end(request.key)
        return self._results[request.key]

    def put(self, request: Request, result: Result, size: int) -> None:
        """Add a result of ``size`` bytes.

        Results with the fact ``{"cacheable": false}``, and results larger than the capacity, are
        not added.
        """
        if size > self._capacity or result.facts.get("cacheable") is False:
            return
        if old := self._results.pop(request.key, None):
            self._total -= old.size
        self._results[request.key] = CachedResult(result, size)
        self._total += size
        while self._total > self._capacity:
            self._total -= self._results.popitem(last=False)[1].size

    def clear(self) -> None:
        """Remove all results."""
        self._results.clear()
        self._total = 0

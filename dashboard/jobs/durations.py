"""How long computations take on this machine, from those that have ended."""

from __future__ import annotations

from collections import OrderedDict, deque
from statistics import median, quantiles

from dashboard.records.request import Request

_KEPT = 20  # of each kind
_KINDS = 500
_FEWEST, _FEWEST_FOR_QUARTILES = 2, 5
_SPREAD = 3.0  # the middle half, or a few, may differ by this factor, or nothing is said
_FARTHEST = 60.0  # times the largest work that was seen
_LEAST_WORK = 0.01  # a computation has costs besides its work


class Durations:
    """Seconds per unit of work, by what was computed.

    An estimate is made from computations of the same task, model, scoring and data alone. Where
    there are none, where they differ much, or where they were far smaller, there is no estimate.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, ...], deque[tuple[float, float]]] = OrderedDict()

    def note(self, request: Request, work: float, seconds: float) -> None:
        """Note a computation that is done.

        Args:
            request: what was computed.
            work: its work, see :mod:`dashboard.records.work`; 0 where that is not known.
            seconds: how long it ran.
        """
        kind = _kind(request)
        self._known.setdefault(kind, deque(maxlen=_KEPT)).append((work, seconds))
        self._known.move_to_end(kind)
        if len(self._known) > _KINDS:
            self._known.popitem(last=False)

    def typical(self, request: Request, work: float) -> float:
        """Return the median of the seconds that such a request took, for its work; 0 if none has.

        Good enough for an order, not for a promise: the machine may have been busy or idle.
        """
        alike = [
            each for each in self._known.get(_kind(request), ()) if bool(each[0]) == bool(work)
        ]
        rates = [seconds / max(amount, _LEAST_WORK) for amount, seconds in alike]
        return median(rates) * max(work, _LEAST_WORK) if rates else 0.0

    def estimate(self, request: Request, work: float) -> float | None:
        """Return the seconds that a request will probably take; None where that is not known."""
        known = self._known.get(_kind(request), ())
        alike = [each for each in known if bool(each[0]) == bool(work)]
        if len(alike) < _FEWEST or work > _FARTHEST * max(each[0] for each in alike):
            return None
        rates = [seconds / max(amount, _LEAST_WORK) for amount, seconds in alike]
        low, middle, high = quantiles(rates, n=4, method="inclusive")
        if len(rates) < _FEWEST_FOR_QUARTILES:
            low, high = min(rates), max(rates)
        return middle * max(work, _LEAST_WORK) if high <= _SPREAD * low else None


def _kind(request: Request) -> tuple[str, ...]:
    return request.task, request.model, request.scoring, request.data

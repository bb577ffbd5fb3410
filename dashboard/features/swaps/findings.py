"""What the prices of swaps say, in sentences; each is recomputed from the rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dashboard.language import gettext, listed, ngettext
from dashboard.records.beside import beside
from dashboard.ui.widgets import plain

_SAID = beside(__file__, "words.toml")["findings"]
Row = Mapping[str, Any]
BEYOND = ("better", "worse")  # verdicts of differences that are no chance
_CHEAP = 0.05  # nats a token


def signed(value: float, digits: int = 2) -> float:
    """The value rounded, and never a zero below zero."""
    return round(value, digits) + 0.0


def sentences(rows: Sequence[Row], facts: Mapping[str, Any], title: Callable[[Row], str]
              ) -> list[str]:  # fmt: skip
    """What is seen in the table, for a place that reads Markdown."""
    budget, said = facts["budget"], []
    for rate in (0.0, *budget["rates"]):
        own = [row for row in rows if row["rate"] == rate]
        loss = next((row["loss"] for row in own if row["cost"] is None), None)
        costs = [(row["cost"], plain(title(row))) for row in own if row["cost"] is not None]
        costs.sort(key=lambda one: one[0])
        if costs and loss is not None:
            tuned = _tuned(loss, costs, rate, budget["steps"])
            said.append(tuned if rate else _untuned(loss, costs))
    compared = [row for row in rows if row["cost"] is not None]
    return [*said, _chance(compared, budget["seeds"])] if compared else said


def _untuned(loss: float, costs: Sequence[tuple[float, str]]) -> str:
    (low, cheapest), (high, dearest) = costs[0], costs[-1]
    if len(costs) == 1:
        return gettext(_SAID["one"], loss=loss, swap=cheapest, cost=signed(low))
    return gettext(
        _SAID["untuned"], loss=loss, cheapest=cheapest, low=signed(low), dearest=dearest,
        high=signed(high),
    )  # fmt: skip


def _tuned(loss: float, costs: Sequence[tuple[float, str]], rate: float, steps: int) -> str:
    high, dearest = costs[-1]
    cheap = [name for cost, name in costs if cost < _CHEAP]
    return gettext(
        _SAID["tuned"], steps=steps, rate=rate, loss=loss, bound=_CHEAP, count=len(cheap),
        total=len(costs), names=listed(cheap) if cheap else gettext("none"), dearest=dearest,
        high=signed(high),
    )  # fmt: skip


def _chance(compared: Sequence[Row], seeds: int) -> str:
    if any(row["verdict"] == "too few seeds" for row in compared):
        return ngettext(**_SAID["too_few"], count=seeds, needed=compared[0]["needed"])
    return gettext(
        _SAID["chance"], count=sum(row["verdict"] in BEYOND for row in compared),
        total=len(compared), seeds=seeds,
    )  # fmt: skip

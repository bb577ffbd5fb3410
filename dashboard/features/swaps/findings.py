"""What the prices of swaps say, in sentences; each is recomputed from the rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dashboard.language import gettext, listed, ngettext
from dashboard.ui.widgets import plain

Row = Mapping[str, Any]
CHEAP = 0.05  # nats a token
UNTUNED = 0.0
_BEYOND = ("better", "worse")


def signed(value: float, digits: int = 2) -> float:
    """The value rounded, and never a zero below zero."""
    return round(value, digits) + 0.0


def at(rows: Sequence[Row], rate: float) -> list[Row]:
    """The swaps' rows of one rate, the cheapest first."""
    found = [row for row in rows if row["rate"] == rate and row["cost"] is not None]
    return sorted(found, key=lambda row: row["cost"])


def original(rows: Sequence[Row], rate: float) -> Row | None:
    """The original's row of one rate."""
    return next((row for row in rows if row["rate"] == rate and row["cost"] is None), None)


def sentences(rows: Sequence[Row], facts: Mapping[str, Any], title: Callable[[Row], str]
              ) -> list[str]:  # fmt: skip
    """What is seen in the table, for a place that reads Markdown."""
    budget = facts["budget"]
    said = [_untuned(rows, title)]
    said += [_tuned(rows, rate, budget["steps"], title) for rate in budget["rates"]]
    return [*filter(None, said), *filter(None, [_chance(rows, budget)])]


def _untuned(rows: Sequence[Row], title: Callable[[Row], str]) -> str:
    found, own = at(rows, UNTUNED), original(rows, UNTUNED)
    if not found or own is None:
        return ""
    first, last = found[0], found[-1]
    if len(found) == 1:
        return gettext(
            "Untuned: the original has {loss:.2f} nats a token, and {swap} costs {cost:+.2f}.",
            loss=own["loss"], swap=plain(title(first)), cost=signed(first["cost"]),
        )  # fmt: skip
    return gettext(
        "Untuned: the original has {loss:.2f} nats a token. {cheapest} costs least ({low:+.2f}), "
        "{dearest} most ({high:+.2f}).",
        loss=own["loss"], cheapest=plain(title(first)), low=signed(first["cost"]),
        dearest=plain(title(last)), high=signed(last["cost"]),
    )  # fmt: skip


def _tuned(rows: Sequence[Row], rate: float, steps: int, title: Callable[[Row], str]) -> str:
    found, own = at(rows, rate), original(rows, rate)
    if not found or own is None:
        return ""
    cheap = [plain(title(row)) for row in found if row["cost"] < CHEAP]
    named = listed(cheap) if cheap else gettext("none")
    return gettext(
        "After {steps:,} steps at the rate {rate:g} the original has {loss:.2f}. Less than "
        "{bound:.2f} nats above it: {names} ({count} of {total}); the dearest, {dearest}, costs "
        "{high:+.2f}.",
        steps=steps, rate=rate, loss=own["loss"], bound=CHEAP, names=named, count=len(cheap),
        total=len(found), dearest=plain(title(found[-1])), high=signed(found[-1]["cost"]),
    )  # fmt: skip


def _chance(rows: Sequence[Row], budget: Mapping[str, Any]) -> str:
    compared = [row for row in rows if row["cost"] is not None]
    if not compared:
        return ""
    needed = compared[0]["needed"]
    seeds = budget["seeds"]
    if any(row["verdict"] == "too few seeds" for row in compared):
        return ngettext(
            "{count} seed is too few for the corrected test: {needed} would do. The intervals "
            "show how far seeds agree.",
            "{count} seeds are too few for the corrected test: {needed} would do. The intervals "
            "show how far seeds agree.",
            seeds, needed=needed,
        )  # fmt: skip
    beyond = sum(row["verdict"] in _BEYOND for row in compared)
    return gettext(
        "{count} of {total} differences are beyond chance (paired permutation test over {seeds} "
        "seeds, Holm's correction at each rate, p at most 0.05).",
        count=beyond, total=len(compared), seeds=seeds,
    )  # fmt: skip

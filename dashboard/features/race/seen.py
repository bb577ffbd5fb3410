"""What all parts of the page *Race* draw of: the choices, and the standings of one task."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from dashboard.features.race.view import FAILED, Choices, RaceView
from dashboard.language import gettext, translated
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Result
from dashboard.storage.races import Entrant
from dashboard.ui.session import Session

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Seen:
    """One task of a race with its standings."""

    session: Session[RaceView]
    choices: Choices
    result: Result

    @property
    def catalogue(self) -> Catalogue:
        """What is installed."""
        return self.session.catalogue

    @property
    def task(self) -> str:
        """The task's title, as it is where data are chosen."""
        entry = self.catalogue.datasets.get(self.choices.task)
        return entry.short_title if entry else self.fact("task")

    @property
    def metric(self) -> str:
        """The task's metric with its unit."""
        metric, unit = self.fact("metric"), self.fact("unit")
        return gettext("{metric}, {unit}", metric=metric, unit=unit) if unit else metric

    def fact(self, name: str) -> str:
        """A fact of the result that is a text, in the visitor's language."""
        return translated(self.result.facts[name])

    @property
    def arrow(self) -> str:
        """Towards the better side."""
        return "↑" if self.result.facts["higher_is_better"] else "↓"

    @functools.cached_property
    def rows(self) -> Sequence[Row]:
        """The standings, the best first, each with its ``name`` on this page."""
        by_key = self.choices.race.by_key

        def name(row: Row) -> str:
            equal = (by_key[key] for key in row["equals"] if key in by_key)
            return " = ".join(map(self.choices.title, (entrant_of(row), *equal)))

        table = self.result.tables["standings"]
        return [{**row, "name": name(row)} for row in table.to_pylist()]

    @functools.cached_property
    def by_key(self) -> Mapping[str, Row]:
        """The standings by the contestants' keys."""
        return {row["key"]: row for row in self.rows}

    def _key(self, given: str) -> str:
        """The key of the row of a contestant, which may be that of an equal one."""
        return next((row["key"] for row in self.rows if given in row["equals"]), given)

    @property
    def key(self) -> str:
        """Under which charts of the task are kept; names are those of today's plugins."""
        names = [row["name"] for row in self.rows]
        return f"{self.result.digest} {self.a} {self.b} {self.choices.model} {names}"

    @property
    def reference(self) -> str:
        """The reference's key."""
        return self.choices.reference.key

    @property
    def a(self) -> str:
        """The contestant that is looked at: the chosen one, else the best but the reference."""
        if (chosen := self._key(self.session.view.a)) in self.by_key:
            return chosen
        ran = [row["key"] for row in self.rows if row["verdict"] != FAILED]
        others = [key for key in ran if key != self.reference]
        return next(iter(others or ran), self.reference)

    @property
    def b(self) -> str:
        """The other one: the chosen one, else the reference."""
        chosen = self._key(self.session.view.b)
        return chosen if chosen in self.by_key else self.reference

    def name(self, key: str) -> str:
        """What a contestant is called on this page."""
        return self.by_key[key]["name"] if key in self.by_key else key.partition(".")[2]

    def of(self, table: str, key: str) -> Sequence[Row]:
        """The rows of one contestant in a table of the result."""
        held = self.result.tables[table]
        return held.filter(pc.field("key") == key).to_pylist()


def entrant_of(row: Row) -> Entrant:
    """The entrant of a row of standings."""
    return Entrant(row["model"], row["scoring"], row["normaliser"])


def number(value: float | None) -> str:
    """To four significant digits, ``–`` for none."""
    if value is None:
        return "–"
    value += 0.0  # no minus sign before 0
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.3g}"
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def interval(row: Row, name: str) -> str:
    """A mean with its interval, as exact as the interval is wide: ``0.431 [0.402, 0.458]``."""
    mean, low, high = row[name], row.get(f"{name}_low"), row.get(f"{name}_high")
    if mean is None or low is None or high is None:
        return number(mean)
    width = high - low
    if not 1e-6 < width < 1e6:
        return f"{number(mean)} [{number(low)}, {number(high)}]"
    decimals = max(0, 1 - math.floor(math.log10(width)))
    mean, low, high = (f"{end:,.{decimals}f}" for end in (mean, low, high))
    return f"{mean} [{low}, {high}]"

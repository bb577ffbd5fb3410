"""A measured number, described once for every table, chart and file that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Better = Literal["lower", "higher", ""]

_ARROWS: dict[Better, str] = {"lower": " ↓", "higher": " ↑", "": ""}


@dataclass(frozen=True, kw_only=True)
class Metric:
    """What a task measures of each of its results.

    Args:
        name: its key among a result's metrics, in links and in files.
        title: for columns and axes.
        unit: of the number; empty for none.
        better: which side is better; empty where neither is.
        help: what it measures, in full sentences.
        digits: significant digits of a mean.
    """

    name: str
    title: str
    unit: str = ""
    better: Better = ""
    help: str = ""
    digits: int = 3

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Metric:
        """From the catalogue's entry; what this version does not know is left out."""
        return cls(**{name: facts[name] for name in cls.__dataclass_fields__ if name in facts})

    @property
    def label(self) -> str:
        """The title with its unit: ``Time, s``."""
        return f"{self.title}, {self.unit}" if self.unit else self.title

    @property
    def heading(self) -> str:
        """The label with an arrow towards the better side: ``Time, s ↓``."""
        return self.label + _ARROWS[self.better]

"""Which columns of a table are used, and how a link and a request spell it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CHOICE = re.compile(r"([1-9]\d{0,3}(?:,[1-9]\d{0,3})*):([1-9]\d{0,3})\Z", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns that are used, by their numbers from 1."""

    inputs: tuple[int, ...]
    target: int

    @classmethod
    def read(cls, text: str) -> Columns | None:
        """From ``2,4:5``, columns 2 and 4 as inputs of 5; None where it says no such thing."""
        found = _CHOICE.match(text)
        if not found:
            return None
        inputs, target = tuple(map(int, found[1].split(","))), int(found[2])
        each_once = len({*inputs, target}) == len(inputs) + 1
        return cls(inputs=inputs, target=target) if each_once else None

    def write(self) -> str:
        """The text that :meth:`read` turns into these."""
        return f"{','.join(map(str, self.inputs))}:{self.target}"

    @property
    def all(self) -> tuple[int, ...]:
        """The inputs, then the target."""
        return (*self.inputs, self.target)

"""A value that a page lets its reader set: what it may be, and how a link spells it."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dashboard.language import gettext, translated
from dashboard.records.request import Pairs, Scalar
from dashboard.records.text import shown

Better = Literal["lower", "higher", ""]

_ARROWS: dict[Better, str] = {"lower": " ↓", "higher": " ↑", "": ""}


@dataclass(frozen=True, kw_only=True)
class Metric:
    """What a task measures of each of its results; ``better`` says which side is, if any.

    Its ``name`` is its key in metrics, links and files; ``digits`` are significant ones of a mean.
    """

    name: str
    title: str
    unit: str = ""
    better: Better = ""
    help: str = ""
    digits: int = 3

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Metric":
        """From the catalogue's entry; what this version does not know is left out."""
        return cls(**{name: facts[name] for name in cls.__dataclass_fields__ if name in facts})

    @property
    def label(self) -> str:
        """The title with its unit: ``Time, s``."""
        if not self.unit:
            return self.title
        return gettext("{title}, {unit}", title=self.title, unit=self.unit)

    @property
    def heading(self) -> str:
        """The label with an arrow towards the better side: ``Time, s ↓``."""
        return self.label + _ARROWS[self.better]


_WHOLE = re.compile(r"[+-]?[0-9]{1,18}\Z")
_NUMBER = re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]{0,40})?|\.[0-9]{1,40})(e[+-]?[0-9]{1,3})?\Z")
_SWITCH = {"1": True, "0": False}


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter, as the contract's ``Parameter`` describes it."""

    name: str
    title: str
    default: Scalar
    low: float | None = None
    high: float | None = None
    step: float | None = None
    unit: str = ""
    learnable: bool = False
    choices: tuple[str, ...] = ()
    help: str = ""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Parameter":
        """From the catalogue's entry; what this version does not know is left out."""
        known = {name: facts[name] for name in cls.__dataclass_fields__ if name in facts}
        known["choices"] = tuple(known.get("choices") or ())
        return cls(**known)

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are allowed."""
        return isinstance(self.default, int) and not isinstance(self.default, bool)

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest value of a number; ValueError of anything else."""
        if self.low is None or self.high is None:
            raise ValueError(f"parameter {self.name!r} has no bounds")
        return self.low, self.high

    def within(self, value: Any) -> Scalar:
        """The number nearest to the value that lies within the bounds."""
        low, high = self.bounds
        return type(self.default)(min(max(value, low), high))

    def read(self, text: str, key: str) -> tuple[Scalar, str]:
        """The value that ``text`` stands for, and what was wrong with it (or nothing).

        A number outside the bounds gives the nearest bound, anything else unreadable the default.
        ``key`` is the link's, for the sentence.
        """
        if isinstance(self.default, bool):
            if text in _SWITCH:
                return _SWITCH[text], ""
            return self.default, self._instead(key, text, gettext("0 or 1"))
        if isinstance(self.default, str):
            if text in self.choices:
                return text, ""
            wanted = gettext("one of {choices}", choices=", ".join(self.choices))
            return self.default, self._instead(key, text, wanted)
        return self._read_number(text, key)

    def write(self, value: Scalar) -> str:
        """The text that :meth:`read` turns into ``value``."""
        if isinstance(value, bool):
            return "1" if value else "0"
        return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)

    def _read_number(self, text: str, key: str) -> tuple[Scalar, str]:
        if not (_WHOLE if self.whole else _NUMBER).match(text) or not math.isfinite(float(text)):
            wanted = gettext("a whole number") if self.whole else gettext("a number")
            return self.default, self._instead(key, text, wanted)
        value = int(text) if self.whole else float(text)
        low, high = self.bounds
        if low <= value <= high:
            return value, ""
        nearest = self.within(value)
        return nearest, gettext(
            "{key}={given}: need {low:.10g} <= {key} <= {high:.10g}, "
            "so {used:.10g} is used (field “{title}”)",
            key=key, given=shown(text), low=low, high=high, used=nearest,
            title=translated(self.title),
        )  # fmt: skip

    def _instead(self, key: str, text: str, wanted: str) -> str:
        return gettext(
            "{key}={given}: need {wanted}, so {used} is used (field “{title}”)",
            key=key, given=shown(text), wanted=wanted, used=self.write(self.default),
            title=translated(self.title),
        )  # fmt: skip


def pairs(values: Mapping[str, Scalar]) -> Pairs:
    """The mapping as a request holds it: sorted by name."""
    return tuple(sorted(values.items()))


def defaults(parameters: Iterable[Parameter]) -> Pairs:
    """Every parameter at its default."""
    return pairs({parameter.name: parameter.default for parameter in parameters})

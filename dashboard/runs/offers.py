"""What is installed here, as a page and a link know it: plain records read from the catalogue.

A catalogue comes from a worker as JSON. Names are checked by the plugins' own contract; titles,
formulas and helps are texts of strangers, to be shown as text only.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard.runs.distributions import Distribution, distributions
from dashboard.runs.request import Scalar

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}\Z")
_NUMBER = re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]{0,40})?|\.[0-9]{1,40})(e[+-]?[0-9]{1,3})?\Z")
_SWITCH = {"1": True, "0": False}
_LONGEST_SHOWN = 40


def shown(value: object) -> str:
    """A stranger's text, fit for a sentence: nothing invisible, at most 40 characters."""
    text = "".join(c if c.isprintable() else "·" for c in str(value)[: _LONGEST_SHOWN + 1])
    return f"‘{text[:_LONGEST_SHOWN]}{'…' if len(text) > _LONGEST_SHOWN else ''}’"


@dataclass(frozen=True, kw_only=True)
class Knob:
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
    def of(cls, facts: Mapping[str, Any]) -> Knob:
        """From the catalogue's entry; what this version does not know is left out."""
        known = {name: facts[name] for name in cls.__dataclass_fields__ if name in facts}
        known["choices"] = tuple(known.get("choices") or ())
        return cls(**known)

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are allowed."""
        return isinstance(self.default, int) and not isinstance(self.default, bool)

    def read(self, text: str, key: str) -> tuple[Scalar, str]:
        """The value that ``text`` stands for, and what was wrong with it (or nothing).

        A number outside the bounds gives the nearest bound, anything else unreadable the default.

        Args:
            key: the link's key, for the sentence.
        """
        if isinstance(self.default, bool):
            if text in _SWITCH:
                return _SWITCH[text], ""
            return self.default, self._instead(key, text, "0 or 1")
        if isinstance(self.default, str):
            if text in self.choices:
                return text, ""
            return self.default, self._instead(key, text, "one of " + ", ".join(self.choices))
        return self._read_number(text, key)

    def write(self, value: Scalar) -> str:
        """The text that :meth:`read` turns into ``value``."""
        if isinstance(value, bool):
            return "1" if value else "0"
        return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)

    def _read_number(self, text: str, key: str) -> tuple[Scalar, str]:
        pattern = _WHOLE if self.whole else _NUMBER
        if not pattern.match(text) or not math.isfinite(float(text)):
            wanted = "a whole number" if self.whole else "a number"
            return self.default, self._instead(key, text, wanted)
        value = int(text) if self.whole else float(text)
        if self.low <= value <= self.high:
            return value, ""
        nearest = type(self.default)(min(max(value, self.low), self.high))
        return nearest, (
            f"{key}={shown(text)}: need {self.low:g} <= {key} <= {self.high:g}, "
            f"so {nearest:g} is used (field “{self.title}”)"
        )

    def _instead(self, key: str, text: str, wanted: str) -> str:
        return (
            f"{key}={shown(text)}: need {wanted}, "
            f"so {self.write(self.default)} is used (field “{self.title}”)"
        )


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A scoring, a model or a data set: what to call it, its formula, its knobs."""

    name: str
    title: str
    formula: str = ""
    description: str = ""
    reference: str = ""
    task: str = ""
    learns: bool = False
    aligned: bool = False
    knobs: tuple[Knob, ...] = ()

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Offer:
        """From the catalogue's entry; what this version does not know is left out."""
        known = {name: facts[name] for name in cls.__dataclass_fields__ if name in facts}
        return cls(**known, knobs=tuple(map(Knob.of, facts.get("parameters", ()))))


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A trained translation model: what it is made of, and what its card says."""

    name: str
    title: str
    model: str
    scoring: str
    corpus: str
    card: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def adopted(self) -> Mapping[str, str]:
        """Of a model that another library trained: its ``family`` and where it is from."""
        return self.card.get("adopted") or {}

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Checkpoint:
        """From the catalogue's entry of a checkpoint that can be used."""
        card = facts["card"]
        return cls(
            name=facts["name"],
            title=card["title"],
            model=card["model"],
            scoring=card["scoring"],
            corpus=str(card["corpus"].get("name", "")),
            card=card,
        )


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """Everything that a request may name, by name, in the order in which it is offered.

    ``presets`` are named ways to train: for each preset and model the value of every option of a
    training's request. What a request leaves out is as in the first preset. ``distributions``
    brought all this, or failed to; ``contract`` is the version of the contract that is offered
    here, ``example`` the source of a whole plugin.
    """

    scorings: Mapping[str, Offer] = field(default_factory=dict)
    models: Mapping[str, Offer] = field(default_factory=dict)
    datasets: Mapping[str, Offer] = field(default_factory=dict)
    checkpoints: Mapping[str, Checkpoint] = field(default_factory=dict)
    options: Mapping[str, tuple[Knob, ...]] = field(default_factory=dict)
    devices: tuple[str, ...] = ()
    failures: tuple[Mapping[str, Any], ...] = ()
    presets: Mapping[str, Mapping[str, Mapping[str, Scalar]]] = field(default_factory=dict)
    distributions: Mapping[str, Distribution] = field(default_factory=dict)
    contract: str = ""
    example: str = ""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Catalogue:
        """From what the task ``catalogue`` gives."""
        usable = [entry for entry in facts["checkpoints"] if entry["card"]]
        unusable = [_unusable(entry) for entry in facts["checkpoints"] if entry["fault"]]
        failures = (*facts["failures"], *unusable)
        return cls(
            **{
                kind: {entry["name"]: Offer.of(entry) for entry in facts[kind]}
                for kind in ("scorings", "models", "datasets")
            },
            checkpoints={entry["name"]: Checkpoint.of(entry) for entry in usable},
            options={task: tuple(map(Knob.of, knobs)) for task, knobs in facts["options"].items()},
            devices=tuple(facts["devices"]),
            presets=facts.get("presets", {}),
            failures=failures,
            distributions={one.name: one for one in distributions(facts, failures)},
            contract=facts.get("versions", {}).get("contract", ""),
            example=facts.get("example", ""),
        )

    def of_task(self, kind: str, task: str) -> dict[str, Offer]:
        """The ``"models"`` or ``"datasets"`` of one task."""
        return {name: offer for name, offer in getattr(self, kind).items() if offer.task == task}

    def corpora(self) -> tuple[str, ...]:
        """The corpora that checkpoints were trained on, those of most checkpoints first.

        What adopted models learned from comes last.
        """
        entries = self.checkpoints.values()
        counts = Counter(entry.corpus for entry in entries if not entry.adopted)
        theirs = Counter(entry.corpus for entry in entries if entry.adopted)
        ordered = (*counts.most_common(), *theirs.most_common())
        return tuple(dict.fromkeys(corpus for corpus, _ in ordered))

    def readers(self, corpus: str) -> list[Checkpoint]:
        """The checkpoints to set side by side: those of the corpus, then all adopted ones."""
        entries = self.checkpoints.values()
        own = [entry for entry in entries if entry.corpus == corpus]
        return own + [entry for entry in entries if entry.adopted and entry.corpus != corpus]


def _unusable(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A checkpoint that is offered but cannot be used, as a failure."""
    origin = entry.get("plugin", {})
    return {
        "plugin": entry["name"],
        "distribution": origin.get("distribution", ""),
        "built_in": origin.get("built_in", False),
        "stage": "checkpoint",
        "message": entry["fault"],
        "advice": "train it again, or take its folder away",
    }

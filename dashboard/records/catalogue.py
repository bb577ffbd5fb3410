"""What is installed here, as a page and a link know it: plain records read from the catalogue.

A catalogue comes from a worker as JSON. Names are checked by the plugins' own contract; titles,
formulas and helps are texts of strangers, to be shown as text only.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dashboard.language import gettext_noop
from dashboard.records.attending import Distribution, distributions
from dashboard.records.invalid import problem_of
from dashboard.records.parameter import Metric, Parameter
from dashboard.records.request import FORMULA, Request, Scalar, is_formula

Sides = tuple[str, str]
TRANSLATES = "encoder-decoder"  # the kind of checkpoint that most pages show
LONGEST_FORMULA = 300  # characters that are typed
LONGEST_NAME = 40  # characters, of a scoring
MOST_COMPLETIONS = 6  # of those that a worker finds
_AROUND = 16  # characters that are shown on each side of what is wrong
_IN_BRACKETS = re.compile(r" \([^)]*\)|（[^）]*）")  # in Chinese without a space


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A scoring, a model, a data set: what to call it, its formula, its parameters.

    A scoring says by ``tasks`` where it makes sense, none means everywhere, and by
    ``own_normaliser`` that it takes no other; a normaliser says whether its rows sum to 1. Both
    say whether anything in them ``learns``, is ``drawn`` by a seed, or is ``sized`` by the hidden
    size. A parallel corpus says what its ``sides`` are, its ``examples``, the ``tokeniser`` to
    read it with and the ``metric`` to score it by. A metric has a ``unit``. ``code`` is the
    fingerprint of the plugin that brought it: with another code a name may mean another formula.
    """

    name: str
    title: str
    formula: str = ""
    description: str = ""
    reference: str = ""
    task: str = ""
    learns: bool = False
    drawn: bool = False
    sized: bool = False
    aligned: bool = False
    own_normaliser: bool = False
    sums_to_one: bool = True
    tasks: tuple[str, ...] = ()
    sides: Sides | tuple[()] = ()
    examples: tuple[str, ...] = ()
    tokeniser: str = ""
    metric: str = ""
    unit: str = ""
    higher_is_better: bool = True
    code: str = ""
    parameters: tuple[Parameter, ...] = ()

    @property
    def short_title(self) -> str:
        """The title without what stands in brackets; of a formula all of it."""
        return self.title if is_formula(self.name) else _IN_BRACKETS.sub("", self.title)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Entry":
        """From the catalogue's entry; what this version does not know is left out."""
        known = {name: facts[name] for name in cls.__dataclass_fields__ if name in facts}
        known |= {
            "parameters": tuple(map(Parameter.of, facts.get("parameters", ()))),
            "tasks": tuple(facts.get("tasks", ())), "sides": sides_in(facts),
            "examples": examples_in(facts), "code": facts.get("plugin", {}).get("code", ""),
        }  # fmt: skip
        return cls(**known)


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A trained translation model: what it is made of, and what its card says.

    ``typed`` is its scoring where that is a formula, which needs no plugin. ``shipped`` says that
    it came with the workbench: every server has it.
    """

    name: str
    title: str
    model: str
    scoring: str
    corpus: str
    card: Mapping[str, Any] = field(default_factory=dict, compare=False)
    typed: Entry | None = None
    shipped: bool = True

    @property
    def sides(self) -> Sides | tuple[()]:
        """What goes in and what comes out; empty where the card does not say."""
        return sides_in(self.card["corpus"])

    @property
    def examples(self) -> tuple[str, ...]:
        """Sentences to start with, as the card has them."""
        return examples_in(self.card["corpus"])

    @property
    def kind(self) -> str:
        """``"encoder-decoder"``; ``"decoder"``, which continues a text; ``"encoder"``."""
        return str(self.card.get("kind", TRANSLATES))

    @property
    def adopted(self) -> Mapping[str, str]:
        """Of a model that another library trained: its ``family`` and where it is from."""
        return self.card.get("adopted") or {}

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Checkpoint":
        """From the catalogue's entry of a checkpoint that can be used."""
        card = facts["card"]
        return cls(
            name=facts["name"], title=card["title"], model=card["model"], scoring=card["scoring"],
            corpus=str(card["corpus"].get("name", "")), card=card,
            typed=Entry.of(facts["typed"]) if facts.get("typed") else None,
            shipped=bool(facts.get("plugin", {}).get("built_in", True)),
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is wrong with a formula: a sentence, the characters it is about, what was meant."""

    sentence: str
    start: int = 0
    end: int = 0
    suggestion: str = ""

    def marked(self, text: str) -> str:
        """Two lines: the formula, or its part around the place, and carets under the place."""
        first = max(0, self.start - _AROUND)
        last = max(self.start + 1, min(self.end, self.start + _AROUND))
        before = "…" * (first > 0)
        after = "…" * (last + _AROUND < len(text))
        carets = " " * (len(before) + self.start - first) + "^" * (last - self.start)
        return f"{before}{text[first : last + _AROUND]}{after}\n{carets}"


@dataclass(frozen=True, kw_only=True)
class Completion:
    """What the word at the end of a formula may become: the word, what is missing, its help."""

    word: str
    insert: str
    help: str


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A formula that a worker has read.

    Its ``entry`` is named by ``=`` and its one spelling; None with a problem. ``files`` are the
    package that it would be, ``shape`` that of its scores, ``completions`` of what is typed last.
    """

    entry: Entry | None = None
    slug: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    shape: str = ""
    completions: tuple[Completion, ...] = ()
    problem: Problem | None = None

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Formula":
        """From what the task ``formula`` gives."""
        completions = tuple(Completion(**each) for each in facts["completions"][:MOST_COMPLETIONS])
        if facts["error"]:
            return cls(problem=Problem(**facts["error"]), completions=completions)
        shapes = facts["shapes"]
        return cls(
            entry=Entry.of(facts), slug=facts["slug"], files=facts["files"],
            shape=shapes[-1][1] if shapes else "", completions=completions,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class Catalogue:
    """Everything that a request may name, by name, in the order in which it is offered.

    ``presets`` are named ways to train: for each preset and model the value of every option of a
    training's request. What a request leaves out is as in the first preset. ``metrics`` holds by
    task what is measured of each of its results. ``kinds`` says by kind what one record of it is
    called, and ``others`` holds by kind those that no request names. ``distributions`` brought
    all this, or failed to; ``contract`` is the version of the contract that is offered here,
    ``example`` the source of a whole plugin. ``formulas`` are those that were read for this page,
    by the text that was typed; each that is one is also among the scorings, but is not offered.
    ``translations`` are what plugins bring of their own texts: by language, by the English text.
    """

    scorings: Mapping[str, Entry] = field(default_factory=dict)
    normalisers: Mapping[str, Entry] = field(default_factory=dict)
    models: Mapping[str, Entry] = field(default_factory=dict)
    datasets: Mapping[str, Entry] = field(default_factory=dict)
    checkpoints: Mapping[str, Checkpoint] = field(default_factory=dict)
    others: Mapping[str, Mapping[str, Entry]] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, tuple[Parameter, ...]] = field(default_factory=dict)
    metrics: Mapping[str, tuple[Metric, ...]] = field(default_factory=dict)
    devices: tuple[str, ...] = ()
    failures: tuple[Mapping[str, Any], ...] = ()
    presets: Mapping[str, Mapping[str, Mapping[str, Scalar]]] = field(default_factory=dict)
    distributions: Mapping[str, Distribution] = field(default_factory=dict)
    contract: str = ""
    example: str = ""
    formulas: Mapping[str, Formula] = field(default_factory=dict)
    translations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Catalogue":
        """From what the task ``catalogue`` gives."""
        usable, unusable = [], []
        for entry in facts["checkpoints"]:
            card, fault = entry["card"], entry["fault"]
            if card and (problem := problem_of(card)):
                card = None
                fault = gettext_noop("its card cannot be shown: {problem}", problem=problem)
            if card:
                usable.append(entry)
            if fault:
                unusable.append(_unusable(entry, fault))
        failures = (*facts["failures"], *unusable)
        entries = {kind: {entry["name"]: Entry.of(entry) for entry in facts[kind]}
                   for kind in facts["kinds"] if kind != "checkpoints"}  # fmt: skip
        return cls(
            scorings=entries.pop("scorings", {}), normalisers=entries.pop("normalisers", {}),
            models=entries.pop("models", {}), datasets=entries.pop("datasets", {}),
            checkpoints={entry["name"]: Checkpoint.of(entry) for entry in usable}, others=entries,
            kinds=facts["kinds"],
            options={
                task: tuple(map(Parameter.of, parameters))
                for task, parameters in facts["options"].items()
            },
            metrics={
                task: tuple(map(Metric.of, entries))
                for task, entries in facts.get("measured", {}).items()
            },
            devices=tuple(facts["devices"]), presets=facts.get("presets", {}), failures=failures,
            distributions={one.name: one for one in distributions(facts, failures)},
            translations=_translations(facts.get("translations", ())),
            contract=facts.get("versions", {}).get("contract", ""),
            example=facts.get("example", ""),
        )  # fmt: skip

    def with_formulas(self, formulas: Mapping[str, Formula]) -> "Catalogue":
        """The same with formulas that a worker has read, by the text that was typed."""
        right = {each.entry.name: each for each in formulas.values() if each.entry}
        entries = {name: each.entry for name, each in right.items() if each.entry}
        spelled = {name.removeprefix(FORMULA): each for name, each in right.items()}
        return replace(
            self, scorings={**self.scorings, **entries}, formulas={**spelled, **formulas}
        )  # fmt: skip

    def scorings_for(self, task: str = "") -> dict[str, Entry]:
        """The installed scorings that make sense in a task; without one all that are installed."""
        return {name: offer for name, offer in self.scorings.items() if not is_formula(name)
                and (not task or not offer.tasks or task in offer.tasks)}  # fmt: skip

    def of_task(self, kind: str, task: str) -> dict[str, Entry]:
        """The ``"models"`` or ``"datasets"`` of one task."""
        return {name: offer for name, offer in getattr(self, kind).items() if offer.task == task}

    def entry(self, kind: str, name: str) -> Entry | Checkpoint | None:
        """The record of that kind and name; None if it cannot be used."""
        return (self.others[kind] if kind in self.others else getattr(self, kind)).get(name)

    def option(self, task: str, name: str) -> Parameter:
        """A parameter that a task reads; KeyError where there is none of that name."""
        return {each.name: each for each in self.options[task]}[name]

    def metric(self, task: str, name: str) -> Metric:
        """A metric of a task; one that is not listed here is called by its bare name."""
        found = (metric for metric in self.metrics.get(task, ()) if metric.name == name)
        return next(found, Metric(name=name, title=name))

    def of_kind(self, kind: str = TRANSLATES) -> list[Checkpoint]:
        """The checkpoints of one kind, those that translate unless another is named."""
        return [entry for entry in self.checkpoints.values() if entry.kind == kind]

    def corpora(self, kind: str = TRANSLATES) -> tuple[str, ...]:
        """The corpora that checkpoints were trained on, those of most shipped ones first.

        What adopted models learned from comes last.
        """
        known = self.of_kind(kind)
        own = [one for one in known if not one.adopted]
        theirs = [one for one in known if one.adopted]
        shipped = [one for one in own if one.shipped]
        ranked = (Counter(one.corpus for one in some) for some in (shipped, own, theirs))
        return tuple(dict.fromkeys(corpus for rank in ranked for corpus, _ in rank.most_common()))

    def corpus_title(self, corpus: str) -> str:
        """The title of what checkpoints were trained on; its name where no data set has it."""
        known = self.datasets.get(corpus)
        return known.short_title if known else corpus

    def usual(self, corpus: str, kind: str = TRANSLATES) -> list[Checkpoint]:
        """The checkpoints of a corpus that a page may show unasked: those that are shipped.

        So a bare address shows the same on every server, whatever was trained and kept there.
        Where none is shipped, all of the corpus.
        """
        own = [entry for entry in self.of_kind(kind) if entry.corpus == corpus]
        return [entry for entry in own if entry.shipped] or own

    def readers(self, corpus: str, kind: str = TRANSLATES) -> list[Checkpoint]:
        """The checkpoints to set side by side: those of the corpus, then all adopted ones."""
        entries = self.of_kind(kind)
        own = [entry for entry in entries if entry.corpus == corpus]
        return own + [entry for entry in entries if entry.adopted and entry.corpus != corpus]


def sides_in(facts: Mapping[str, Any]) -> Sides | tuple[()]:
    """The sides of a data set or of a card's corpus; empty where these are no two names."""
    match facts.get("sides"):
        case [str(source), str(target)] if source and target:
            return source, target
    return ()


def examples_in(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """The example sentences of a data set or of a card's corpus."""
    found = facts.get("examples")
    listed = found if isinstance(found, list | tuple) else ()
    return tuple(text for text in listed if isinstance(text, str))


def _translations(found: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """By language; of two plugins that translate the same text the first one counts."""
    held: dict[str, dict[str, str]] = {}
    for one in found:
        own = held.setdefault(one["language"], {})
        held[one["language"]] = {**one["texts"], **own}
    return held


def _unusable(entry: Mapping[str, Any], fault: str) -> dict[str, Any]:
    origin = entry.get("plugin", {})
    return {
        "plugin": entry["name"], "distribution": origin.get("distribution", ""),
        "built_in": origin.get("built_in", False), "stage": "checkpoint", "message": fault,
        "advice": "correct its card.json, train it again, or take its folder away",
    }  # fmt: skip


def formula_request(text: str) -> Request:
    """Ask what a formula is."""
    return Request.make("formula", options={"text": text})


def package_request(text: str, name: str) -> Request:
    """Ask for a formula with the package of a name of one's own."""
    return Request.make("formula", options={"text": text, "name": name})

"""What a race is made of: contestants, single trainings (trials), and what came of each."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from statistics import median
from typing import Any, Literal

from attention_plugins.contract import ContractError
from attention_plugins.marking import gettext_noop
from attention_plugins.race.statistics import mean_with_interval

FORMAT = 1
SOLVED, FLAT, SPENT = (gettext_noop("solved"), gettext_noop("flat"), gettext_noop("out of budget"))


@dataclass(frozen=True, kw_only=True, order=True)
class Contestant:
    """What is compared: a scoring with a normaliser in a model, by their names.

    ``normaliser``: empty for the scoring's own way, a softmax unless it says otherwise.
    """

    model: str
    scoring: str
    normaliser: str = ""

    @property
    def name(self) -> str:
        """Scoring and normaliser, such as ``scaled_dot + sparsemax``."""
        return f"{self.scoring} + {self.normaliser}" if self.normaliser else self.scoring


@dataclass(frozen=True, kw_only=True, order=True)
class Trial:
    """One training of a contestant on a task.

    Args:
        seed: of the data, of the initial weights and of the order of batches: equal seeds give
            all contestants the same draws.
        tuning: whether it only chooses a rate. Its seed is none of the race's.
    """

    task: str
    contestant: Contestant
    rate: float
    seed: int
    tuning: bool = False

    @property
    def id(self) -> str:
        """Its name in a race, such as ``copy/transformer/additive/softmax/0.01/3``."""
        who = self.contestant
        parts = (self.task, who.model, who.scoring, who.normaliser or "own", f"{self.rate:g}")
        return "/".join((*parts, f"{'tuning ' if self.tuning else ''}{self.seed}"))


# JSON writes 2.0 as 2 where it likes, and tables take no integer that a float would round.
_REAL = ("validation", "quality", "parts", "losses", "milliseconds", "seconds")
_REAL_OF_EXAMPLE = ("weights", "x", "predicted", "truth")


@dataclass(frozen=True, kw_only=True)
class Example:
    """What one trained contestant does with one example, the same for all.

    Tokens written, tokens read and weights by head, row and column; or, of a regression problem,
    the curve. The other fields are empty.
    """

    queries: Sequence[str] = ()
    keys: Sequence[str] = ()
    weights: Sequence[Sequence[Sequence[float]]] = ()
    x: Sequence[float] = ()
    predicted: Sequence[float] = ()
    truth: Sequence[float] = ()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a trial.

    Args:
        validation: on the part that rates are chosen by, in the metric of ``quality``.
        quality: on unseen data like those learned, in the unit of the task's metric.
        parts: the same of parts of these data: ``near`` and ``far`` from what was learned, and
            ``copied``, which is what the answer to the nearest learned example is worth.
        curve: ``(size, quality)`` where sequences are longer, or points more, than any learned.
        losses: of each epoch, in the unit of the task's loss.
        course: ``(step, validation, loss)`` after each epoch, of tasks of the field.
        ended: why the training ended, of :data:`SOLVED` and so on; empty of other tasks.
        operations: multiplications and additions of matrix products for one example forward.
        milliseconds: of one step of training, without those of the first epoch.
        seconds: of a core, or of a device, for the whole trial, all that is measured included.
        problem: why there is no quality, in a sentence. Then all else is empty.
    """

    trial: Trial
    validation: float = math.nan
    quality: float = math.nan
    parts: Mapping[str, float] = field(default_factory=dict)
    curve: Sequence[tuple[float, float]] = ()
    losses: Sequence[float] = ()
    course: Sequence[tuple[float, float, float]] = ()
    ended: str = ""
    parameters: int = 0
    operations: int = 0
    milliseconds: float = math.nan
    seconds: float = 0.0
    example: Example | None = None
    problem: str = ""

    @property
    def steps(self) -> int:
        """How many steps a training on a task of the field took."""
        return round(self.course[-1][0]) if self.course else 0

    def to_json(self) -> dict[str, Any]:
        """As :meth:`from_json` reads it, without what is empty or no finite number."""
        finite = replace(
            self,
            parts={name: value for name, value in self.parts.items() if math.isfinite(value)},
            curve=[(size, value) for size, value in self.curve if math.isfinite(value)],
            losses=[*filter(math.isfinite, self.losses)],
        )
        return {name: value for name, value in asdict(finite).items()
                if (math.isfinite(value) if isinstance(value, float) else value)}  # fmt: skip

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Outcome":
        """An outcome as it was written; raises :class:`ContractError` at anything else."""
        try:
            trial = _real(found["trial"], ("rate",))
            trial["contestant"] = Contestant(**trial["contestant"])
            example = found.get("example")
            own = {
                "trial": Trial(**trial),
                "curve": tuple((float(x), float(y)) for x, y in found.get("curve", ())),
                "course": tuple(
                    (float(step), float(value), float(loss))
                    for step, value, loss in found.get("course", ())
                ),
                "example": Example(**_real(example, _REAL_OF_EXAMPLE)) if example else None,
            }
            return cls(**_real(found, _REAL) | own)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ContractError(f"this is no outcome of a race: {error!r}") from error


def _real(found: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """What was found, with these of its numbers, or lists and mappings of them, as floats."""
    return {**found} | {name: _floats(found[name]) for name in names if name in found}


def _floats(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _floats(one) for name, one in value.items()}
    return [*map(_floats, value)] if isinstance(value, list | tuple) else float(value)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How much every contestant is given on a task.

    ``examples`` are training pairs or points; ``rates`` the learning rates that are tried. While
    the best one lies at their edge one more is tried beyond it, at most ``widen`` in all.
    """

    examples: int
    epochs: int
    batch_size: int
    rates: Sequence[float]
    widen: int = 0

    @property
    def steps(self) -> int:
        """Steps of a training: an epoch's last batch may be smaller, and is a step too."""
        return self.epochs * math.ceil(self.examples / self.batch_size)

    def longer(self, times: int) -> "Budget":
        """The same with so many times the epochs."""
        return replace(self, epochs=self.epochs * times)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that a race compares, and how; equal plans give equal trials.

    A contestant whose model is for another task sits it out. Of each contestant on each task
    ``seeds`` trainings are compared, ``tuning_seeds`` more choose its learning rate. After each of
    the first ``halving`` of these only the better half goes on.
    """

    tasks: Mapping[str, Budget]
    contestants: Sequence[Contestant]
    seeds: int
    tuning_seeds: int = 1
    halving: int = 0

    def to_json(self) -> dict[str, Any]:
        """As :meth:`from_json` reads it."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Plan":
        """A plan as it was written; raises :class:`ContractError` at anything else."""
        try:
            if found["format"] != FORMAT:
                raise ContractError(
                    f"this race has format {found['format']!r}; need {FORMAT}, so run it anew"
                )
            return cls(
                tasks={
                    name: Budget(**one | {"rates": tuple(_floats(one["rates"]))})
                    for name, one in found["tasks"].items()
                },
                contestants=tuple(Contestant(**one) for one in found["contestants"]),
                seeds=int(found["seeds"]),
                tuning_seeds=int(found["tuning_seeds"]),
                halving=int(found.get("halving", 0)),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, ContractError):
                raise
            raise ContractError(f"this is no plan of a race: {error!r}") from error


COPIED = "copied"  # the part of an outcome that is the same for every contestant
# Outcomes hold 5 digits: numbers this close, as a share of the larger one, differ by rounding.
TOLERANCE = 1e-4
_FEWEST = 2  # seeds that equal contestants share

Edge = Literal["", "lowest", "highest"]


def edge_of(rate: float | None, tuned: Sequence[Outcome]) -> Edge:
    """At which end of the rates tried a chosen one lies.

    Empty, too, where all rates came out alike, as those of a contestant that learns nothing.
    """
    tried = {one.trial.rate for one in tuned}
    seeds = {one.trial.seed for one in tuned}
    if len({(one.trial.seed, one.validation) for one in tuned}) <= len(seeds):
        return ""
    edges: dict[float | None, Edge] = {min(tried): "lowest", max(tried): "highest"}
    return edges.get(rate, "")


@dataclass
class Entry:
    """A contestant's outcomes on one task: those reported, by seed, and why others failed."""

    by_seed: dict[int, Outcome] = field(default_factory=dict)
    tuned: list[Outcome] = field(default_factory=list)
    place: int = 0  # in the order in which contestants first appear

    def add(self, outcome: Outcome) -> None:
        """One more outcome of the same contestant on the same task; of equal trials the first.

        Raises :class:`ContractError` at another trial of its seed.
        """
        trial = outcome.trial
        if trial.tuning:
            self.tuned.append(outcome)
            return
        kept = self.by_seed.setdefault(trial.seed, outcome)
        if kept.trial != trial:
            raise ContractError(
                f"{trial.contestant.name} ran on {trial.task!r} with seed {trial.seed} at the "
                f"rates {kept.trial.rate:g} and {trial.rate:g}; need one rate"
            )

    def qualities(self, seeds: Sequence[int]) -> list[float]:
        """By seed; NaN where there is none."""
        return [self.by_seed[seed].quality if seed in self.by_seed else math.nan for seed in seeds]

    @property
    def failed(self) -> bool:
        """Whether all that was tried has a problem."""
        return all(outcome.problem for outcome in list(self.by_seed.values()) or self.tuned)

    @property
    def rate(self) -> float | None:
        """The learning rate of the outcomes that are reported; None before there is one."""
        return next((one.trial.rate for one in self.by_seed.values()), None)

    def facts(self) -> dict[str, Any]:
        """What a :class:`Standing` says of these outcomes alone."""
        ran = [one for _, one in sorted(self.by_seed.items()) if math.isfinite(one.quality)]
        milliseconds = [one.milliseconds for one in ran if math.isfinite(one.milliseconds)]
        return {
            "parts": {
                name: mean_with_interval([one.parts.get(name, math.nan) for one in ran])
                for name in dict.fromkeys(name for one in ran for name in one.parts)
            },
            "parameters": round(median(one.parameters for one in ran)) if ran else 0,
            "operations": round(median(one.operations for one in ran)) if ran else 0,
            "milliseconds": median(milliseconds) if milliseconds else math.nan, "rate": self.rate,
            "edge": edge_of(self.rate, self.tuned), "seeds": len(ran), "problem": self._problem(),
        }  # fmt: skip

    def _problem(self) -> str:
        problems = [one.problem for one in self.by_seed.values() if one.problem]
        if self.failed:
            return (problems or [one.problem for one in self.tuned])[0]
        if not problems:
            return ""
        return gettext_noop(f"{len(problems)} of {len(self.by_seed)} trainings: {problems[0]}")


def entries_of(outcomes: Iterable[Outcome], task: str) -> dict[Contestant, Entry]:
    """By contestant, in their own order."""
    found: dict[Contestant, Entry] = {}
    for outcome in outcomes:
        if outcome.trial.task == task:
            found.setdefault(outcome.trial.contestant, Entry(place=len(found))).add(outcome)
    return dict(sorted(found.items()))


def equals_of(
    by_seed: Mapping[Contestant, Mapping[Any, Outcome]], first: Contestant
) -> dict[Contestant, tuple[Contestant, ...]]:
    """The contestants that differ in any outcome, each with those that equal it in all.

    Contestants of one model are equal that have the same seeds, at least two, and in every one
    the same validation, quality, parts, curve and losses but for :data:`TOLERANCE`: they are one
    function on this task, under several names. Of those that equal ``first`` it stands for all,
    else the first one does.
    """
    found: dict[Contestant, list[Contestant]] = {}
    for who in sorted(by_seed, key=lambda who: who != first):
        alike = (one for one in found if one.model == who.model)
        twin = next((one for one in alike if _equal(by_seed[one], by_seed[who])), None)
        if twin is None:
            found[who] = []
        else:
            found[twin].append(who)
    return {who: tuple(found[who]) for who in by_seed if who in found}


def _equal(ours: Mapping[Any, Outcome], theirs: Mapping[Any, Outcome]) -> bool:
    if len(ours) < _FEWEST or ours.keys() != theirs.keys():
        return False
    return all(_same(ours[seed], theirs[seed]) for seed in ours)


def _same(ours: Outcome, theirs: Outcome) -> bool:
    if ours.problem or theirs.problem or ours.parts.keys() != theirs.parts.keys():
        return False
    one, other = _numbers(ours), _numbers(theirs)
    return len(one) == len(other) and all(
        math.isclose(x, y, rel_tol=TOLERANCE) or (math.isnan(x) and math.isnan(y))
        for x, y in zip(one, other, strict=True)
    )


def _numbers(one: Outcome) -> list[float]:
    parts = [one.parts[name] for name in sorted(one.parts)]
    return [one.quality, one.validation, *parts, *chain(*one.curve), *one.losses]

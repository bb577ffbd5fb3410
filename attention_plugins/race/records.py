"""What a race is made of: contestants, single trainings (trials), and what came of each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from attention_plugins.contract import ContractError

FORMAT = 1


@dataclass(frozen=True, kw_only=True, order=True)
class Contestant:
    """What is compared: a scoring with a normaliser in a model, by their names.

    Args:
        normaliser: empty for the scoring's own way, a softmax unless it says otherwise.
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
        task: a data set's name.
        contestant: who is trained.
        rate: the learning rate.
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

    Args:
        queries: what the rows of the map are: the tokens written; of a regression problem empty.
        keys: what its columns are: the tokens read.
        weights: by head, row and column; of a regression problem empty.
        x, predicted, truth: of a regression problem the curve; else empty.
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
        trial: which.
        validation: on the part that rates are chosen by, in the metric of ``quality``.
        quality: on unseen data like those learned, in the unit of the task's metric.
        parts: the same of parts of these data: ``near`` and ``far`` from what was learned, and
            ``copied``, which is what the answer to the nearest learned example is worth.
        curve: ``(size, quality)`` where sequences grow longer, or training points more, than any
            that was learned.
        losses: of each epoch, in the unit of the task's loss.
        parameters: weights that learn.
        operations: multiplications and additions of matrix products for one example forward.
        milliseconds: of one step of training, without those of the first epoch.
        seconds: of the whole trial, all that is measured included.
        example: of the first seed.
        problem: why there is no quality, in a sentence: the scoring does not fit the model, or
            the loss became infinite. Then all else is empty.
    """

    trial: Trial
    validation: float = math.nan
    quality: float = math.nan
    parts: Mapping[str, float] = field(default_factory=dict)
    curve: Sequence[tuple[float, float]] = ()
    losses: Sequence[float] = ()
    parameters: int = 0
    operations: int = 0
    milliseconds: float = math.nan
    seconds: float = 0.0
    example: Example | None = None
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """As :meth:`from_json` reads it, without what is empty or no finite number."""
        finite = replace(
            self,
            parts={name: value for name, value in self.parts.items() if math.isfinite(value)},
            curve=[(size, value) for size, value in self.curve if math.isfinite(value)],
            losses=[loss for loss in self.losses if math.isfinite(loss)],
        )
        return {
            name: value
            for name, value in asdict(finite).items()
            if (math.isfinite(value) if isinstance(value, float) else value)
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Outcome:
        """An outcome as it was written.

        Raises:
            ContractError: something else.
        """
        try:
            trial = found["trial"]
            example = found.get("example")
            return cls(
                **{
                    **_real(found, _REAL),
                    "trial": Trial(
                        **{
                            **_real(trial, ("rate",)),
                            "contestant": Contestant(**trial["contestant"]),
                        }
                    ),
                    "curve": tuple((float(x), float(y)) for x, y in found.get("curve", ())),
                    "example": Example(**_real(example, _REAL_OF_EXAMPLE)) if example else None,
                }
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ContractError(f"this is no outcome of a race: {error!r}") from error


def _real(found: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """What was found, with these of its numbers, or lists and mappings of numbers, as floats."""
    return {**found, **{name: _floats(found[name]) for name in names if name in found}}


def _floats(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _floats(one) for name, one in value.items()}
    return [*map(_floats, value)] if isinstance(value, list | tuple) else float(value)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How much every contestant is given on a task.

    Args:
        examples: training pairs, or training points of a regression problem.
        epochs: passes over them.
        batch_size: pairs in a step.
        rates: the learning rates that are tried.
    """

    examples: int
    epochs: int
    batch_size: int
    rates: Sequence[float]

    @property
    def steps(self) -> int:
        """Steps of a training: an epoch's last batch may be smaller, and is a step too."""
        return self.epochs * math.ceil(self.examples / self.batch_size)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that a race compares, and how; equal plans give equal trials.

    Args:
        tasks: what is learned, by name, with the budget of each.
        contestants: who learns. One whose model is for another task sits it out.
        seeds: how many trainings of each contestant on each task are compared.
        tuning_seeds: how many more choose its learning rate.
    """

    tasks: Mapping[str, Budget]
    contestants: Sequence[Contestant]
    seeds: int
    tuning_seeds: int = 1

    def to_json(self) -> dict[str, Any]:
        """As :meth:`from_json` reads it."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Plan:
        """A plan as it was written.

        Raises:
            ContractError: something else.
        """
        try:
            if found["format"] != FORMAT:
                raise ContractError(
                    f"this race has format {found['format']!r}; need {FORMAT}, so run it anew"
                )
            return cls(
                tasks={
                    name: Budget(**{**one, "rates": tuple(_floats(one["rates"]))})
                    for name, one in found["tasks"].items()
                },
                contestants=tuple(Contestant(**one) for one in found["contestants"]),
                seeds=int(found["seeds"]),
                tuning_seeds=int(found["tuning_seeds"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, ContractError):
                raise
            raise ContractError(f"this is no plan of a race: {error!r}") from error

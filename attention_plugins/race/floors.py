"""Between which two values a task can tell contestants apart: its floors and its ceiling.

A floor is what can be had without learning what the task is about. It is computed of the same
data that contestants learn and are measured on.
"""

from __future__ import annotations

import functools
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from attention_plugins.contract import SentencePair
from attention_plugins.datasets.parallel import EVERYDAY, references
from attention_plugins.marking import gettext_noop
from attention_plugins.race.data import draws_lengths, problem_of, split_of
from attention_plugins.race.standings import Standing
from attention_plugins.race.statistics import Estimate, mean_with_interval
from attention_plugins.registry import installed

DECIDES = 0.1  # of the way from floor to ceiling; a best contestant that covers no more shows none
NEAREST = gettext_noop("copying the nearest learned example")
UNIFORM = gettext_noop("uniform attention")
_INPUT = gettext_noop("copying the input")
_COMMONEST = gettext_noop("the commonest token at each place")
_CHANCE = gettext_noop("a random token at each place")
_MEAN = gettext_noop("the mean of the training points")
_ANSWERS, _TRUTH = gettext_noop("the right answers"), gettext_noop("the truth")
_SCORING = "uniform"  # every key alike
_MOST_SEEDS = 12
_DIGITS = 3


class Floor(NamedTuple):
    """What can be had without learning the task, in the unit of its metric.

    Args:
        name: how, in English.
        value: over the seeds of the race.
    """

    name: str
    value: Estimate


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The floors and the ceiling of a task, and how far its best contestant comes.

    Args:
        floors: the best one first.
        ceiling: what nobody can surpass, and ``top``, what reaches it.
        best: the mean of the best contestant.
    """

    floors: tuple[Floor, ...]
    ceiling: float
    top: str
    best: float

    @property
    def share(self) -> float:
        """Of the way from the best floor to the ceiling, what the best contestant covers."""
        floor = self.floors[0].value.mean
        way = self.ceiling - floor
        return (self.best - floor) / way if way else 0.0

    @property
    def decides(self) -> bool:
        """Whether differences on this task are of attention: the best one covers over a tenth."""
        return self.share > DECIDES


def limits(
    task: str, examples: int, rows: Sequence[Standing], copied: Estimate | None,
    higher_is_better: bool,
) -> Limits | None:  # fmt: skip
    """The limits of a task; None while no contestant has a quality.

    Args:
        task: a data set's name.
        examples: that are learned.
        rows: the task's standings.
        copied: what copying the nearest learned example is worth; None where that is not known.
        higher_is_better: of the task's metric.

    Raises:
        ContractError: the data set or its metric is not installed.
    """
    ran = [row for row in rows if row.seeds]
    if not ran:
        return None
    computed, ceiling, top = _computed(task, examples, max(row.seeds for row in ran))
    found = [Floor(name, mean_with_interval(values)) for name, values in computed.items()]
    if copied is not None:
        found.append(Floor(NEAREST, copied))
    plain = [
        row.quality
        for row in ran
        for who in (row.contestant, *row.equals)
        if (who.scoring, who.normaliser) == (_SCORING, "")
    ]
    found += [Floor(UNIFORM, quality) for quality in plain]
    sign = -1 if higher_is_better else 1
    best = min(ran, key=lambda row: sign * row.quality.mean).quality.mean
    floors = tuple(sorted(found, key=lambda one: sign * one.value.mean))
    return Limits(floors=floors, ceiling=ceiling, top=top, best=best)


@functools.lru_cache(maxsize=32)
def _computed(
    task: str, examples: int, seeds: int
) -> tuple[Mapping[str, Sequence[float]], float, str]:
    """What the data alone say: the floors by seed, the ceiling and what reaches it."""
    spec = installed().dataset(task)
    drawn = range(min(seeds, _MOST_SEEDS))
    if spec.task == "regression":
        return {_MEAN: [_error_of_mean(task, examples, seed) for seed in drawn]}, 0.0, _TRUTH
    score = installed().metric(spec.metric).score
    if not draws_lengths(spec):  # a corpus takes seconds to read: what outcomes hold has to do
        texts = spec.examples or EVERYDAY
        return {}, round(float(score(texts, [[text] for text in texts])), _DIGITS), _ANSWERS
    found: dict[str, list[float]] = defaultdict(list)
    top: list[float] = []
    for seed in drawn:
        data = split_of(task, examples, seed)
        wanted = references(data.reported)
        for name, answers in _answers(data.learned, [*wanted], seed).items():
            found[name].append(round(float(score(answers, [*wanted.values()])), _DIGITS))
        top.append(float(score([right[0] for right in wanted.values()], [*wanted.values()])))
    ceiling = round(max(top), _DIGITS)
    # What is always right is the task itself, as copying is of the task of that name.
    return {name: own for name, own in found.items() if min(own) < ceiling}, ceiling, _ANSWERS


def _error_of_mean(task: str, points: int, seed: int) -> float:
    data, truth = problem_of(task, points, seed)
    return float((data.y.mean() - truth).square().mean())


def _answers(
    learned: Sequence[SentencePair], sources: Sequence[str], seed: int
) -> dict[str, list[str]]:
    """What those say who have learned nothing of how an answer follows from its source."""
    by_length: dict[int, list[list[str]]] = defaultdict(list)
    for pair in learned:
        by_length[len(pair.source.split())].append(pair.target.split())
    every = [target for targets in by_length.values() for target in targets]
    tokens, generator = (
        sorted({token for target in every for token in target}),
        random.Random(seed),
    )
    lengths = {len(source.split()) for source in sources}
    usual = {length: _commonest(by_length.get(length) or every) for length in lengths}
    found: dict[str, list[str]] = {_INPUT: [*sources], _COMMONEST: [], _CHANCE: []}
    for source in sources:
        answer = usual[len(source.split())]
        found[_COMMONEST].append(" ".join(answer))
        found[_CHANCE].append(" ".join(generator.choices(tokens, k=len(answer))))
    return found


def _commonest(targets: Sequence[Sequence[str]]) -> list[str]:
    """At each place the token that most targets have there, up to where most of them end."""
    found: list[str] = []
    while True:
        place = len(found)
        here = Counter(target[place] if place < len(target) else "" for target in targets)
        token = here.most_common(1)[0][0]
        if not token:
            return found
        found.append(token)

"""The data of a race, and between which two values they can tell contestants apart.

What is learned, what rates are chosen by and what is reported never share a source sentence. All
contestants of one seed get the same. A floor is what can be had of the same data without learning
what the task is about.
"""

import functools
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from typing import NamedTuple

from torch import Tensor

from attention_plugins.contract import (
    ContractError,
    DatasetSpec,
    RegressionData,
    Scalar,
    SentencePair,
    settle,
)
from attention_plugins.datasets.parallel import EVERYDAY, references, split_by_source
from attention_plugins.evaluation import Neighbour, neighbours_of
from attention_plugins.experiment import counted_by
from attention_plugins.marking import gettext_noop
from attention_plugins.race.standings import Standing
from attention_plugins.race.statistics import Estimate, mean_with_interval
from attention_plugins.registry import installed

VALIDATION, REPORTED, AT_A_LENGTH = 100, 200, 100  # source sentences
LENGTHS = (4, 6, 8, 10, 12, 16)  # of sequences; those beyond the training's are extrapolation
POINTS = (25, 50, 100, 200, 400)  # of regression problems
_FEWEST_OF_A_LENGTH = 20  # sentences of a corpus


@dataclass(frozen=True)
class Split:
    """Sentence pairs for one seed: those learned, those that choose a rate, those reported."""

    learned: Sequence[SentencePair]
    validation: Sequence[SentencePair]
    reported: Sequence[SentencePair]


@dataclass(frozen=True)
class Pairs(Split):
    """Sentence pairs for one seed; ``by_length`` are never learned either."""

    by_length: Mapping[int, Sequence[SentencePair]]
    neighbours: Mapping[str, Neighbour]


class Problem(NamedTuple):
    """A regression problem's draw, and the true values ``(m,)`` at its queries."""

    data: RegressionData
    truth: Tensor


def draws_lengths(spec: DatasetSpec) -> bool:
    """Whether sequences of any length can be drawn of a data set."""
    return {"pairs", "shortest", "longest"} <= {p.name for p in spec.parameters}


@functools.lru_cache(maxsize=2)
def pairs_of(task: str, examples: int, seed: int) -> Pairs:
    """The sentence pairs of one seed: of the draw of a task of symbols, else of what is held out.

    At most ``examples`` are learned. Raises :class:`ContractError` where there are too few pairs.
    """
    registry = installed()
    spec = registry.dataset(task)
    split = split_of(task, examples, seed)
    return Pairs(
        **vars(split),
        by_length=_lengths(spec, split, seed),
        neighbours=neighbours_of(split.reported, split.learned, registry, counted_by(spec)),
    )


def split_of(task: str, examples: int, seed: int) -> Split:
    """What of :func:`pairs_of` takes a moment."""
    spec = installed().dataset(task)
    held = VALIDATION + REPORTED
    hundreds = -(-(examples + held) // 100)  # tasks of symbols are asked for multiples of 100
    pairs = _drawn(spec, {"pairs": 100 * hundreds}, seed) if draws_lengths(spec) else _all(task)
    if len(references(pairs)) <= held:
        raise ContractError(
            f"data set {task!r} has {len(references(pairs)):,} different sources; a race needs "
            f"more than {held}"
        )
    rest, reported = split_by_source(pairs, held_out=REPORTED, seed=seed)
    rest, validation = split_by_source(rest, held_out=VALIDATION, seed=seed)
    return Split(random.Random(seed).sample(rest, min(examples, len(rest))), validation, reported)


def problem_of(task: str, points: int, seed: int) -> Problem:
    """A regression problem's draw of so many training points.

    Raises :class:`ContractError` where its true values are not known.
    """
    spec = installed().dataset(task)
    if "points" not in {p.name for p in spec.parameters}:
        raise ContractError(f"data set {task!r} draws no points; it cannot be raced on")
    data = spec.load(settle(spec.parameters, {"points": points}), seed)
    if not isinstance(data, RegressionData) or data.truth is None:
        raise ContractError(f"data set {task!r} knows no true values; it cannot be raced on")
    return Problem(data, data.truth)


@functools.lru_cache(maxsize=1)
def _all(task: str) -> Sequence[SentencePair]:
    return _drawn(installed().dataset(task), {}, 0)


def _drawn(spec: DatasetSpec, values: Mapping[str, Scalar], seed: int) -> Sequence[SentencePair]:
    loaded = spec.load(settle(spec.parameters, values), seed)
    if isinstance(loaded, RegressionData):
        raise ContractError(f"data set {spec.name!r} holds no sentence pairs")
    return loaded


def _lengths(spec: DatasetSpec, split: Split, seed: int) -> Mapping[int, Sequence[SentencePair]]:
    """New sequences of each length that the task can draw; of a corpus reported sentences."""
    found: dict[int, list[SentencePair]] = defaultdict(list)
    if not draws_lengths(spec):
        for pair in split.reported:
            found[len(pair.source.split())].append(pair)
        return {n: found[n] for n in sorted(found) if len(found[n]) >= _FEWEST_OF_A_LENGTH}
    learned = {pair.source for pair in split.learned}
    for length in LENGTHS:
        asked = {"pairs": AT_A_LENGTH, "shortest": length, "longest": length}
        with suppress(ContractError):  # more keys than letters
            drawn = _drawn(spec, asked, seed + 1)
            found[length] = [pair for pair in drawn if pair.source not in learned]
    return {length: new for length, new in found.items() if new}


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
    """How something can be had without learning the task, and what over the seeds of a race."""

    name: str
    value: Estimate


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The floors of a task, the best one first, and what its best contestant reaches.

    Nobody can surpass the ceiling, which ``top`` reaches.
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
    """The limits of a task of so many learned examples; None while no contestant has a quality.

    ``copied`` is what copying the nearest learned example is worth; None where that is not known.
    """
    ran = [row for row in rows if row.seeds]
    if not ran:
        return None
    computed, ceiling, top = _computed(task, examples, max(row.seeds for row in ran))
    found = [Floor(name, mean_with_interval(values)) for name, values in computed.items()]
    if copied is not None:
        found.append(Floor(NEAREST, copied))
    found += [Floor(UNIFORM, row.quality) for row in ran for who in (row.contestant, *row.equals)
              if (who.scoring, who.normaliser) == (_SCORING, "")]  # fmt: skip
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
        problems = (problem_of(task, examples, seed) for seed in drawn)
        errors = [float((data.y.mean() - truth).square().mean()) for data, truth in problems]
        return {_MEAN: errors}, 0.0, _TRUTH
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


def _answers(
    learned: Sequence[SentencePair], sources: Sequence[str], seed: int
) -> dict[str, list[str]]:
    """What those say who have learned nothing of how an answer follows from its source."""
    by_length: dict[int, list[list[str]]] = defaultdict(list)
    for pair in learned:
        by_length[len(pair.source.split())].append(pair.target.split())
    every = [target for targets in by_length.values() for target in targets]
    tokens = sorted({token for target in every for token in target})
    generator = random.Random(seed)
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
    places = zip_longest(*targets, fillvalue="")
    return [*takewhile(bool, (Counter(tokens).most_common(1)[0][0] for tokens in places))]

"""A small race that was never run: two tasks, two models, outcomes with known differences."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from attention_plugins.race.records import Budget, Contestant, Example, Outcome, Plan, Trial
from attention_plugins.race.store import OUTCOMES, Race

SEEDS = 7
RATES = (0.01, 0.03)
QUERIES, KEYS = ("c", "b", "<eos>"), ("b", "c", "d", "<eos>", "x")


def contestant(scoring: str, model: str = "transformer", normaliser: str = "") -> Contestant:
    return Contestant(model=model, scoring=scoring, normaliser=normaliser)


# On "reverse": in points of exact match against scaled_dot; noise is drawn for each seed.
GAINS = {
    contestant("scaled_dot"): 0.0,
    contestant("additive"): 11.0,
    contestant("uniform"): -23.0,
    contestant("scaled_dot", normaliser="sparsemax"): 0.1,
    contestant("uniform", normaliser="hard"): None,  # could not run
}
# On "sine": factors of the error of gaussian.
FACTORS = {
    contestant("gaussian", "nadaraya_watson"): 1.0,
    contestant("laplacian", "nadaraya_watson"): 0.5,
    contestant("uniform", "nadaraya_watson"): 3.0,
}
PROBLEM = "hard has no gradient, so nothing is learned"
PLAN = Plan(
    tasks={
        "reverse": Budget(examples=400, epochs=5, batch_size=64, rates=RATES),
        "sine": Budget(examples=50, epochs=20, batch_size=50, rates=RATES),
    },
    contestants=(*GAINS, *FACTORS),
    seeds=SEEDS,
)
FACTS = {"command": "python -m attention_plugins race --output x", "machine": "x86_64, 1 threads",
         "commit": "1234567", "torch": "2.13.0"}  # fmt: skip


def outcomes(seeds: int = SEEDS) -> Iterator[Outcome]:
    """What came of every trial; the same each time."""
    noise = random.Random(17)
    for seed in range(seeds):
        hard = noise.gauss(0, 3.0)  # this seed's data, the same for all
        for who, gain in GAINS.items():
            own = noise.gauss(0, 1.0)
            yield from _tuned("reverse", who, seed, failed=gain is None)
            if gain is not None:
                yield _reversed(who, seed, 60 + hard + gain + own)
        for who, factor in FACTORS.items():
            own = noise.gauss(0, 0.01)
            yield from _tuned("sine", who, seed)
            yield _fitted(who, seed, (0.2 + hard / 50) * factor + own)


def laid_down(folder: Path, seeds: int = SEEDS, plan: Plan = PLAN) -> Race:
    """The race in a folder, as the command leaves it."""
    race = Race.create(folder, plan, FACTS)
    (folder / OUTCOMES).write_bytes(_lines(seeds))
    return race


@cache
def _lines(seeds: int) -> bytes:
    """The outcomes as a race adds them, one by one and safe from a power loss."""
    with TemporaryDirectory() as folder:
        race = Race.create(Path(folder), PLAN, FACTS)
        for outcome in outcomes(seeds):
            race.add(outcome)
        return (race.folder / OUTCOMES).read_bytes()


def _tuned(task: str, who: Contestant, seed: int, failed: bool = False) -> Iterator[Outcome]:
    if seed:
        return
    for rate in RATES:
        trial = Trial(task=task, contestant=who, rate=rate, seed=1_000_000, tuning=True)
        if failed:
            yield Outcome(trial=trial, problem=PROBLEM, seconds=0.25)
        else:
            yield Outcome(trial=trial, validation=100 * rate, seconds=1.5)


def _rate(task: str) -> float:
    return max(RATES) if task == "reverse" else min(RATES)


def _reversed(who: Contestant, seed: int, quality: float) -> Outcome:
    example = None
    if seed == 0:
        row = [0.5, 0.125, 0.125, 0.25, 0.0]
        heads = [[row, row[::-1], row], [row[::-1], row, row]]
        example = Example(queries=QUERIES, keys=KEYS, weights=heads)
    return Outcome(
        trial=Trial(task="reverse", contestant=who, rate=_rate("reverse"), seed=seed),
        validation=quality + 1, quality=quality,
        parts={"near": quality + 5, "far": quality - 5, "copied": 31.0 + seed / 10},
        curve=[(float(n), quality - n) for n in (4, 8, 16)],
        losses=[2.0 / (epoch + 1) for epoch in range(5)],
        parameters=1_234 + len(who.scoring), operations=98_765, milliseconds=2.5, seconds=13.0,
        example=example,
    )  # fmt: skip


def _fitted(who: Contestant, seed: int, quality: float) -> Outcome:
    example = None
    if seed == 0:
        x = [0.0, 0.5, 1.0]
        example = Example(x=x, predicted=[v + quality for v in x], truth=x)
    return Outcome(
        trial=Trial(task="sine", contestant=who, rate=_rate("sine"), seed=seed),
        validation=quality, quality=quality,
        parts={"near": quality / 2, "far": quality * 2, "copied": 0.9},
        curve=[(float(n), quality * 10 / n) for n in (25, 50, 100)],
        losses=[1.0, 0.5, 0.25], parameters=1, operations=50, milliseconds=0.25, seconds=0.5,
        example=example,
    )  # fmt: skip

"""Whether races tell what is there from what is not, where both are known.

The scorings learn nothing here, and so are quick; what varies between seeds is the data.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from support.installing import install

from attention_plugins.race.records import Budget, Contestant, Outcome, Plan, Trial
from attention_plugins.race.standings import Verdict, standings
from attention_plugins.race.store import Race
from attention_plugins.race.trials import perform, run
from attention_plugins.registry import installed

pytestmark = pytest.mark.slow

SEEDS, REPEATS = 12, 20
NOISY = '''
import torch
from attention_plugins import hookimpl, scoring

@scoring("noisy", formula=r"-5 \\lVert q - k\\rVert^2 + \\epsilon", same_size=True)
def noisy(queries, keys):
    """A Gaussian kernel of a fixed width, with noise of deviation 1."""
    scores = -5 * torch.cdist(queries, keys) ** 2
    return scores + torch.randn_like(scores)

@hookimpl
def attention_scorings():
    yield noisy
'''


def contestant(scoring: str) -> Contestant:
    return Contestant(model="nadaraya_watson", scoring=scoring)


DOT, TYPED = contestant("scaled_dot"), contestant("=q.k/sqrt(d)")
KERNEL, SAME, NOISY_KERNEL = map(contestant, ("=-5 |q-k|^2", "=-(|q-k|^2) * 5", "noisy"))
PLAN = Plan(
    tasks={"sine": Budget(examples=40, epochs=5, batch_size=40, rates=(0.1,))},
    contestants=(KERNEL, SAME, NOISY_KERNEL), seeds=SEEDS,
)  # fmt: skip


@pytest.fixture(scope="module")
def _plugin(tmp_path_factory):
    """The noisy scoring as an author installs it, for this module alone."""
    site = tmp_path_factory.mktemp("site")
    install(site, "noisy", NOISY)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        installed.cache_clear()
        yield
        sys.modules.pop("noisy", None)
    installed.cache_clear()


def trained(who: Contestant, first: int) -> list[Outcome]:
    """Trainings with the seeds from ``first`` on, counted from 0."""
    found = (
        perform(Trial(task="sine", contestant=who, rate=0.1, seed=first + n), PLAN)
        for n in range(SEEDS)
    )
    return [replace(o, trial=replace(o.trial, seed=n)) for n, o in enumerate(found)]


def verdict(ours: list[Outcome], theirs: list[Outcome]) -> Verdict:
    reference = theirs[0].trial.contestant
    rows = standings([*ours, *theirs], "sine", reference=reference, higher_is_better=False)
    return next(row.verdict for row in rows if row.contestant != reference)


def test_one_scoring_under_two_names_is_no_difference_in_19_of_20_races():
    """Each name with seeds of its own: with equal ones all values would be equal."""
    found = []
    for repeat in range(REPEATS):
        first = 2 * repeat * SEEDS
        ours, theirs = trained(TYPED, first), trained(DOT, first + SEEDS)
        assert len({one.quality for one in (*ours, *theirs)}) == 2 * SEEDS
        found.append(verdict(ours, theirs))
    assert found.count("no difference found") >= 19


@pytest.mark.usefixtures("_plugin")
def test_noise_in_a_scoring_is_found_in_every_race():
    found = [
        verdict(trained(NOISY_KERNEL, first), trained(KERNEL, first))
        for first in range(0, REPEATS * SEEDS, SEEDS)
    ]
    assert found == ["worse"] * REPEATS


@pytest.mark.usefixtures("_plugin")
def test_a_whole_race_finds_the_noise_and_no_more(tmp_path):
    """With equal seeds two names of one scoring have the same values but for rounding: one row."""
    race = Race.create(tmp_path, PLAN, {})
    run(race)
    rows = standings(race.outcomes(), "sine", reference=KERNEL, higher_is_better=False)
    assert {row.contestant: (row.verdict, row.rank, row.problem) for row in rows} == {
        KERNEL: ("reference", 1, ""),
        NOISY_KERNEL: ("worse", 2, ""),
    }
    assert rows[0].equals == (SAME,)

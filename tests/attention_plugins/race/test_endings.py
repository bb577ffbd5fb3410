"""Why trainings ended that were given all their steps."""

import math
from dataclasses import replace

import pytest

from attention_plugins.race.endings import ending, sentence
from attention_plugins.race.records import FLAT, SOLVED, SPENT, Contestant, Outcome, Trial

TRIAL = Trial(task="copy", contestant=Contestant(model="m", scoring="a"), rate=0.1, seed=0)
LEARNING = Outcome(trial=TRIAL, quality=40.0, losses=[2.0, 1.5, 1.0, 0.8, 0.7, 0.6, 0.5, 0.49])


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        (LEARNING.losses, SPENT), ([2.0, 1.5, 1.0, 0.8, 0.7, 0.5, 0.4999, 0.496], FLAT),
        ([2.0, 1.5, 1.0, 0.8, 0.7, 0.5, 0.4999, 0.494], SPENT), ([1.0] * 12, FLAT),
        ([100.0] * 3 + [99.0], SPENT),
        ([1.0, 2.0, 3.0, 4.0], FLAT), ([1.0], SPENT), ((), SPENT),
    ],
)  # fmt: skip
def test_a_training_is_flat_where_its_last_quarter_brought_less_than_a_hundredth(losses, words):
    assert ending(replace(LEARNING, losses=losses), 100.0) == words


def test_the_best_quality_is_solved_and_what_ended_early_says_so_itself():
    assert ending(replace(LEARNING, quality=100.0), 100.0) == SOLVED
    assert ending(replace(LEARNING, quality=0.0), 0.0) == SOLVED
    assert ending(replace(LEARNING, quality=0.0), math.nan) == SPENT
    assert ending(replace(LEARNING, ended=FLAT), 100.0) == FLAT
    assert ending(replace(LEARNING, quality=math.nan, problem="no"), 100.0) == ""


def test_only_what_is_reported_is_counted():
    flat, solved = replace(LEARNING, losses=[1.0] * 8), replace(LEARNING, quality=100.0)
    tuning = replace(flat, trial=replace(TRIAL, tuning=True))
    failed = replace(flat, quality=math.nan, problem="no")
    assert sentence([LEARNING] * 2 + [flat, solved, tuning, failed], 100.0, 1_200) == (
        "Of 4 trainings 1 solved the task, 1 were flat, as in the last quarter of their 1,200 "
        "steps the loss fell by less than 1%, and 2 were out of budget."
    )
    assert sentence([LEARNING, tuning], 100.0, 12) == (
        "All 1 trainings were out of budget after 12 steps: they were not flat yet."
    )
    assert sentence([tuning, failed], 100.0, 12) == ""

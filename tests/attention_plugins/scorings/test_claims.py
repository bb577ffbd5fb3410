"""What papers claim of their mechanisms, measured on small tasks: the tables of mechanisms.md."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from support.documents import section
from support.small_tasks import (
    IGNORED,
    KEYS,
    VALUES,
    WORDS,
    Small,
    accuracy,
    backcopy,
    factory,
    is_trigger,
    learn,
    repeated_recall,
)

LENGTH = 24  # that is learned
# What is measured, by the first cell of its row.
RECALLED = {
    "learned absolute positions": {},
    "no positions": {},
    "`rope`": {"scoring": "rope"},
    "`t5_bias`": {"scoring": "t5_bias"},
    "`alibi`": {"scoring": "alibi"},
    "`kerple_log`": {"scoring": "kerple_log"},
    "`kerple_power`": {"scoring": "kerple_power"},
    "`xpos`, reach 32": {"scoring": "xpos", "base": 32},
    "`fire`, threshold 8": {"scoring": "fire", "threshold": 8.0},
    "`stick_breaking`, no positions": {"normaliser": "stick_breaking"},
}
COPIED = {
    "`softmax`": {},
    "`off_by_one`": {"normaliser": "off_by_one"},
    "`learned_sinks`": {"scoring": "learned_sinks"},
    "`softpick`": {"normaliser": "softpick"},
    "`stick_breaking`": {"normaliser": "stick_breaking"},
}


def documented(title):
    """The rows of a section's table: the numbers by the first cell."""
    rows = [line.strip("| ").split(" | ") for line in section("mechanisms.md", title).splitlines()
            if line.startswith("| ")][2:]  # fmt: skip
    return {name: [float(cell) for cell in cells] for name, *cells in rows}


@cache
def recalled(name):
    """Accuracy at 1, 2, 4 and 16 times the length that was learned."""
    torch.manual_seed(1)
    places = 16 * LENGTH if "absolute" in name else 0
    model = Small(factory(**RECALLED[name]), (KEYS, VALUES + 1, VALUES), heads=2, places=places)
    learn(model, repeated_recall, LENGTH, 1000, 3e-3)
    return [accuracy(model, repeated_recall(64, n * LENGTH, 99)) for n in (1, 2, 4, 16)]


@cache
def copied(name):
    """Mean weights: of the first word, and in all, of queries that have nothing to copy.

    And: of the word that is to be copied; the share of weights that are exactly 0.
    """
    torch.manual_seed(1)
    model = Small(factory(**COPIED[name]), (WORDS, WORDS), heads=1, places=64)
    learn(model, backcopy, 32, 1500, 1e-2)
    (words,), _ = backcopy(64, 32, 99)
    weights = model.weights([words])[:, 0]
    active = is_trigger(words)
    active[:, :2] = False
    dormant = ~is_trigger(words)
    dormant[:, :2] = False
    seen = torch.ones(32, 32, dtype=torch.bool).tril().expand_as(weights)
    before = weights.diagonal(-1, -2, -1)[active[:, 1:]]
    return [
        float(found.mean())
        for found in (
            weights[dormant][:, 0], weights[dormant].sum(-1), before, (weights[seen] == 0).float(),
        )
    ]  # fmt: skip


def agree(title, name, found):
    wanted = documented(title)[name]
    assert len(found) == len(wanted)
    assert all(abs(a - b) <= 0.1 for a, b in zip(found, wanted, strict=True)), (name, found)


@pytest.mark.slow
@pytest.mark.parametrize("name", RECALLED)
def test_recall_of_longer_sequences_is_as_documented(name):
    found = recalled(name)
    agree("Longer sequences than learned", name, found)
    if name == "`stick_breaking`, no positions":
        assert min(found) > 0.98
        assert recalled("learned absolute positions")[0] > 0.9  # where it learned, it knows
        assert recalled("learned absolute positions")[-1] < 0.5
    if name.startswith(("`xpos", "`kerple", "`fire")):
        for other in ("`rope`", "`t5_bias`"):
            assert found[-1] > recalled(other)[-1] + 0.2


@pytest.mark.slow
@pytest.mark.parametrize("name", COPIED)
def test_where_queries_look_that_need_nothing_is_as_documented(name):
    first, total, before, zeros = found = copied(name)
    agree("Looking nowhere", name, found)
    assert before > 0.7  # the task is learned
    if name == "`softmax`":
        assert first > 0.25
        assert total == pytest.approx(1)
    if name == "`softpick`":
        assert first < 0.01
        assert total < 0.1
        assert zeros > 0.7
    if name in ("`learned_sinks`", "`off_by_one`"):
        assert first < copied("`softmax`")[0] / 2
        assert total < 0.5
        assert zeros == 0


def test_every_row_of_the_documents_tables_is_measured():
    assert documented("Longer sequences than learned").keys() == RECALLED.keys()
    assert documented("Looking nowhere").keys() == COPIED.keys()


def test_the_tasks_ask_what_they_say():
    (keys, values), labels = repeated_recall(5, 40, 3)
    parts = keys, values, labels
    for row in range(5):
        held = {}
        for key, value, label in zip(*(x[row].tolist() for x in parts), strict=True):
            if value == VALUES:
                assert label == held.get(key, IGNORED)
            else:
                assert label == IGNORED
                held[key] = value
    (words,), following = backcopy(5, 40, 3)
    assert not words[:, 0].any()
    triggers = is_trigger(words)
    triggers[:, 0] = False
    assert triggers.any()
    places = triggers.nonzero().tolist()
    assert all(following[row, at] == words[row, at - 1] for row, at in places)

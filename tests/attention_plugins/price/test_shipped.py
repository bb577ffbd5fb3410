"""A shipped price is measured once more, on the real model that it is of."""

import os
from itertools import product
from pathlib import Path

import pytest
from support.documents import section

from attention_plugins.price import store
from attention_plugins.price.measuring import opened
from attention_plugins.price.table import UNTUNED, rows
from attention_plugins.price.tuning import trial

_VARIABLE = "ATTENTION_TEST_MODELS"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", "scaled_dot + entmax15", "additive"])
def test_letters_are_sorted_at_the_price_that_is_shipped(name):
    if not (root := os.environ.get(_VARIABLE)):
        pytest.skip(f"{_VARIABLE} names no folder with models of others in it")
    prices = store.read(store.shipped()["gpt-nano-sort"])
    known = next(one for one in prices.outcomes if one.swap.name == name and one.seed == 0)
    subject = opened(Path(root) / "gpt-nano-sort")
    texts = subject.texts([" ".join(map(str, row)) for row in product(range(3), repeat=6)], 6)
    assert sum(sorted(one.given) == [*one.counted] for one in texts) > 0.99 * len(texts) == 721.71
    found = trial(subject.model, known.swap, 0, texts, prices.budget)
    assert found.before == pytest.approx(known.before, abs=2e-3)
    assert found.after == pytest.approx(known.after, abs=5e-3)
    assert found.parameters == known.parameters
    assert (found.parameters > 0) == (name == "additive")


MODELS = ("stories260K", "aren-transliteration", "gpt-nano-sort")
RATE = 1e-3


def costs():
    """What the documentation's table should say, by the name of a swap: untuned, then tuned."""
    found = {}
    for name in MODELS:
        prices = store.read(store.shipped()[name])
        names = {one.swap.key: one.swap.name for one in prices.outcomes}
        for one in rows(prices):
            if one["swap"] and one["rate"] in (UNTUNED, RATE):
                own = found.setdefault(names[one["swap"]], [])
                own.append(f"{round(one['cost'], 2) + 0.0:+.2f}")
    return found


def test_the_documentation_says_what_is_shipped():
    assert [*store.shipped()] == sorted(store.shipped())
    text = section("using.md", "Swaps")
    lines = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in text.splitlines() if line.startswith("| `")]  # fmt: skip
    assert {row[0].strip("`"): row[1:] for row in lines} == costs()
    for name in MODELS:
        prices = store.read(store.shipped()[name])
        budget, own = prices.budget, [one for one in rows(prices) if one["rate"] in (0.0, RATE)]
        untuned, tuned = (f"{one['loss']:.2f}" for one in own if not one["swap"])
        said = (
            f"| {name} | {budget.seeds} | {budget.steps} of {budget.batch_size} texts "
            f"| {budget.held_out} | {untuned} | {tuned} |"
        )
        assert said in text

"""A shipped price is measured once more, on the real model that it is of."""

import os
from itertools import product
from pathlib import Path

import pytest

from attention_plugins.price import store, swapping
from attention_plugins.price.measuring import opened
from attention_plugins.price.records import Swap
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
    found = trial(subject.model, known.swap, 0, texts, prices.budget, put=swapping.put)
    assert found.before == pytest.approx(known.before, abs=2e-3)
    assert found.after == pytest.approx(known.after, abs=5e-3)
    assert found.parameters == known.parameters
    assert (found.parameters > 0) == (name == "additive")


def test_the_cheapest_swaps_of_the_stories_keep_the_softmax_or_nearly():
    """What the documentation says of them."""
    prices = store.read(store.shipped()["stories260K"])
    first = {one.swap: one.before for one in prices.outcomes if one.seed == 0}
    near = [swap.name for swap in sorted(first, key=first.__getitem__) if swap.scoring][:3]
    assert near == ["scaled_dot + off_by_one", "scaled_dot + top_k", "scaled_dot + entmax15"]
    assert Swap() in first

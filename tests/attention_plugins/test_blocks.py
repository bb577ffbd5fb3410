"""How many queries make a block: as many as keep what a scoring makes of them in cache."""

from __future__ import annotations

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attention_plugins import ContractError, Scoring, ScoringSpec, Sizes, scoring
from attention_plugins.attention import block_of, needs_of
from attention_plugins.registry import load

SCORINGS = load(allow=[]).scorings
# Their largest tensor is none of every pair: one of every distance, or one that knows its size.
OTHERS = ("swin_v2", "boxcar")


class Largest(TorchDispatchMode):
    """Notes how many numbers the largest tensor has that is made meanwhile."""

    elements = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        for one in tree_leaves(made):
            # A view that is expanded holds nothing of its own.
            if isinstance(one, torch.Tensor) and 0 not in one.stride():
                self.elements = max(self.elements, one.numel())
        return made


@pytest.mark.parametrize("size", [5, 16])
@pytest.mark.parametrize("name", sorted(SCORINGS))
def test_every_scoring_makes_as_much_of_a_pair_as_it_says(name, size):
    """No more, or its blocks leave the cache; no less, or they are needlessly small."""
    values = {"features": 16} if name == "performer" else {}  # fewer than there are keys
    made = SCORINGS[name].create(Sizes(size, size, size, heads=3), values)
    queries, keys = torch.randn(2, 3, 67, size), torch.randn(2, 3, 71, size)
    needs = needs_of(made, 67, keys)
    memory = "memory" in made.needs
    if memory:
        queries, needs = queries[..., :1, :], needs_of(made, 1, keys)
    asked, answering = made.project_queries(queries), made.project_keys(keys)
    with Largest() as seen:
        made(asked, answering, **needs)
    pairs = 2 * 3 * queries.shape[-2] * 71
    said = made.elements_per_pair or size
    if name not in OTHERS and not memory:  # one query at a time is never cut into blocks
        assert seen.elements == said * pairs


@pytest.mark.parametrize(("elements", "expected"), [(None, 4), (1, 256), (3, 85), (10**9, 1)])
def test_a_block_follows_from_what_a_pair_takes(elements, expected):
    """2 ** 20 numbers: 256 queries of 4 x 1024 keys as numbers, 4 as vectors of size 64."""
    made = Scoring()
    made.elements_per_pair = elements
    assert block_of(made, 4 * 1024, 64) == expected


def test_a_function_may_say_it_too():
    @scoring("sums", formula="q + k", reference="-", elements_per_pair=1)
    def sums(queries, keys):
        return queries.sum(-1)[..., None] + keys.sum(-1)[..., None, :]

    assert sums.create(Sizes(5, 5, 5)).elements_per_pair == 1
    assert SCORINGS["boxcar"].create(Sizes(5, 5, 5)).elements_per_pair is None


def test_a_projection_of_the_keys_changes_nothing_about_it():
    assert SCORINGS["dot"].create(Sizes(5, 7, 5)).elements_per_pair == 1
    assert SCORINGS["laplacian"].create(Sizes(5, 7, 5)).elements_per_pair == 5


@pytest.mark.parametrize(
    ("parts", "expected"),
    [(("dot", "cosine"), 1), (("dot", "additive"), None), (("laplacian", "alibi"), 5)],
)
def test_two_scorings_take_what_the_larger_takes(parts, expected):
    values = dict(zip(("first", "second"), parts, strict=True))
    made = SCORINGS["combination"].create(Sizes(5, 5, 5), values)
    assert made.elements_per_pair == expected


@pytest.mark.parametrize("elements", [0, -1, 1.5, True, "cube"])
def test_what_is_no_number_of_elements_is_refused(elements):
    class Wrong(Scoring):
        elements_per_pair = elements

        def forward(self, queries, keys):
            return queries @ keys.mT

    spec = ScoringSpec(name="wrong", title="W", formula="q", build=lambda s, v: Wrong())
    with pytest.raises(ContractError, match="how many numbers forward makes of a query and a key"):
        spec.create(Sizes(5, 5, 5))

"""Attention in blocks: how many queries make one, and what its own backward pass must keep."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attention_plugins import ContractError, Scoring, ScoringSpec, Sizes, scoring
from attention_plugins.attention import Inputs, attend, needs_of
from attention_plugins.blocks import attend_in_blocks, block_of
from attention_plugins.registry import load

SCORINGS = load(allow=[]).scorings
# Their largest tensor is none of every pair: one of every distance or place, or one that knows
# its size.
OTHERS = ("swin_v2", "fire", "synthesizer_random", "boxcar")


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


def parts(*leading, dtype=torch.float64):
    """Queries, keys and values with 7 queries, 11 keys, sizes 5 and 3; they learn."""
    generator = torch.Generator().manual_seed(0)
    return [
        torch.randn(*leading, n, d, generator=generator, dtype=dtype).requires_grad_()
        for n, d in ((7, 5), (11, 5), (11, 3))
    ]


def learned(output, inputs):
    return torch.autograd.grad(output.sin().sum(), inputs, allow_unused=True)


@pytest.mark.parametrize("fixed", [(), (0,), (1,), (2,), (0, 1), (0, 1, 2)])
def test_each_input_learns_whether_or_not_the_others_do(fixed):
    scoring = SCORINGS["additive"].create(Sizes(5, 5, 5)).double()
    tensors = parts(2)
    for number in fixed:
        tensors[number].requires_grad_(False)
    inputs = [*(one for one in tensors if one.requires_grad), *scoring.parameters()]
    whole = learned(attend(scoring, *tensors)[0], inputs)
    blocks = learned(attend_in_blocks(Inputs(scoring, *tensors), block=3), inputs)
    torch.testing.assert_close(blocks, whole, atol=1e-12, rtol=0)


@pytest.mark.parametrize("rows", [((), (2, 3), (2, 3)), ((2, 3), (3,), ()), ((), (), (2, 3))])
def test_rows_that_are_shared_learn_from_all_who_share_them(rows):
    """Also where a mask alone has rows."""
    scoring = SCORINGS["dot"].create(Sizes(5, 5, 5))
    tensors = [parts(*leading)[number] for number, leading in enumerate(rows)]
    mask = torch.arange(11) < torch.tensor([[[11]], [[4]]])
    for given in (None, mask[:, None]):
        whole = attend(scoring, *tensors, given)[0]
        found = attend_in_blocks(Inputs(scoring, *tensors, given), block=3)
        torch.testing.assert_close(found, whole, atol=1e-12, rtol=0)
        torch.testing.assert_close(
            learned(found, tensors), learned(whole, tensors), atol=1e-12, rtol=0
        )


def test_a_parameter_that_plays_no_part_gets_no_gradient():
    """Zeros would let an optimizer decay it. It may also play a part in some blocks alone."""

    class Spare(Scoring):
        needs = ("positions",)

        def __init__(self):
            super().__init__()
            self.spare = torch.nn.Parameter(torch.ones(1))
            self.early = torch.nn.Parameter(torch.ones(11, dtype=torch.float64))

        def forward(self, queries, keys, positions):
            scores = queries @ keys.mT
            return scores + self.early if positions.queries[0] == 3 else scores

    scoring, tensors = Spare(), parts(2)
    attend_in_blocks(Inputs(scoring, *tensors), block=3).sin().sum().backward()
    assert scoring.spare.grad is None
    assert scoring.early.grad.abs().min() > 0


def test_a_pooling_of_its_own_and_a_normaliser_learn_too():
    class Own(Scoring):
        def __init__(self):
            super().__init__()
            self.normaliser = torch.nn.Softplus()
            self.extra = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))

        def forward(self, queries, keys):
            return queries @ keys.mT

        def pool(self, weights, values):
            return weights @ (values * self.extra) + weights.square().sum(-1, keepdim=True)

    scoring, tensors = Own(), parts(2)
    inputs = [*tensors, scoring.extra]
    whole = learned(attend(scoring, *tensors)[0], inputs)
    blocks = learned(attend_in_blocks(Inputs(scoring, *tensors), block=3), inputs)
    torch.testing.assert_close(blocks, whole, atol=1e-12, rtol=0)


def test_a_scoring_that_draws_numbers_draws_them_again_in_the_backward_pass():
    """And what is drawn elsewhere afterwards does not depend on the backward pass."""

    class Noise(Scoring):
        def forward(self, queries, keys):
            scores = queries @ keys.mT
            return 0 * scores + torch.randn_like(scores)

    torch.manual_seed(0)
    queries, keys, _ = parts(1)
    values = torch.eye(11, dtype=torch.float64)[None].clone().requires_grad_()
    output = attend_in_blocks(Inputs(Noise(), queries, keys, values), block=3)
    torch.rand(1)
    before = torch.get_rng_state()
    output.sum().backward()
    torch.testing.assert_close(values.grad[0, :, 0], output.detach()[0].sum(0))
    assert torch.equal(torch.get_rng_state(), before)


def test_the_backward_pass_has_the_precision_of_the_forward_pass():
    """Under autocast; and weights that were cast in blocks go on learning outside of them."""

    class Mixed(Scoring):
        def __init__(self):
            super().__init__()
            self.mix = torch.nn.Linear(5, 5)

        def forward(self, queries, keys):
            return self.mix(queries) @ keys.mT

    scoring, tensors = Mixed(), parts(2, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        found = attend_in_blocks(Inputs(scoring, *tensors), block=3)
        whole = attend(scoring, *tensors)[0]
    assert found.dtype == whole.dtype
    inputs = [*tensors, *scoring.parameters()]
    for one, other in zip(learned(found, inputs), learned(whole, inputs), strict=True):
        assert other is not None
        assert one.dtype == torch.float32
        torch.testing.assert_close(one, other, atol=0.03, rtol=0.03)


def test_who_learns_by_a_tensor_that_is_no_parameter_is_told():
    """Its gradient would be lost; attended with as a whole, it has one."""

    class Stray(Scoring):
        def __init__(self):
            super().__init__()
            self.hidden = [torch.ones(5, dtype=torch.float64, requires_grad=True)]

        def forward(self, queries, keys):
            return (queries * self.hidden[0]) @ keys.mT

    output = attend_in_blocks(Inputs(Stray(), *parts(2)), block=3)
    with pytest.raises(RuntimeError, match=r"Stray learns by a tensor \(5,\) that is none of its"):
        output.sum().backward()


def test_gradients_that_are_views_are_added_up():
    """Of a sum autograd gives one number, expanded; nothing may be added to that in place."""

    class Sums(Scoring):
        def forward(self, queries, keys):
            return queries.sum(-1)[..., None] * keys.sum(-1)[..., None, :]

    tensors = parts(2)
    whole = learned(attend(Sums(), *tensors)[0], tensors)
    blocks = learned(attend_in_blocks(Inputs(Sums(), *tensors), block=3), tensors)
    torch.testing.assert_close(blocks, whole, atol=1e-12, rtol=0)


def test_a_gradient_of_a_gradient_is_refused_and_not_wrong():
    tensors = parts(2)
    scoring = SCORINGS["dot"].create(Sizes(5, 5, 5))
    output = attend_in_blocks(Inputs(scoring, *tensors), block=3)
    (first,) = torch.autograd.grad(output.sin().sum(), tensors[:1], create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


@pytest.mark.parametrize(("n_queries", "n_keys"), [(0, 11), (7, 0)])
def test_there_may_be_nothing_to_attend_with_or_to(n_queries, n_keys):
    scoring = SCORINGS["alibi"].create(Sizes(5, 5, 5))
    queries, keys = torch.randn(2, n_queries, 5), torch.randn(2, n_keys, 5)
    found = attend_in_blocks(Inputs(scoring, queries, keys, keys), block=3)
    assert torch.equal(found, torch.zeros(2, n_queries, 5))


@pytest.mark.slow
def test_nothing_is_imported_to_go_back():
    """A checkpoint of torch's imports its compiler then: seconds, and 90 MB."""
    code = """
import sys, torch
from attention_plugins import Sizes, get_scoring
from attention_plugins.attention import Inputs
from attention_plugins.blocks import attend_in_blocks
parts = [torch.randn(2, 7, 5, requires_grad=True) for _ in range(3)]
scoring = get_scoring("additive").create(Sizes(5, 5, 5))
attend_in_blocks(Inputs(scoring, *parts), block=3).sum().backward()
assert parts[0].grad is not None
assert "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)

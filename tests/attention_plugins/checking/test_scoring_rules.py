"""Each rule of scorings catches the fault that it is there for, and says what to change."""

from __future__ import annotations

import math
import random
import time
from dataclasses import replace
from typing import NamedTuple

import pytest
import torch
from torch import nn

from attention_plugins import (
    ContractError,
    Parameter,
    Product,
    ProductScoring,
    Scoring,
    ScoringSpec,
    scoring,
)
from attention_plugins.checking import check_scoring, rules
from attention_plugins.scorings.dot import dot_product


def plain(function=None, *, same_size=True, parameters=()):
    """A record of a function that is good but for the function."""
    if function is None:
        return lambda function: plain(function, same_size=same_size, parameters=parameters)
    return scoring(
        function.__name__, formula="q^\\top k", reference="nobody", same_size=same_size,
        parameters=parameters,
    )(function)  # fmt: skip


def module(kind, parameters=()):
    """A record of a module that is good but for the module."""
    return ScoringSpec(
        name=kind.__name__.lower(), title=kind.__name__, formula="q^\\top k", reference="nobody",
        build=kind, parameters=parameters, same_size=True,
    )  # fmt: skip


class Dot(Scoring):
    """A scoring without fault, to plant one in."""

    def __init__(self, sizes, values):
        super().__init__()

    def forward(self, queries, keys):
        return queries @ keys.mT


class Placed(Dot):
    needs = ("positions",)


class Fault(NamedTuple):
    spec: ScoringSpec
    rule: str
    phrase: str  # what the message must tell the author
    also: frozenset = frozenset()  # rules that the same fault must break too


FAULTS: dict[str, Fault] = {}


def fault(rule, phrase, *also, make=plain):
    def plant(broken):
        spec = broken if isinstance(broken, ScoringSpec) else make(broken)
        FAULTS[spec.name] = Fault(spec, rule, phrase, frozenset(also))
        return broken

    return plant


@fault("scores_have_the_shape_of_queries_by_keys", "keys.mT")
def heads_swapped(queries, keys):
    found = queries @ keys.mT
    return found.transpose(0, 1) if found.dim() > 3 else found


@fault("it_can_be_built_and_asked", "No module named 'nothing_here'", make=module)
class LacksAnImport(Dot):
    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        __import__("nothing_here")


@fault("it_can_be_built_and_asked", 'write needs = ("positions",) in the class', make=module)
class DoesNotAskForPositions(Dot):
    def forward(self, queries, keys, positions):
        return super().forward(queries, keys) + positions.distances


@fault("it_can_be_built_and_asked", "write forward(self, queries, keys, memory)", make=module)
class DoesNotTakeWhatItNeeds(Dot):
    needs = ("memory",)


@fault("weights_are_sound_with_every_number_of_heads", "rows sum to 0.5", make=module)
class SumsToHalf(Dot):
    def normalise(self, scores):
        return super().normalise(scores) / 2


@fault("weights_are_sound_with_every_number_of_heads", "say signed = True", make=module)
class Negative(Dot):
    sums_to_one = False

    def normalise(self, scores):
        return super().normalise(scores) - 0.1


@fault("weights_are_sound_with_every_number_of_heads", "with 2 heads weights are", make=module)
class LosesHeads(Dot):
    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.heads = sizes.heads

    def pool(self, weights, values):
        pooled = super().pool(weights, values)
        return pooled.mean(dim=-3) if self.heads > 1 else pooled


@fault("weights_are_sound_with_every_number_of_heads", "are NaN or infinite", make=module)
class InfiniteValues(Dot):
    def pool(self, weights, values):
        return super().pool(weights, values) / 0.0


@fault(
    "a_sentence_attends_alone_as_among_others", "with 1 head a batch row",
    "weights_are_sound_with_every_number_of_heads", make=module,
)  # fmt: skip
class MixesWhateverStandsThird(Dot):
    def normalise(self, scores):
        weights = super().normalise(scores)
        return (weights + weights.roll(1, dims=-3)) / 2


@fault("rows_do_not_meet", "normalise makes other weights", make=module)
class SharesWithTheOtherQueries(Dot):
    def normalise(self, scores):
        weights = super().normalise(scores)
        return 0.9 * weights + 0.1 * weights.mean(dim=-2, keepdim=True)


@fault("padding_changes_nothing", "how many keys there are", make=module)
class DividedByTheCount(Dot):
    def forward(self, queries, keys):
        return queries @ keys.mT / keys.shape[-2] ** 0.5


@fault("unwatched_attention_is_the_same", "on torch's fused kernels", make=module)
class ForgetsAFactor(ProductScoring):
    def __init__(self, sizes, values):
        super().__init__()

    def factors(self, queries, keys):
        return Product(queries, keys, 0.5)

    def forward(self, queries, keys):
        return queries @ keys.mT


@fault("dimensions_of_one_stay", "squeeze(-1)")
def squeezed(queries, keys):
    return (queries @ keys.mT).squeeze()


@fault("queries_and_keys_may_differ_in_size", "same_size=True")
@plain(same_size=False)
def one_size(queries, keys):
    return queries @ keys.mT


@fault("precision_is_that_of_the_inputs", "dtype=queries.dtype")
def float64_only(queries, keys):
    return (
        queries
        @ torch.eye(queries.shape[-1], dtype=torch.float64, device=queries.device)
        @ (keys.mT)
    )


@fault("precision_is_that_of_the_inputs", "cast nothing")
def cast_down(queries, keys):
    return queries.float() @ keys.float().mT


@fault("it_is_built_without_memory", ".item()", make=module)
class ReadsWhileBuilding(Dot):
    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.scale = math.sqrt(torch.ones(sizes.query).sum().item())


@fault("it_stays_on_the_device_of_its_inputs", "compute where the inputs are")
def moves_device(queries, keys):
    return queries.cpu() @ keys.mT


@fault("it_stays_on_the_device_of_its_inputs", "device=queries.device")
def makes_on_default_device(queries, keys):
    return queries @ keys.mT * torch.full((keys.shape[-2],), 0.5, dtype=queries.dtype)


@fault("it_stays_on_the_device_of_its_inputs", "torch.where")
def reads_a_number(queries, keys):
    return queries @ keys.mT * (1.0 if queries.sum() > 1e9 else 2.0)


@fault("it_stays_on_the_device_of_its_inputs", "register_buffer", make=module)
class LeftBehind(Dot):
    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.table = torch.full((sizes.query,), 0.5, device="cpu")

    def forward(self, queries, keys):
        return (queries * self.table.to(queries)) @ keys.mT


@fault("batch_rows_do_not_meet", "last two dimensions only")
def batch_leak(queries, keys):
    if queries.dim() > 2:
        queries = queries - queries.mean(dim=0, keepdim=True)
    return queries @ keys.mT


@fault("queries_do_not_meet", "over the queries' dimension")
def query_leak(queries, keys):
    return (queries - queries.mean(dim=-2, keepdim=True)) @ keys.mT


class ZeroTable(Dot):
    """Counts positions, with a table of zeros that at first hides it."""

    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.table = nn.Parameter(torch.zeros(50))

    def forward(self, queries, keys):
        rows, columns = (
            torch.arange(part.shape[-2], device=part.device) for part in (queries, keys)
        )
        return super().forward(queries, keys) + self.table[(rows[:, None] - columns) % 50]


fault("queries_do_not_meet", "needs = (", "moving_a_key_moves_its_scores", make=module)(ZeroTable)


@fault("moving_a_key_moves_its_scores", "positions")
def key_order(queries, keys):
    return queries @ keys.mT + torch.arange(keys.shape[-2], device=keys.device)


@fault("a_masked_key_changes_nothing", "return raw scores")
def softmaxed(queries, keys):
    return (queries @ keys.mT).softmax(dim=-1)


@fault("keys_are_projected_one_by_one", "each key alone", make=module)
class CentredKeys(Dot):
    def project_keys(self, keys):
        return keys - keys.mean(dim=-2, keepdim=True)


@fault("scores_are_finite", "minus infinity alone is allowed", "every_parameter_is_used")
@plain(parameters=(Parameter(name="width", title="Width", default=1.0, low=0.0, high=2.0),))
def divides_by_a_bound(queries, keys, width):
    return torch.exp(queries @ keys.mT) / width


@fault("scores_are_finite", "bound what grows")
def nan_at_large_input(queries, keys):
    return torch.exp(queries @ keys.mT)


@fault("gradients_are_finite", "none at 0")
def root_at_zero(queries, keys):
    return -(queries.unsqueeze(-2) - keys.unsqueeze(-3)).square().sum(-1).sqrt()


@fault(
    "gradients_reach_queries_and_keys", "no gradient reaches the keys",
    "gradients_are_those_of_the_formula",
)  # fmt: skip
def detached(queries, keys):
    return queries @ keys.detach().mT


@fault("every_weight_learns", "take it away", make=module)
class DeadWeight(Dot):
    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.unused = nn.Parameter(torch.ones(3))


@fault("every_weight_learns", "the softmax cancels", make=module)
class Shifted(Dot):
    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.shift = nn.Parameter(torch.ones(()))

    def forward(self, queries, keys):
        return queries @ keys.mT + self.shift


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(context, scores):
        return 2 * scores

    @staticmethod
    def backward(context, gradient):
        return 3 * gradient


@fault("gradients_are_those_of_the_formula", "mend the backward")
def wrong_backward(queries, keys):
    return Twice.apply(queries @ keys.mT)


@fault("nothing_is_drawn_at_random", "self.training")
def hidden_draw(queries, keys):
    return queries @ keys.mT + 0.001 * torch.rand_like(queries[..., :1])


@fault("nothing_is_drawn_at_random", "NumPy's")
def hidden_numpy_draw(queries, keys):
    import numpy as np

    np.random.rand()
    return queries @ keys.mT


@fault("equal_inputs_give_equal_scores", "no clock")
def clock(queries, keys):
    return queries @ keys.mT * (1 + 1e-13 * random.Random(time.perf_counter()).random())


@fault("inputs_stay_as_they_are", "compute a new tensor")
def in_place(queries, keys):
    return queries.mul_(0.5) @ keys.mT


@fault("inputs_stay_as_they_are", "forward overwrote", make=module)
class InPlaceProjected(Dot):
    def project_keys(self, keys):
        return 2 * keys

    def forward(self, queries, keys):
        return queries @ keys.mul_(0.5).mT


@fault("weights_stay_as_they_are", "leave weights and buffers alone", make=module)
class Counts(Dot):
    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.register_buffer("calls", torch.zeros(()), persistent=False)

    def forward(self, queries, keys):
        self.calls += 1
        return queries @ keys.mT


@fault("nothing_is_kept_on_a_module", "Stashes.weights", make=module)
class Stashes(Dot):
    def forward(self, queries, keys):
        self.weights = queries @ keys.mT
        return self.weights


@fault("nothing_is_kept_on_a_module", "CachesInside.held", make=module)
class CachesInside(Dot):
    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.held = {"scores": []}

    def forward(self, queries, keys):
        self.held["scores"].append(queries.shape)
        return queries @ keys.mT


@fault("it_takes_at_most_200_dot_products", "replace loops over queries or keys")
def slow(queries, keys):
    def row(query):
        return torch.stack([(query * key).sum(-1) for key in keys.unbind(-2)], dim=-1)

    return torch.stack([row(query) for query in queries.unbind(-2)], dim=-2)


@fault("every_parameter_is_used", "changes nothing")
@plain(parameters=(Parameter(name="width", title="Width", default=1.0, low=0.5, high=2.0),))
def unused_parameter(queries, keys, width):
    return queries @ keys.mT


@fault("every_parameter_is_used", "width=0.0")
@plain(parameters=(Parameter(name="width", title="Width", default=1.0, low=0.0, high=2.0),))
def fails_at_a_bound(queries, keys, width):
    return queries @ keys.mT * (1.0 / width)


WIDTH = Parameter(name="width", title="Width", default=1.0, low=0.5, high=2.0, learnable=True)


class Hidden(Dot):
    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.inverse = nn.Parameter(torch.tensor(1 / values["width"]))

    def forward(self, queries, keys):
        return queries @ keys.mT * self.inverse


fault("learnable_parameters_are_weights", "a property width")(module(Hidden, (WIDTH,)))


class Elsewhere(Hidden):
    @property
    def width(self):
        return self.inverse


fault("learnable_parameters_are_weights", "starts at")(module(Elsewhere, (WIDTH,)))


@fault("a_checkpoint_restores_it", "register_buffer", make=module)
class NotInTheState(Dot):
    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.scale = 0.5 + random.random()

    def forward(self, queries, keys):
        return queries @ keys.mT * self.scale


BRACES = replace(dot_product, name="braces", formula=r"\frac{q k}{\sqrt d")
fault("the_record_explains_itself", "close every { with one }")(BRACES)
fault("the_record_explains_itself", "add reference=")(
    replace(dot_product, name="no_reference", reference="")
)


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_breaks_its_own_rule_and_says_what_to_change(name):
    planted = FAULTS[name]
    broken = {f.rule: f.message for f in check_scoring(planted.spec) if not f.passed}
    assert planted.rule in broken
    assert planted.phrase in broken[planted.rule]
    assert set(broken) - {planted.rule} == planted.also


def test_every_rule_has_a_fault_that_it_catches():
    assert set(rules("scorings", module(Hidden, (WIDTH,)))) == {f.rule for f in FAULTS.values()}


def test_what_torch_cannot_compute_in_bfloat16_is_not_held_against_a_scoring():
    @plain
    def distances(queries, keys):
        return -torch.cdist(queries, keys)

    with pytest.raises(RuntimeError, match="not implemented for 'BFloat16'"):
        torch.cdist(torch.ones(2, 3).bfloat16(), torch.ones(2, 3).bfloat16())
    findings = {one.rule: one for one in check_scoring(distances)}
    assert findings["precision_is_that_of_the_inputs"].passed


def test_a_scoring_that_cannot_be_built_is_told_so_once():
    (finding,) = check_scoring(module(LacksAnImport))
    assert finding.rule == "it_can_be_built_and_asked"
    assert finding.message.endswith("mend that; no other rule was tried")


class DenseSynthesizer(Placed):
    """Of a query and a place: no gradient reaches the keys, and none can."""

    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.places = nn.Linear(sizes.query, 20)

    def forward(self, queries, keys, positions):
        return self.places(queries).index_select(-1, positions.keys.clamp_max(19))


class Tempered(Dot):
    """Its parameter is read in normalise alone."""

    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.width = nn.Parameter(torch.tensor(values["width"]))

    def normalise(self, scores):
        return super().normalise(scores / self.width)


class IdentityKernel(Placed):
    """Its parameter is the length of a kernel that at first leaves scores as they are."""

    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.kernel = nn.Parameter(torch.eye(values["taps"])[0])

    def forward(self, queries, keys, positions):
        away = positions.distances.abs()
        found = sum(weight * (away == n) for n, weight in enumerate(self.kernel[1:], start=1))
        return queries @ keys.mT * self.kernel[0] + found


class ZeroGate(Dot):
    """Its parameter is the reach of a term whose share is 0 at first."""

    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.reach, self.share = values["reach"], nn.Parameter(torch.tensor(0.0))

    def forward(self, queries, keys):
        scores = queries @ keys.mT
        return scores + self.share * (scores / self.reach).tanh()


REACH = Parameter(name="reach", title="Reach", default=1.0, low=0.5, high=4.0)
TAPS = Parameter(name="taps", title="Taps", default=3, low=2, high=5)


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (DenseSynthesizer, ()),
        (Tempered, (WIDTH,)),
        (IdentityKernel, (TAPS,)),
        (ZeroGate, (REACH,)),
    ],
)
def test_what_looks_like_a_fault_and_is_none_keeps_every_rule(kind, parameters):
    assert [f for f in check_scoring(module(kind, parameters)) if not f.passed] == []


class Keeps(Dot):
    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.table = torch.eye(sizes.query)

    def forward(self, queries, keys):
        return queries @ self.table @ keys.mT


SINGLE = torch.eye(5)


@pytest.mark.parametrize(
    ("score", "rule", "phrase"),
    [
        (lambda q, k: (q @ k.mT).sqrt(), "scores_are_finite", "bound what grows"),
        (lambda q, k: q @ k, "it_can_be_built_and_asked", "transposed, queries @ keys.mT"),
        (lambda q, k: q @ SINGLE @ k.mT, "it_can_be_built_and_asked", "in float32, but not in"),
        (lambda q, k: k @ q.mT, "scores_have_the_shape_of_queries_by_keys", "not keys @ queries"),
        (lambda q, k: q.sum(-1), "scores_have_the_shape_of_queries_by_keys", "count dimensions"),
        (Keeps, "it_can_be_built_and_asked", "Keeps.table is a tensor that the module does not"),
    ],
)
def test_one_cause_has_one_finding(score, rule, phrase):
    if score is Keeps:
        spec = module(Keeps)
    else:
        spec = scoring("one", formula="q k", reference="nobody", same_size=True)(score)
    (found,) = [one for one in check_scoring(spec) if not one.passed]
    assert found.rule == rule
    assert phrase in found.message


def test_a_function_that_takes_positions_and_does_not_ask_is_told_how():
    with pytest.raises(ContractError, match=r'write needs=\("positions",\) in @scoring'):
        plain(lambda queries, keys, positions: queries @ keys.mT)

"""Wrong scorings that no rule was written for: each is named by its cause, and by that alone."""

from __future__ import annotations

from typing import NamedTuple

import pytest
import torch
from torch import nn
from torch.nn.functional import dropout

from attention_plugins import KernelScoring, Scoring, ScoringSpec
from attention_plugins.checking import check_scoring
from attention_plugins.radial import Exponential, RadialScoring


class Wrong(NamedTuple):
    kind: type[Scoring]
    rule: str
    phrase: str


WRONG: list[Wrong] = []


def wrong(rule, phrase):
    def keep(kind):
        WRONG.append(Wrong(kind, rule, phrase))
        return kind

    return keep


class Dot(Scoring):
    def __init__(self, sizes, values):
        super().__init__()
        self.heads = sizes.heads

    def forward(self, queries, keys, **needs):
        return queries @ keys.mT


class Placed(Dot):
    needs = ("positions",)


@wrong("rows_do_not_meet", "what must, is written as a model")
class Sinkhorn(Dot):
    sums_to_one = False

    def normalise(self, scores):
        weights = super().normalise(scores)
        return weights / (1e-3 + weights.sum(dim=-2, keepdim=True))


@wrong("rows_do_not_meet", "pool makes another output")
class CentredOutputs(Dot):
    def pool(self, weights, values):
        output = super().pool(weights, values)
        return output - output.mean(dim=-2, keepdim=True)


@wrong("rows_do_not_meet", "pool makes another output")
class SmoothedByBlock(Placed):
    """Counts queries from the first that comes, as if no block and no word had been before."""

    def pool(self, weights, values, positions):
        away = positions.queries - positions.queries[0]
        return super().pool(weights, values) * (1 + away.to(values.dtype))[:, None]


@wrong("queries_do_not_meet", "project_queries makes something else")
class CentredQueries(Dot):
    def project_queries(self, queries):
        return queries - queries.mean(dim=-2, keepdim=True)


@wrong("queries_do_not_meet", "count no positions")
class CountsInProjection(Dot):
    def project_queries(self, queries):
        count = torch.arange(queries.shape[-2], device=queries.device)
        return queries + 0.1 * count.to(queries.dtype)[:, None]


@wrong("queries_do_not_meet", "from the first query that comes")
class CountsFromTheBlock(Placed):
    def forward(self, queries, keys, positions):
        away = positions.keys - (positions.queries - positions.queries[:1])[:, None]
        return queries @ keys.mT - away.abs().to(queries.dtype)


@wrong("moving_a_key_moves_its_scores", "read where keys stand from positions.keys")
class ColumnsForPositions(Placed):
    def forward(self, queries, keys, positions):
        columns = torch.arange(keys.shape[-2], device=keys.device)
        return queries @ keys.mT - (columns - positions.queries[:, None]).abs().to(queries.dtype)


@wrong("padding_changes_nothing", "count from the first key")
class CountsFromTheEnd(Placed):
    def forward(self, queries, keys, positions):
        left = keys.shape[-2] - 1 - positions.keys
        return queries @ keys.mT - 0.1 * left.to(queries.dtype)


@wrong("padding_changes_nothing", "clamp, average or standardise")
class StandardisedScores(Dot):
    def normalise(self, scores):
        spread = scores.clamp_min(-1e4).square().mean(dim=-1, keepdim=True).sqrt()
        return super().normalise(scores / (1 + spread))


@wrong("padding_changes_nothing", "the lowest finite score")
class MaskedKeysShare(Dot):
    sums_to_one = False

    def normalise(self, scores):
        return super().normalise(scores.clamp_min(-5.0))


@wrong("padding_changes_nothing", "neither count such keys")
class SigmoidOverTheCount(Dot):
    sums_to_one = False

    def normalise(self, scores):
        return scores.sigmoid() / scores.shape[-1]


@wrong("padding_changes_nothing", "pool reads values behind the mask")
class AddsTheMeanValue(Dot):
    def pool(self, weights, values):
        return super().pool(weights, values) + values.mean(dim=-2, keepdim=True)


@wrong("a_sentence_attends_alone_as_among_others", "among others")
class CentredOverTheBatch(Dot):
    def pool(self, weights, values):
        output = super().pool(weights, values)
        return output - output.mean(dim=0) if len(output) > 1 else output


@wrong("batch_rows_do_not_meet", "last two dimensions only")
class HeadsByTheDimensions(Dot):
    def forward(self, queries, keys):
        found = queries @ keys.mT
        return found.softmax(dim=-3) if found.dim() == 4 else found


HELD: dict[tuple, torch.Tensor] = {}


@wrong("equal_inputs_give_equal_scores", "no cache between calls")
class CachedByShape(Dot):
    def forward(self, queries, keys):
        place = queries.shape, keys.shape, queries.dtype
        if place not in HELD:
            HELD[place] = queries @ keys.mT
        return HELD[place]


CALLS: list[int] = []


@wrong("equal_inputs_give_equal_scores", "no counter")
class AnnealedByTheCall(Dot):
    def normalise(self, scores):
        CALLS.append(1)
        return super().normalise(scores * (1 + 1 / len(CALLS)))


@wrong("equal_inputs_give_equal_scores", "no generator")
class NoiseOfItsOwn(Dot):
    def __init__(self, sizes, values):
        super().__init__(sizes, values)
        self.dice = torch.Generator().manual_seed(3)

    def pool(self, weights, values):
        noise = torch.rand(weights.shape, generator=self.dice, dtype=weights.dtype)
        return super().pool(weights + 1e-3 * noise, values)


@wrong("equal_inputs_give_equal_scores", "under torch.no_grad()")
class OtherWithoutGradients(Dot):
    def forward(self, queries, keys):
        return queries @ keys.mT * (1.0 if torch.is_grad_enabled() else 0.5)


@wrong("nothing_is_drawn_at_random", "training=self.training")
class DropsWhileTranslating(Dot):
    def pool(self, weights, values):
        return super().pool(dropout(weights, 0.1), values)


@wrong("inputs_stay_as_they_are", "pool overwrote its input")
class ThinsTheMap(Dot):
    """The map that is drawn is no longer the one that was made."""

    def pool(self, weights, values):
        return weights.mul_(0.5) @ values


@wrong("inputs_stay_as_they_are", "forward overwrote its input")
class WearsMemoryDown(Dot):
    needs = ("memory",)

    def forward(self, queries, keys, memory):
        worn = memory.detach().mul_(0.5).sum(dim=-2, keepdim=True)
        return queries @ keys.mT - worn


@wrong("precision_is_that_of_the_inputs", "gave outputs in float64")
class PoolsInDouble(Dot):
    def pool(self, weights, values):
        return weights.double() @ values.double()


@wrong("precision_is_that_of_the_inputs", "gave weights in float32")
class WeighsInSingle(Dot):
    def normalise(self, scores):
        return super().normalise(scores.float())

    def pool(self, weights, values):
        return weights.to(values.dtype) @ values


@wrong("a_kernel_is_never_negative", "such as elu(x) + 1")
class KernelBelowZero(KernelScoring):
    def __init__(self, sizes, values):
        super().__init__()

    def query_features(self, queries):
        return queries

    def key_features(self, keys):
        return keys


@wrong("a_masked_key_changes_nothing", "return raw scores")
class DividedByTheLargestKey(Dot):
    def forward(self, queries, keys):
        return queries @ keys.mT / keys.norm(dim=-1).amax(dim=-1)[..., None, None].clamp_min(1.0)


@wrong("gradients_reach_queries_and_keys", "in normalise and pool")
class PoolsDetached(Dot):
    def pool(self, weights, values):
        return super().pool(weights.detach(), values)


OUTSIDE = nn.Parameter(torch.tensor(0.5, dtype=torch.float64))


@wrong("unwatched_attention_is_the_same", "make it an nn.Parameter of the scoring")
class LearnsElsewhere(Dot):
    def forward(self, queries, keys):
        return queries * OUTSIDE.to(queries.dtype) @ keys.mT


@wrong("unwatched_attention_is_the_same", "let line_kernel say what profile computes")
class AnotherLineKernel(RadialScoring):
    metric = "absolute"

    def __init__(self, sizes, values):
        super().__init__()

    def profile(self, distances):
        return -distances

    def line_kernel(self):
        return Exponential(rate=2.0, coefficients=(1.0,))


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.kind.__name__)
def test_a_wrong_scoring_is_named_by_its_cause(case):
    for state in (HELD, CALLS):
        state.clear()
    spec = ScoringSpec(
        name="wrong", title="Wrong", formula="q^\\top k", reference="nobody", build=case.kind,
        same_size=True,
    )  # fmt: skip
    found = {one.rule: one.message for one in check_scoring(spec) if not one.passed}
    assert list(found) == [case.rule]
    assert case.phrase in found[case.rule]


def test_there_are_twenty_five_and_more():
    assert len(WRONG) >= 25

"""Norms, gradients, rollout and patches against references that are computed another way.

Norms by explicit loops over a layer's matrices, gradients by finite differences, rollout by loops,
patches by what the projection after the heads is given. In double precision.
"""

from __future__ import annotations

import math
import threading

import pytest
import torch
from torch.nn.functional import linear
from torch.overrides import _get_current_function_mode_stack as modes

from attention_plugins.beyond import (
    MEASURES,
    Patch,
    _Kept,
    _norms,
    measured,
    outputs,
    rollout,
)
from attention_plugins.contract import ContractError, ModelSizes
from attention_plugins.decoding import force
from attention_plugins.registry import load
from attention_plugins.tap import Intervention, Site, Tap

SIZES = ModelSizes(source=19, target=13)
VALUES = {"hidden": 12, "heads": 3, "layers": 2, "ffn": 10, "dropout": 0.0}
KNOWN = load(allow=[])
GIVEN = torch.tensor([[5, 9, 4, 7, 3]]), torch.tensor([5]), torch.tensor([[6, 4, 8, 3]])
OTHER = torch.tensor([[8, 2, 11, 6, 3]])
ENCODER, CROSS = Site("encoder", 1), Site("cross", 1)
SMALL = 1e-5  # of a finite difference


def made(model="transformer", scoring="scaled_dot", **values):
    torch.manual_seed(5)
    spec, values = KNOWN.models[model], {**(VALUES if model == "transformer" else {}), **values}
    found = spec.create(KNOWN.scorings[scoring].factory(), SIZES, values).double()
    with torch.no_grad():
        for weight in found.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.3)
    return found.eval()


@pytest.fixture(scope="module")
def transformer():
    return made()


class _Add(Intervention):
    """Adds a number to one weight."""

    where, number = (0, 0, 0), 0.0

    def apply(self, weights, mask, first_row, ahead=None):
        changed = weights.clone()
        changed[(0, *self.where)] += self.number
        return changed


def added(site, where, number):
    found = _Add(site=site, action="off")
    object.__setattr__(found, "where", where)
    object.__setattr__(found, "number", number)
    return found


def difference(model, site, where):
    """dL/da by a central difference."""
    high, low = (
        force(model, *GIVEN, interventions=[added(site, where, sign * SMALL)])[0].sum().item()
        for sign in (1, -1)
    )
    return (high - low) / (2 * SMALL)


@pytest.mark.parametrize("scoring", ["scaled_dot", "coverage"])  # which meets one query at a time
def test_norms_are_those_of_a_loop_over_the_matrices(scoring):
    transformer = made(scoring=scoring)
    scores, norms = measured(transformer, *GIVEN, "norms")
    known, weights = force(transformer, *GIVEN)
    assert torch.equal(scores, known)
    layer = next(iter(transformer.encoder)).attention
    inputs = transformer._embed(transformer.source_embedding, GIVEN[0], 0)[0].tolist()
    matrix, bias = layer.projections.weight[24:].tolist(), layer.projections.bias[24:].tolist()
    last = layer.output.weight.tolist()
    site = Site("encoder", 0)
    for head in range(3):
        rows = slice(4 * head, 4 * head + 4)
        for j in range(5):
            value = [sum(matrix[r][c] * inputs[j][c] for c in range(12)) + bias[r]
                     for r in range(12)[rows]]  # fmt: skip
            moved = [sum(last[out][rows][d] * value[d] for d in range(4)) for out in range(12)]
            norm = math.sqrt(sum(one**2 for one in moved))
            for i in range(5):
                by_hand = weights[site][0, head, i, j].item() * norm
                assert norms[site][0, head, i, j].item() == pytest.approx(by_hand, abs=1e-6)


@pytest.mark.parametrize("site", [ENCODER, CROSS, Site("decoder", 0)])
def test_norms_are_what_a_layer_loses_without_one_weight(transformer, site):
    stack = transformer.encoder if site.kind == "encoder" else transformer.decoder
    part = [*stack][site.layer]
    layer, seen = part.cross if site.kind == "cross" else part.attention, []
    hook = layer.output.register_forward_hook(lambda *given: seen.append(given[2].detach()))
    _, norms = measured(transformer, *GIVEN, "norms")
    _, weights = force(transformer, *GIVEN)
    seen.clear()
    force(transformer, *GIVEN)
    for head, key in ((0, 0), (2, 3), (1, 2)):
        weight = weights[site][0, head, 3, key].item()
        force(transformer, *GIVEN, interventions=[added(site, (head, 3, key), -weight)])
        lost = (seen[0] - seen.pop())[0, 3].norm().item()
        assert norms[site][0, head, 3, key].item() == pytest.approx(lost, abs=1e-9)
        assert weight > 0 < lost
    hook.remove()


@pytest.mark.parametrize("name", ["bahdanau", "luong"])
def test_without_heads_a_norm_is_that_of_the_value(name):
    model = made(name)
    _, norms = measured(model, *GIVEN, "norms")
    _, weights = force(model, *GIVEN)
    memory = model.start(*GIVEN[:2], Tap())["memory"][0]
    by_hand = weights[Site("cross", 0)] * memory.norm(dim=-1)
    assert torch.allclose(norms[Site("cross", 0)], by_hand, atol=1e-12)


def test_gradients_are_finite_differences(transformer):
    _, found = measured(transformer, *GIVEN, "gradient")
    _, weights = force(transformer, *GIVEN)
    places = [(0, 0, 1), (2, 3, 2), (1, 2, 0)]
    for site in found:
        for where in places:
            by_hand = weights[site][(0, *where)].item() * difference(transformer, site, where)
            assert found[site][(0, *where)].item() == pytest.approx(by_hand, abs=1e-8)
    assert not any(parameter.grad is not None for parameter in transformer.parameters())


def test_a_recurrent_model_has_gradients_through_every_step():
    model = made("luong")
    _, found = measured(model, *GIVEN, "gradient")
    _, weights = force(model, *GIVEN)
    site = Site("cross", 0)
    for where in ((0, 1), (2, 3)):

        class One(_Add):
            def apply(self, weights, mask, first_row, ahead=None, where=where):
                changed = weights.clone()
                if first_row == where[0]:
                    changed[0, 0, where[1]] += self.number
                return changed

        sums = []
        for sign in (1, -1):
            change = One(site=site, action="off")
            object.__setattr__(change, "number", sign * SMALL)
            sums.append(force(model, *GIVEN, interventions=[change])[0].sum().item())
        by_hand = weights[site][(0, *where)].item() * (sums[0] - sums[1]) / (2 * SMALL)
        assert found[site][(0, *where)].item() == pytest.approx(by_hand, abs=1e-8)


def by_loops(stack):
    """The rollout up to every layer of maps ``[heads][n][n]``."""
    found, joint = [], None
    for heads in stack:
        n = len(heads[0])
        mixed = [[0.5 * sum(head[i][j] for head in heads) / len(heads) + 0.5 * (i == j)
                  for j in range(n)] for i in range(n)]  # fmt: skip
        if joint is not None:
            mixed = [[sum(mixed[i][k] * joint[k][j] for k in range(n)) for j in range(n)]
                     for i in range(n)]  # fmt: skip
        joint = mixed
        found.append(joint)
    return found


def test_rollout_is_a_product_over_the_layers_of_a_stack(transformer):
    _, found = measured(transformer, *GIVEN, "rollout")
    _, weights = force(transformer, *GIVEN)
    for kind in ("encoder", "decoder"):
        own = [weights[Site(kind, layer)][0].tolist() for layer in range(2)]
        for layer, by_hand in enumerate(by_loops(own)):
            made = found[Site(kind, layer)]
            assert made.shape == (1, 1, len(by_hand), len(by_hand))
            assert torch.allclose(made[0, 0], torch.tensor(by_hand).double(), atol=1e-6)
    encoder = by_loops([weights[Site("encoder", n)][0].tolist() for n in range(2)])[-1]
    cross = weights[CROSS][0].tolist()
    for i in range(4):
        for j in range(5):
            by_hand = sum(cross[h][i][k] * encoder[k][j] for h in range(3) for k in range(5)) / 3
            assert found[CROSS][0, 0, i, j].item() == pytest.approx(by_hand, abs=1e-6)


@pytest.mark.parametrize("site", [ENCODER, Site("decoder", 1), CROSS])
def test_a_patch_gives_the_projection_the_other_sentences_head(transformer, site):
    stack = transformer.encoder if site.kind == "encoder" else transformer.decoder
    part = [*stack][site.layer]
    layer = part.cross if site.kind == "cross" else part.attention
    part, seen = slice(4, 8), []  # what the second head gives
    hook = layer.output.register_forward_pre_hook(lambda _, given: seen.append(given[0].clone()))
    force(transformer, OTHER, *GIVEN[1:])
    hook.remove()

    def replace(_, given):
        changed = given[0].clone()
        changed[..., part] = seen[0][..., part]
        return (changed,)

    hook = layer.output.register_forward_pre_hook(replace)
    by_hand, _ = force(transformer, *GIVEN)
    hook.remove()
    known = outputs(transformer, OTHER, *GIVEN[1:])[site]
    assert known.shape == (3, 4 if site.kind != "encoder" else 5, 4)
    patch = Patch(site=site, action="patch", head=1, output=known)
    for by_steps in (False, True):
        found, weights = force(transformer, *GIVEN, interventions=[patch], by_steps=by_steps)
        assert torch.allclose(found, by_hand, atol=1e-9)
    before, usual = force(transformer, *GIVEN)
    assert not torch.allclose(found, before, atol=1e-4)
    assert torch.allclose(weights[site], usual[site])  # the patched head's own are as they were


def test_a_patch_without_an_output_is_no_intervention():
    with pytest.raises(ValueError, match="need action to be off, uniform or pin, got 'patch'"):
        Intervention(site=CROSS, action="patch")


def test_a_head_patched_from_its_own_sentence_changes_nothing(transformer):
    for model in (transformer, made("bahdanau")):
        for site, known in outputs(model, *GIVEN).items():
            patch = Patch(site=site, action="patch", output=known)
            found, _ = force(model, *GIVEN, interventions=[patch])
            assert torch.allclose(found, force(model, *GIVEN)[0], atol=1e-12)


def test_norms_of_a_patched_model_follow_the_patch(transformer):
    known = outputs(transformer, OTHER, *GIVEN[1:])[Site("encoder", 0)]
    patch = Patch(site=Site("encoder", 0), action="patch", output=known)
    _, found = measured(transformer, *GIVEN, "norms", interventions=[patch])
    assert not torch.allclose(found[ENCODER], measured(transformer, *GIVEN, "norms")[1][ENCODER])


def refusal(model, measure):
    with pytest.raises(ContractError) as caught:
        measured(model, *GIVEN, measure)
    return str(caught.value)


def test_what_a_model_lacks_is_said_in_a_sentence(transformer, monkeypatch):
    assert "no self-attention" in refusal(made("bahdanau"), "rollout")
    assert "need one of norms, gradient, rollout, got 'more'" in refusal(transformer, "more")
    with monkeypatch.context() as patch:  # the matrix by its name, as no call of our own has it
        output = next(iter(transformer.encoder)).attention.output
        patch.setattr(output, "forward", lambda x: linear(x, weight=output.weight))
        assert "encoder layer 1 does more" in refusal(transformer, "norms")
        ones = torch.ones(12).double()  # a vector is multiplied first
        patch.setattr(output, "forward", lambda x: (
            0 * (ones @ ones) + x @ output.weight.mT + output.bias
        ))  # fmt: skip
        known = measured(transformer, *GIVEN, "norms")[1]
    for site, norms in measured(transformer, *GIVEN, "norms")[1].items():
        assert torch.allclose(norms, known[site], atol=1e-12)
    for weights in (torch.ones(1, 2, 3, 3), torch.ones(1, 2, 3, 4) / 4):
        with pytest.raises(ContractError, match="encoder layer 2: rollout needs rows"):
            rollout({ENCODER: weights})
    layer = next(iter(transformer.encoder)).attention
    gather = layer.gather
    monkeypatch.setattr(layer, "gather", lambda *given: 2 * gather(*given))
    assert "encoder layer 1 does more than multiply" in refusal(transformer, "norms")
    monkeypatch.setattr(layer, "gather", lambda *given: gather(*given).detach())
    said = torch.no_grad()(layer.forward)
    monkeypatch.setattr(layer, "forward", said)
    assert "has no gradient by these weights" in refusal(transformer, "gradient")


def test_a_norm_is_never_below_0():
    kept = _Kept()
    kept.add(CROSS, torch.tensor([[[-0.5, 1.5]]]))
    kept.values[CROSS] = torch.tensor([[[3.0, 4.0], [0.0, 2.0]]])
    torch.testing.assert_close(_norms(kept)[CROSS], torch.tensor([[[2.5, 3.0]]]))


def test_rollout_wants_rows_that_sum_to_1_within_a_thousandth():
    rows = torch.eye(3).expand(1, 2, 3, 3)
    assert rollout({ENCODER: rows * 1.0005})
    with pytest.raises(ContractError, match="encoder layer 2: rollout needs rows that sum to 1"):
        rollout({ENCODER: rows * 1.002})


def test_nothing_stays_on_the_model_or_the_thread_also_after_errors(transformer):
    def state():
        return [(sorted(vars(m)), [*m._forward_hooks], [*m._forward_pre_hooks])
                for m in transformer.modules()]  # fmt: skip

    before = state()
    wrong = Intervention(site=CROSS, action="off", head=9)
    for measure in MEASURES:
        measured(transformer, *GIVEN, measure)
        with pytest.raises(IndexError):
            measured(transformer, *GIVEN, measure, interventions=[wrong])
        assert (state(), modes(), torch.is_grad_enabled()) == (before, [], True)


def test_two_users_share_a_model(transformer):
    asked = [(source, measure) for source in (GIVEN[0], OTHER) for measure in MEASURES]
    alone = [measured(transformer, source, *GIVEN[1:], measure)[1] for source, measure in asked]
    found, wait = [None] * len(asked), threading.Barrier(len(asked))

    def work(number, source, measure):
        wait.wait()
        for _ in range(3):
            found[number] = measured(transformer, source, *GIVEN[1:], measure)[1]

    threads = [threading.Thread(target=work, args=(n, *one)) for n, one in enumerate(asked)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for mine, known in zip(found, alone, strict=True):
        assert all(torch.allclose(mine[site], known[site], atol=1e-12) for site in known)

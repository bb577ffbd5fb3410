"""Models of the library beyond their weights: what a hand changes in them says the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from torch.autograd.functional import jacobian

from attention_plugins import registry
from attention_plugins.beyond import MEASURES, Patch, measured, outputs
from attention_plugins.contract import ContractError
from attention_plugins.decoding import force, forced_through
from attention_plugins.huggingface import folder
from attention_plugins.huggingface.decoder import LibraryDecoder
from attention_plugins.huggingface.encoder import LibraryEncoder
from attention_plugins.huggingface.model import LibraryModel
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.tap import Intervention, Site, Tap
from tests.support import tiny_families

TEXT, OTHER = torch.tensor([[5, 9, 14, 7]]), torch.tensor([[8, 21, 11, 6]])
AFTER = torch.tensor([[6, 4, 8]])
LAYER, HEAD, ROW, KEY = 1, 4, 3, 1
_INSIDE = {"gpt2": "transformer.h.1.attn.c_proj", "llama": "model.layers.1.self_attn.o_proj",
           "bert": "bert.encoder.layer.1.attention.output.dense",
           "t5": "encoder.block.1.layer.0.SelfAttention.o"}  # fmt: skip


@pytest.fixture(scope="module")
def models():
    """Models in double precision, each made once."""
    folder.library()
    made = {}

    def build(family):
        if family not in made:
            library = tiny_families.build(family).double()
            library.set_attn_implementation(folder.NAME)
            if family == "t5":
                made[family] = LibraryModel(library)
            elif family == "bert":
                made[family] = LibraryEncoder(library, 3, [0, 1, 2])
            else:
                made[family] = LibraryDecoder(library)
        return made[family]

    return build


def given(family, text=TEXT):
    return text, torch.tensor([4]), text if family == "bert" else AFTER


class _Add(Intervention):
    number = 0.0

    def apply(self, weights, mask, first_row, ahead=None):
        row = self.row - first_row
        changed = weights.clone()
        if 0 <= row < weights.shape[-2]:
            changed[:, self.head, row, self.key] += self.number
        return changed


def added(site, number):
    change = _Add(site=site, action="off", head=HEAD, row=ROW, key=KEY)
    object.__setattr__(change, "number", number)
    return [change]


def site_of(family):
    return Site("encoder" if family in ("bert", "t5") else "decoder", LAYER)


@pytest.mark.parametrize("family", _INSIDE)
def test_a_norm_is_what_the_layer_loses_without_the_weight(models, family):
    model, asked, seen = models(family), given(family), []
    inside = model.library.get_submodule(_INSIDE[family])
    (weight,) = force(model, *asked)[1][site_of(family)][:, HEAD, ROW, KEY].tolist()
    hook = inside.register_forward_hook(lambda *passed: seen.append(passed[2].detach()))
    rows = []
    for changes in ([], added(site_of(family), -weight)):
        seen.clear()
        force(model, *asked, interventions=changes)
        passes = seen[:1] if family == "bert" else seen  # the text as it is comes first
        rows.append(torch.cat([one.view(1, -1, one.shape[-1]) for one in passes], 1)[0, ROW])
    hook.remove()
    _, norms = measured(model, *asked, "norms")
    found = norms[site_of(family)][0, HEAD, ROW, KEY].item()
    assert found == pytest.approx((rows[0] - rows[1]).norm().item(), abs=1e-6)
    assert found > 1e-3


@pytest.mark.parametrize("family", ["gpt2", "llama", "t5"])
def test_a_gradient_is_that_of_a_number_added_to_the_weight(models, family):
    model, asked, site = models(family), given(family), site_of(family)

    def summed(number):
        tap = Tap(interventions=added(site, number))
        return forced_through(model, *asked, tap).sum()

    derivative = jacobian(summed, torch.tensor(0.0).double()).item()
    if family == "gpt2":  # others make norms in single precision, too coarse for a difference
        high, low = (summed(sign * 1e-5).item() for sign in (1, -1))
        assert derivative == pytest.approx((high - low) / 2e-5, abs=1e-6)
    weight = force(model, *asked)[1][site][0, HEAD, ROW, KEY].item()
    _, found = measured(model, *asked, "gradient")
    by_hand = weight * derivative
    assert found[site][0, HEAD, ROW, KEY].item() == pytest.approx(by_hand, abs=1e-6)
    assert abs(by_hand) > 1e-4


def test_an_encoder_has_no_gradient_but_a_rollout(models):
    model = models("bert")
    with pytest.raises(ContractError, match="each word is masked in a pass"):
        measured(model, *given("bert"), "gradient")
    _, found = measured(model, *given("bert"), "rollout")
    joint = torch.eye(4).double()
    for layer in range(3):
        maps = model.library(input_ids=TEXT, output_attentions=True).attentions[layer][0]
        joint = (0.5 * maps.mean(dim=0) + 0.5 * torch.eye(4)) @ joint
        assert torch.allclose(found[Site("encoder", layer)][0, 0], joint, atol=1e-6)


@pytest.mark.parametrize("family", _INSIDE)
def test_a_patch_is_what_the_projection_is_given(models, family):
    model, asked, site, seen = models(family), given(family), site_of(family), []
    inside = model.library.get_submodule(_INSIDE[family])
    known = outputs(model, *given(family, OTHER)[:2], asked[2][:, : 0 if family == "bert" else 3])
    size = known[site].shape[-1]
    part = slice(HEAD * size, (HEAD + 1) * size)

    def keep(_, passed):
        rows = passed[0].reshape(-1, passed[0].shape[-1])
        seen.append(rows[:, part].clone())

    hook = inside.register_forward_pre_hook(keep)
    force(model, OTHER, asked[1], asked[2])
    hook.remove()
    rows, first = torch.cat(seen[:1] if family == "bert" else seen), [0]

    def replace(_, passed):
        changed = passed[0].clone()
        flat = changed.view(-1, changed.shape[-1])
        if family == "bert":  # every masked copy
            changed[..., part] = rows
        else:
            flat[:, part] = rows[first[0] : first[0] + len(flat)]
            first[0] += len(flat)
        return (changed,)

    hook = inside.register_forward_pre_hook(replace)
    by_hand, _ = force(model, *asked)
    hook.remove()
    patch = Patch(site=site, action="patch", head=HEAD, output=known[site])
    found, _ = force(model, *asked, interventions=[patch])
    assert torch.allclose(found, by_hand, atol=1e-6)
    assert not torch.allclose(found, force(model, *asked)[0], atol=1e-3)


@pytest.mark.parametrize(
    ("name", "text", "other"),
    [
        ("gpt-nano-sort", "2 0 1 1 0 2", "0 0 0 0 0 1"),
        ("aren-transliteration", "5 9 14", "8 21 11"),
    ],
)
def test_trained_models_of_others_are_looked_at_beyond_weights(name, text, other):
    if not (root := os.environ.get("ATTENTION_TEST_MODELS")):
        pytest.skip(f"ATTENTION_TEST_MODELS names no folder with {name} in it")
    translator = open_checkpoint(read_checkpoint(Path(root) / name), registry.load(allow=[]))
    usual = translator.explain(text)
    pair = translator.pair(text)
    for measure in MEASURES:
        found = translator.explain(text, measure=measure)
        assert found.log_probabilities == pytest.approx(usual.log_probabilities, abs=1e-4)
        assert len(found.maps) == len(usual.maps)
    site = usual.maps[0].site
    known = translator.outputs(other, pair)[site]
    patch = Patch(site=site, action="patch", output=known)
    patched = translator.explain(text, target=usual.text, interventions=[patch])
    assert patched.log_probability != pytest.approx(usual.log_probability, abs=1e-3)
    same = Patch(site=site, action="patch", output=translator.outputs(text, pair)[site])
    kept, _ = force(translator.model, *pair, interventions=[same])
    assert sum(kept[0].tolist()) == pytest.approx(usual.log_probability, abs=1e-4)

"""Another scoring in models of transformers: nothing else changes, however a model is run."""

from __future__ import annotations

import copy

import pytest
import torch
from support.swaps import DECODERS, MODELS, SCORINGS, alone, away, moved, piecewise, tiny
from support.tiny_families import READ, build, given

from attention_plugins import ContractError, attend, swap, unswap, watch
from attention_plugins.huggingface.attention import watched
from attention_plugins.huggingface.families import FAMILIES
from attention_plugins.huggingface.trial import sites_in_order
from attention_plugins.tap import Intervention, Recorder, Site, Tap

transformers = pytest.importorskip("transformers")
FEW = ("gpt2", "t5")


def slow(names, few=FEW):
    return [name if name in few else pytest.param(name, marks=pytest.mark.slow) for name in names]


def own(family):
    return FAMILIES[family].scoring if family in FAMILIES else "scaled_dot"


def at_words(output, inputs):
    mask = inputs.get("attention_mask")
    has_mask = mask is not None and output.shape[1] == mask.shape[1]
    return output[mask.bool()] if has_mask else output


def other_padding(inputs):
    """The same texts padded on the other side, which says nothing of their positions."""
    if "input_ids" not in inputs or "attention_mask" not in inputs:
        return inputs
    turned = {name: x.flip(1) for name, x in inputs.items() if name != "decoder_input_ids"}
    if "position_ids" in turned:
        turned["position_ids"] = (turned["attention_mask"].cumsum(1) - 1).clamp_min(0)
    return inputs | turned


def written(model, asked):
    """A greedy continuation, by a cache."""
    more = {}
    if model.config.is_encoder_decoder:  # its own would count T5's layers wrongly
        kept = transformers.DynamicCache(), transformers.DynamicCache()
        more = {"cache": transformers.EncoderDecoderCache(*kept)}
    return model.generate(**asked, max_new_tokens=6, do_sample=False, **more)


@torch.no_grad()
def own_differences(family):
    """What the model's own scoring changes, padded both ways, and its greedy texts."""
    model, inputs = build(family), given(family)
    found = []
    for each in (inputs, other_padding(inputs)):
        before = at_words(model(**each)[0], each)
        with swap(model, own(family)):
            found.append(float((at_words(model(**each)[0], each) - before).abs().max()))
        assert at_words(model(**each)[0], each).equal(before)
    if model.can_generate() and family != "whisper":
        asked = {name: each for name, each in inputs.items() if name in
                 ("input_ids", "attention_mask")}  # fmt: skip
        before = written(model, asked)
        with swap(model, own(family)):
            assert written(model, asked).equal(before)
    return max(found)


@pytest.mark.parametrize("family", slow(READ))
def test_the_models_own_scoring_changes_nothing(family):
    assert own_differences(family) <= 1e-6


@pytest.mark.slow
def test_thirty_families_say_the_same_to_the_last_bit_or_to_a_millionth():
    found = {family: own_differences(family) for family in READ}
    print({family: each for family, each in found.items() if each})
    assert len(found) >= 30
    assert max(found.values()) <= 1e-6


@torch.no_grad()
@pytest.mark.parametrize("family", slow(READ, ("gemma3_text", "gpt_oss", "t5")))
def test_the_own_scoring_as_a_formula_is_the_own_one(family):
    """By way of any scoring: the scale, cap, bias, sink and window of the model stay."""
    model, inputs = build(family), given(family)
    exact = family not in ("deepseek_v3", "gpt_oss")  # whose experts know no double precision
    if exact:
        model, inputs = tiny(family)
    with swap(model, own(family)):
        before = at_words(model(**inputs)[0], inputs)
    with swap(model, "=q.k" if own(family) == "dot" else "=q.k/sqrt(d)") as swapped:
        after = at_words(model(**inputs)[0], inputs)
    assert swapped.sites
    assert away(after, before) <= (1e-12 if exact else 5e-6)
    with swap(model, "cosine"):
        assert away(at_words(model(**inputs)[0], inputs), before) > 1e-3


@pytest.mark.parametrize("scoring", slow(SCORINGS, ("additive", "shaw", "dot")))
@pytest.mark.parametrize("family", slow(MODELS))
def test_every_scoring_says_alone_and_in_pieces_what_it_says_at_once(family, scoring, tmp_path):
    model, inputs = tiny(family)
    whole = model.state_dict().keys()
    swapped = moved(swap(model, scoring, **SCORINGS[scoring]))
    assert model.state_dict().keys() - whole == {
        name for name in model.state_dict() if ".swapped." in name
    }
    if "attention_mask" in inputs:
        assert alone(model, inputs) <= 1e-6
    dynamic, static = transformers.DynamicCache, transformers.StaticCache
    if family in DECODERS:
        cuts = (0, 6), (6, 7), (7, 11)
        assert piecewise(model, inputs, dynamic(config=model.config), cuts) <= 1e-6
        kept = static(config=model.config, max_cache_len=16)
        assert piecewise(model, inputs, kept, cuts) <= 1e-6
    elif "decoder_input_ids" in inputs:
        kept = transformers.EncoderDecoderCache(dynamic(), dynamic())
        assert piecewise(model, inputs, kept, ((0, 3), (3, 4), (4, 7))) <= 1e-6
    said = model(**inputs)[0]
    swap.save(model, tmp_path / "swap.safetensors")
    other = tiny(family)[0]
    assert not away(other(**inputs)[0], said) <= 1e-4  # Llama's own is not finite on padding
    swap.load(other, tmp_path / "swap.safetensors")
    assert away(other(**inputs)[0], said) <= 1e-6
    model.train()(**inputs)[0].square().sum().backward()
    assert not [weight.shape for weight in swapped.parameters()
                if weight.grad is None or not weight.grad.abs().sum() > 0]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("family", ["mistral", "gemma2", "gemma3_text"])
@pytest.mark.parametrize("scoring", ["shaw", "=q.k/sqrt(d)-0.3*i+0.1*j", "additive"])
def test_windows_caps_and_grouped_heads_go_with_every_cache(family, scoring):
    model, inputs = tiny(family)
    moved(swap(model, scoring))
    assert alone(model, inputs) <= 1e-6
    for kind in (transformers.DynamicCache, transformers.StaticCache):
        length = {} if kind is transformers.DynamicCache else {"max_cache_len": 16}
        cache = kind(config=model.config, **length)
        cuts = (0, 6), (6, 7), (7, 8), (8, 11)
        assert piecewise(model, inputs, cache, cuts) <= 1e-6


@torch.no_grad()
def test_a_swapped_attention_is_that_of_the_scoring_alone():
    """By hand: the module's own projections, the scoring, the module's own output."""
    model = build("gpt2")
    module = model.transformer.h[1].attn
    swapped = moved(swap(model, "bilinear", normaliser="sparsemax", layers=1))
    states = torch.randn(2, 5, 35, generator=torch.Generator().manual_seed(1))
    parts = module.c_attn(states).split(35, dim=2)
    parts = [part.unflatten(-1, (5, 7)).transpose(1, 2) for part in parts]
    scoring = module.swapped.scoring
    output, _ = attend(scoring, *parts, torch.ones(5, 5).tril().bool())
    wanted = module.c_proj(output.transpose(1, 2).flatten(2))
    assert swapped.sites == ("transformer.h.1.attn",)
    assert away(module(states)[0], wanted) <= 1e-6
    assert away(model.transformer.h[0].attn(states)[0], wanted) > 1e-2


@torch.no_grad()
@pytest.mark.parametrize("family", ["llama", "t5"])
def test_removed_positions_leave_a_model_that_sees_no_order(family):
    model, ids = build(family), given(family)["input_ids"][:1]
    if family == "llama":  # deeper layers see how many tokens each token could see
        model.model.layers = model.model.layers[:1]

    def last(ids):
        if family == "t5":
            return model.get_encoder()(ids).last_hidden_state[0, -1]
        return model(ids, use_cache=False)[0][0, -1]

    turned = torch.cat([ids[:, :-1].flip(1), ids[:, -1:]], 1)
    assert away(last(turned), last(ids)) > 1e-2
    with swap(model, own(family), positions="remove"):
        assert away(last(turned), last(ids)) <= 1e-5
    assert away(last(turned), last(ids)) > 1e-2


@torch.no_grad()
def test_rope_in_place_of_rope_is_the_models_own():
    """Llama's rotation taken out, and put back by a scoring that pairs other numbers."""
    model, size = tiny("llama")[0], 14
    ids = given("llama")["input_ids"]
    with torch.no_grad():
        before = model(ids)[0]
        halves = torch.arange(size).view(2, -1).T.flatten()  # ours turns neighbours
        for layer in model.model.layers:
            for part in (layer.self_attn.q_proj, layer.self_attn.k_proj):
                rows = part.weight.unflatten(0, (-1, size))
                part.weight.copy_(rows[:, halves].flatten(0, 1))
        with swap(model, "rope", positions="remove"):
            assert away(model(ids)[0], before) <= 1e-6


def test_a_swap_is_undone_in_any_order_and_by_an_error():
    model = build("gpt2")
    inputs = given("gpt2")
    plain = model(**inputs)[0]
    first = swap(model, "cosine")
    second = swap(model, "additive", layers="*.1.*")
    both = model(**inputs)[0]
    second.undo()
    assert not torch.equal(model(**inputs)[0], both)
    with pytest.raises(ZeroDivisionError), swap(model, "gaussian", layers=[0, 2]):
        raise ZeroDivisionError
    assert [type(each.scoring).__name__ for each in model.modules() if hasattr(each, "scoring")]
    first.undo()
    assert torch.equal(model(**inputs)[0], plain)
    swap(model, "cosine")
    unswap(model)
    assert torch.equal(model(**inputs)[0], plain)
    assert model.config._attn_implementation == "eager"
    assert not [name for name in model.state_dict() if "swapped" in name]


def taxicab(queries, keys):
    return -(queries.unsqueeze(-2) - keys.unsqueeze(-3)).abs().sum(-1)


@torch.no_grad()
def test_a_function_of_a_notebook_and_its_formula_are_the_same_in_a_model():
    model, inputs = build("gpt2"), given("gpt2")
    with swap(model, taxicab) as swapped:
        mine = model(**inputs)[0]
        assert repr(swapped) == "taxicab in 3 modules: 0 new weights"
    with swap(model, "=-sum(abs(q - k))"):
        assert away(model(**inputs)[0], mine) <= 1e-5


@torch.no_grad()
def test_kinds_and_layers_choose_what_is_swapped():
    model = build("t5")
    kinds = {"encoder": 2, "decoder": 3, "cross": 3, "self": 5}
    for kind, count in kinds.items():
        with swap(model, "dot", kinds=kind) as swapped:
            assert len(swapped.sites) == count
    with swap(model, "dot", kinds=("cross", "encoder"), layers="decoder.*") as swapped:
        assert len(swapped.sites) == 3
        assert all("EncDecAttention" in name for name in swapped.sites)


@torch.no_grad()
def test_a_watch_and_a_call_for_maps_see_the_new_weights():
    model, inputs = build("gpt2"), given("gpt2")
    with swap(model, "additive", normaliser="sparsemax"):
        plain = model(**inputs)
        asked = model(**inputs, output_attentions=True)
        with watch(model) as seen, watch(model, heads=[3], layers=1) as part:
            watched = model(**inputs)
    assert watched.logits.equal(plain.logits)
    assert away(asked.logits, plain.logits) <= 1e-6
    assert [each.name for each in seen.maps] == [f"transformer.h.{n}.attn" for n in range(3)]
    words = inputs["attention_mask"].bool()
    for ours, theirs in zip(seen.maps, asked.attentions, strict=True):
        assert away(ours.weights, theirs) <= 1e-6
        assert (ours.weights[:, :, -1] == 0).any()
        sums = ours.weights.sum(-1).movedim(1, 2)[words]
        assert away(sums, torch.ones_like(sums)) <= 1e-5
    assert part.maps[0].weights.equal(seen.maps[1].weights[:, 3:4])


@torch.no_grad()
def test_a_tap_sees_and_changes_the_new_weights():
    model, ids = build("gpt2"), given("gpt2")["input_ids"]
    swap(model, "shaw")
    asked = model(ids, output_attentions=True)
    sites = sites_in_order(model, "decoder", input_ids=ids)
    recorder, off = Recorder(), Intervention(site=Site("decoder", 1), action="off")
    with watched(Tap(recorder), sites):
        assert away(model(ids).logits, asked.logits) <= 1e-6
    for ours, theirs in zip(recorder.weights().values(), asked.attentions, strict=True):
        assert away(ours, theirs) <= 1e-6
    with watched(Tap(interventions=[off]), sites):
        assert away(model(ids).logits, asked.logits) > 1e-2
    padded = given("gpt2")
    refused = pytest.raises(ContractError, match="a tap counts the same in every row")
    with watched(Tap(), sites), refused:
        model(**padded)


@torch.no_grad()
def test_a_swap_goes_with_its_copies_and_with_its_models_precision():
    model, inputs = build("gpt2"), given("gpt2")
    moved(swap(model, "additive"))
    said, other = model(**inputs)[0], copy.deepcopy(model)
    assert other(**inputs)[0].equal(said)
    unswap(other)
    assert not other(**inputs)[0].equal(said)
    assert model(**inputs)[0].equal(said)
    assert model.bfloat16()(**inputs)[0].dtype == torch.bfloat16


def test_tuning_moves_the_new_weights_alone_where_that_is_asked():
    model, inputs = build("gpt2"), given("gpt2")
    swapped = swap(model, "additive", layers=0)
    before = {name: each.clone() for name, each in model.state_dict().items()}
    optimiser = torch.optim.SGD(swapped.parameters(), 0.1)
    model(**inputs, labels=inputs["input_ids"]).loss.backward()
    optimiser.step()
    changed = [name for name, each in model.state_dict().items() if not each.equal(before[name])]
    assert changed
    assert all(name.startswith("transformer.h.0.attn.swapped.") for name in changed)

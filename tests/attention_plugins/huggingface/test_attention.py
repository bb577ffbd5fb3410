"""Our attention in the library's models, against its own: outputs, maps, what is not known."""

from __future__ import annotations

import pytest
import torch
from support.tiny_families import FAMILIES, READ, SENSES, TRANSLATORS, build, given
from torch import nn

from attention_plugins.contract import ContractError
from attention_plugins.huggingface import attention, folder
from attention_plugins.huggingface.attention import NAME, watched
from attention_plugins.huggingface.model import LibraryModel
from attention_plugins.huggingface.trial import sites_in_order
from attention_plugins.tap import Intervention, Recorder, Site, Tap

FEW = ("gpt2", "gemma2", "gpt_oss", "albert", "swin")
_REST = [pytest.param(name, marks=pytest.mark.slow) for name in READ if name not in FEW]


def _watched(library, family, inputs, tap):
    library.set_attn_implementation(NAME)
    if family in TRANSLATORS or family == "whisper":
        sites = LibraryModel(library).sites
    else:
        sites = sites_in_order(library, "encoder", **inputs)
    with watched(tap, sites):
        return library(**inputs)


def _at_words(output, inputs):
    """What comes out where there is a token."""
    mask = inputs.get("attention_mask")
    has_mask = mask is not None and output.shape[1] == mask.shape[1]
    return output[mask.bool()] if has_mask else output


def _known_maps(output):
    sides = {name: output.get(f"{name}_attentions") for name in ("encoder", "decoder")}
    more = {name: output.get(name) for name in ("cross_attentions", "attentions")}
    return [weights for maps in (sides | more).values() for weights in maps or ()]


def compare(family):
    """The distances of the output and of the maps from the library's, and how many maps."""
    folder.library()
    library, inputs = build(family), given(family)
    recorder = Recorder()
    with torch.no_grad():
        theirs = library(**inputs, output_attentions=True)
        ours = _watched(library, family, inputs, Tap(recorder))
    mine, wanted = (_at_words(each[0], inputs) for each in (ours, theirs))
    order = {"encoder": 0, "decoder": 1, "cross": 2}
    maps = recorder.weights()
    maps = [maps[site] for site in sorted(maps, key=lambda s: (order[s.kind], s.layer))]
    known = _known_maps(theirs)
    if family == "swin":  # of each stage the library gives the last map alone
        maps = maps[1::2]
    assert len(maps) == len(known) > 0
    away = max(float((_rows(m, inputs) - _rows(k, inputs)).abs().max())
               for m, k in zip(maps, known, strict=True))  # fmt: skip
    sharp = max(map(_sharpness, known))
    return float((mine - wanted).abs().max()), away, len(maps), sharp


def _sharpness(weights):
    """The largest weight of a row over that of a uniform one, in the mean: 1 if all are alike."""
    return float((weights.amax(-1) * (weights > 0).sum(-1)).mean())


def _rows(weights, inputs):
    """A map's rows of words, each ``(heads, keys)``."""
    rows, mask = weights.movedim(1, 2), inputs.get("attention_mask")
    fits = mask is not None and mask.shape[1] == rows.shape[1]
    return rows[mask.bool()] if fits else rows


@pytest.mark.parametrize("family", [*FEW, *_REST])
def test_outputs_and_maps_are_the_librarys(family):
    output, maps, count, sharp = compare(family)
    assert output == 0.0 if family != "swin" else output <= 1e-6
    assert maps <= (0.0 if family not in SENSES else 1e-6)
    assert count >= 2
    assert sharp > 1.5


@pytest.mark.slow
def test_thirty_families_say_to_the_last_bit_what_the_library_says():
    """Of 31, beside four that are refused."""
    found = {family: compare(family)[0] for family in READ}
    assert len(found) == 31
    assert len(FAMILIES) - len(found) == 4
    assert sum(output == 0.0 for output in found.values()) >= 30
    assert max(found.values()) <= 1e-6


class _Attention(nn.Module):
    """Stands for a module of the library."""


def _asked(mask=None, tap=None, **more):
    made = torch.Generator().manual_seed(1)
    query, key, value = (torch.randn(2, heads, 3, 5, generator=made) for heads in (4, 2, 2))
    module = _Attention()
    with watched(tap, {module: [Site("decoder", 0)]}):
        return attention._attend(module, query, key, value, mask, **more)[0]


def test_what_a_family_adds_that_is_not_known_is_refused_by_its_name():
    with pytest.raises(ContractError, match=r"_Attention of the library gives .* 'indices'"):
        _asked(indices=torch.ones(1))
    harmless = (
        "cache_position", "deterministic", "output_attentions", "output_hidden_states",
        "output_router_logits", "position_ids", "return_dict", "sliding_window", "use_cache",
    )  # fmt: skip
    torch.testing.assert_close(_asked(indices=None, **dict.fromkeys(harmless, 1)), _asked())


def test_scores_in_place_of_a_mask_are_added_and_the_lowest_rule_out():
    lowest = torch.finfo(torch.float).min
    allowed = torch.ones(3, 3).tril().bool()
    scores = torch.where(allowed, 0.0, lowest)[None, None]
    torch.testing.assert_close(_asked(scores), _asked(allowed), rtol=0, atol=0)
    more = allowed * torch.arange(3.0)
    assert not torch.equal(_asked(scores + more), _asked(scores))
    torch.testing.assert_close(_asked(scores, position_bias=more), _asked(scores + more))
    attention._require_none_in_mask(_Attention(), allowed, scores)
    with pytest.raises(ContractError, match=r"_Attention .* adds its positions to the mask"):
        attention._require_none_in_mask(_Attention(), allowed, scores + more)


def test_what_no_mask_means_is_said_by_the_call_or_by_the_module():
    allowed = torch.ones(3, 3).tril().bool()
    causal, seeing = _asked(allowed), _asked()
    assert not torch.allclose(causal, seeing)
    torch.testing.assert_close(_asked(is_causal=True), causal)
    module = _Attention()
    module.is_causal = True
    query, keys = torch.ones(1, 1, 2, 4), torch.ones(1, 1, 3, 4)
    assert attention._causal(module, query, keys, {"is_causal": False}) is None
    assert attention._causal(module, query[:, :, :1], keys, {}) is None
    assert attention._causal(module, keys, keys, {}).equal(allowed)
    for one, other in ((query, keys), (keys, query)):
        with pytest.raises(
            ContractError, match=f"asks for {one.shape[2]} queries of {other.shape[2]}"
        ):
            attention._causal(module, one, other, {})


def test_a_scale_and_a_share_to_drop_are_those_of_the_call():
    usual = _asked()
    torch.testing.assert_close(_asked(scaling=5**-0.5, dropout=0.0), usual)
    torch.testing.assert_close(
        _asked(scaling=0.0), _asked(scaling=0.0).mean(1, True).expand(2, 3, 4, 5)
    )
    torch.manual_seed(0)
    assert not torch.allclose(_asked(dropout=0.5), usual)
    query = torch.ones(1, 1, 2, 2)
    given = _Attention(), query, query, query, None
    assert attention._attend(*given, output_attentions=False)[1] is None
    maps = attention._attend(*given, output_attentions=True)[1]
    assert maps.tolist() == [[[[0.5, 0.5]] * 2]]


def test_of_a_module_that_attends_twice_the_first_shape_is_kept():
    module, query = _Attention(), torch.ones(1, 6, 2, 5)
    keys, values = torch.ones(1, 3, 4, 5), torch.ones(1, 3, 4, 7)
    with watched(None, {}) as seen:
        for n in (2, 1):
            attention._attend(module, query[:, :, :n], keys, values, None)
        with watched(None, {}):
            attention._attend(_Attention(), query, keys, values, None)
        attention._attend(module, query[:, :, :1], keys, values, None)
    assert seen.order == [module] * 3
    assert seen.shapes == {module: (6, 2, 4, 5, 7)}


@pytest.mark.parametrize("name", ["softcap", "s_aux", "position_bias"])
def test_a_cap_a_sink_and_a_bias_are_taken_with_and_without_a_recorder(name):
    given = {"softcap": 0.5, "s_aux": torch.arange(4.0), "position_bias": torch.eye(3)[None, None]}
    more = {name: given[name]}
    recorder = Recorder()
    plain, seen = _asked(**more), _asked(tap=Tap(recorder), **more)
    torch.testing.assert_close(plain, seen, rtol=0, atol=0)
    assert not torch.equal(plain, _asked())
    (weights,) = recorder.weights().values()
    sums = weights.sum(-1)
    assert (sums < 1).all() if name == "s_aux" else sums.sub(1).abs().max() < 1e-6


def test_a_module_that_layers_share_has_a_site_for_each_of_its_calls():
    module, recorder = _Attention(), Recorder()
    sites = [Site("encoder", layer) for layer in range(3)]
    off = Intervention(site=sites[1], action="off")
    query = torch.ones(1, 1, 2, 2)
    with watched(Tap(recorder, [off]), {module: sites}):
        for _ in sites:
            attention._attend(module, query, query, query, None)
    found = recorder.weights()
    assert [*found] == sites
    again = attention.Pass(None, {module: sites})
    assert [again.site(module) for _ in range(4)] == [*sites, sites[0]]
    assert [bool(found[site].any()) for site in sites] == [True, False, True]

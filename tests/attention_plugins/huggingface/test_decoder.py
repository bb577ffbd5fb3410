"""Decoders of the library: texts at once, in steps and by its search, against its own words."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from support.tiny_families import DECODERS, LENGTHS, WORDS, build

from attention_plugins.attention import rows_sum_to_one
from attention_plugins.checkpoints import CheckpointError
from attention_plugins.decoding import force
from attention_plugins.huggingface import decoder, folder
from attention_plugins.huggingface.attention import NAME
from attention_plugins.huggingface.decoder import LibraryDecoder
from attention_plugins.huggingface.model import ends_of, up_to_an_end
from attention_plugins.tap import Intervention, Recorder, Site

FEW = ("llama", "gemma2", "gpt_oss")  # grouped heads; windows and a cap; sinks
_NEAR = 1e-4  # sums in another order, of sharp weights in single precision
ALL = [*FEW, *(pytest.param(name, marks=pytest.mark.slow) for name in DECODERS if name not in FEW)]


def _ids(rows, columns, seed):
    made = torch.Generator().manual_seed(seed)
    return torch.randint(3, WORDS, (rows, columns), generator=made)


PROMPT, TARGET = _ids(3, 11, 0), _ids(3, 7, 1)


@pytest.fixture(scope="module")
def tiny():
    """A family's model for the library's own attention, and itself behind our tap; once."""
    made = {}
    folder.library()

    def models(family):
        if family not in made:
            theirs = build(family)
            ours = build(family)
            ours.set_attn_implementation(NAME)
            made[family] = theirs, LibraryDecoder(ours).eval()
        return made[family]

    return models


@torch.no_grad()
def _by_the_library(library, row):
    """Log-probabilities of a row's target, and its maps, each text alone and without padding."""
    prompt = PROMPT[row, : LENGTHS[row]]
    ids = torch.cat([prompt, TARGET[row]])[None]
    output = library(input_ids=ids, output_attentions=True, use_cache=False)
    scores = output.logits[0, len(prompt) - 1 : -1].log_softmax(-1)
    maps = [weights[0, :, :-1, :-1] for weights in output.attentions]
    return scores.gather(1, TARGET[row][:, None])[:, 0], maps


@pytest.mark.parametrize("passes", ["at once", "in parts"])
@pytest.mark.parametrize("family", ALL)
def test_a_padded_batch_says_and_looks_like_each_text_alone(tiny, family, passes, monkeypatch):
    library, own = tiny(family)
    if passes == "in parts":
        monkeypatch.setattr(decoder, "MOST_SCORES", 3 * 4 * WORDS)
    calls = []
    handle = own.library.register_forward_pre_hook(lambda *_: calls.append(1))
    found, maps = force(own, PROMPT, LENGTHS, TARGET)
    handle.remove()
    assert len(calls) == 1 + (1 if passes == "at once" else 4)  # 1 token, then 16
    assert [*maps] == [Site("decoder", layer) for layer in range(3)]
    for row, length in enumerate(LENGTHS.tolist()):
        scores, known = _by_the_library(library, row)
        torch.testing.assert_close(found[row], scores, rtol=0, atol=_NEAR)
        tokens = length + TARGET.shape[1] - 1
        for weights, wanted in zip(maps.values(), known, strict=True):
            own_rows = weights[row, :, :tokens, :tokens]
            torch.testing.assert_close(own_rows, wanted, rtol=0, atol=_NEAR)


@pytest.mark.parametrize("family", ALL)
def test_steps_from_the_cache_say_what_all_words_at_once_say(tiny, family):
    _, own = tiny(family)
    changes = [Intervention(site=Site("decoder", 1), action="off", head=2),
               Intervention(site=Site("decoder", 0), action="uniform")]  # fmt: skip
    for given in ((), changes):
        steps, _ = force(own, PROMPT, LENGTHS, TARGET, by_steps=True, interventions=given)
        found, _ = force(own, PROMPT, LENGTHS, TARGET, interventions=given)
        torch.testing.assert_close(found, steps, rtol=0, atol=_NEAR)
    usual, _ = force(own, PROMPT, LENGTHS, TARGET)
    assert (found - usual).abs().max() > 0.1


@pytest.mark.parametrize("family", ALL)
def test_its_search_is_the_librarys_greedy_generation(tiny, family):
    """Of each prompt alone, so without padding, and longer than any window."""
    library, own = tiny(family)
    found = own.search(PROMPT, LENGTHS, width=1, limit=9)
    for row, length in enumerate(LENGTHS.tolist()):
        prompt = PROMPT[row : row + 1, :length]
        wanted = library.generate(
            prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=9
        )[0, length:].tolist()
        assert found[row] == up_to_an_end(wanted, ends_of(library))
    assert len({tuple(ids) for ids in found}) == 3


@pytest.mark.parametrize(("told", "ends"), [(None, []), (0, [0]), ([3, 5], [3, 5])])
def test_a_text_may_have_several_ends_or_none(told, ends):
    library = SimpleNamespace(generation_config=SimpleNamespace(eos_token_id=told))
    assert ends_of(library) == ends
    assert up_to_an_end([7, 5, 0, 3], ends) == [7, 5, 0, 3][: {0: 4, 1: 3, 2: 2}[len(ends)]]


def test_a_step_of_the_search_sees_the_changes(tiny):
    _, own = tiny("llama")
    usual = own.search(PROMPT, LENGTHS, width=1, limit=9)
    off = [Intervention(site=Site("decoder", layer), action="off") for layer in range(3)]
    assert own.search(PROMPT, LENGTHS, width=1, limit=9, interventions=off) != usual


def test_padding_stands_where_a_table_of_positions_has_a_row(tiny):
    _, own = tiny("gpt2")
    steps, _ = force(own, PROMPT, LENGTHS, TARGET[:, :2], by_steps=True)
    found, _ = force(own, PROMPT, LENGTHS, TARGET[:, :2])
    torch.testing.assert_close(found, steps, rtol=0, atol=_NEAR)


def test_a_family_whose_steps_say_other_words_is_refused(tiny, monkeypatch):
    _, own = tiny("llama")
    own.require_steps()
    found, asked = [torch.zeros(2), torch.zeros(2)], []

    def forced(*given, by_steps=False):
        asked.append(given)
        return found[by_steps], {}

    monkeypatch.setattr(decoder, "force", forced)
    found[1][0] = -0.005
    own.require_steps()
    assert asked[0][2].tolist() == [3, 1]  # of which one is padded
    for away, said in ((-0.02, "0.02"), (float("nan"), "nan")):
        found[1][0] = away
        with pytest.raises(CheckpointError, match=f"'llama' says .* up to {said} nats"):
            own.require_steps()


def test_rows_beside_a_sink_do_not_sum_to_one_and_the_model_says_so(tiny):
    for family, whole in (("gpt_oss", False), ("llama", True)):
        own = tiny(family)[1]
        assert rows_sum_to_one(own) is whole
        sums = next(iter(force(own, PROMPT, LENGTHS, TARGET)[1].values()))[0].sum(-1)
        assert bool((sums > 0.999).all()) is whole


def test_maps_of_chosen_sites_alone_are_kept(tiny):
    _, own = tiny("gemma2")
    chosen = Site("decoder", 1)
    known, all_maps = force(own, PROMPT, LENGTHS, TARGET)
    found, maps = force(own, PROMPT, LENGTHS, TARGET, recorder=Recorder([chosen]))
    assert [*maps] == [chosen]
    torch.testing.assert_close(maps[chosen], all_maps[chosen], rtol=0, atol=0)
    torch.testing.assert_close(found, known, rtol=0, atol=1e-5)

"""Encoders of the library: maps of a text, and each word's likelihood while it is masked."""

from __future__ import annotations

import pytest
import torch
from support.tiny_families import ENCODERS, LENGTHS, PAD, WORDS, build

from attention_plugins.contract import ContractError
from attention_plugins.decoding import force
from attention_plugins.health import leave_one_out
from attention_plugins.huggingface import encoder, folder
from attention_plugins.huggingface.attention import NAME
from attention_plugins.huggingface.encoder import LibraryEncoder
from attention_plugins.tap import Intervention, Site, Tap
from attention_plugins.translator import Pair

FEW = ("bert", "albert")
ALL = [*FEW, *(pytest.param(name, marks=pytest.mark.slow) for name in ENCODERS if name not in FEW)]
MASK, SPECIAL = 3, (0, 1, 2, 3)


@pytest.fixture(scope="module")
def tiny():
    """A family's model for the library's own attention, and itself behind our tap; once."""
    made = {}
    folder.library()

    def models(family):
        if family not in made:
            ours = build(family)
            ours.set_attn_implementation(NAME)
            made[family] = build(family), LibraryEncoder(ours, MASK, SPECIAL).eval()
        return made[family]

    return models


def _texts():
    ids = torch.randint(4, WORDS, (3, 11), generator=torch.Generator().manual_seed(0))
    ids[:, 0] = 2
    ids[torch.arange(3), LENGTHS - 1] = 1
    return ids


@torch.no_grad()
def _by_the_library(library, row):
    """Log-probabilities of a text's words, each masked alone, and the maps of the text."""
    ids = _texts()[row : row + 1, : LENGTHS[row]]
    maps = library(input_ids=ids, output_attentions=True).attentions
    found = []
    for place in range(1, ids.shape[1] - 1):
        hidden = ids.clone()
        hidden[0, place] = MASK
        scores = library(input_ids=hidden).logits[0, place].log_softmax(-1)
        found.append(scores[ids[0, place]])
    return found, [weights[0] for weights in maps]


@pytest.mark.parametrize("family", ALL)
def test_a_padded_batch_says_and_looks_like_each_text_alone(tiny, family):
    library, own = tiny(family)
    source = _texts()
    target = torch.full((3, 9), PAD)
    for row, length in enumerate(LENGTHS.tolist()):
        target[row, : length - 2] = source[row, 1 : length - 1]
    found, maps = force(own, source, LENGTHS, target)
    assert [*maps] == [Site("encoder", layer) for layer in range(3)]
    for row, length in enumerate(LENGTHS.tolist()):
        scores, known = _by_the_library(library, row)
        torch.testing.assert_close(
            found[row, : len(scores)], torch.tensor(scores), rtol=0, atol=1e-4
        )
        for weights, wanted in zip(maps.values(), known, strict=True):
            mine = weights[row, :, :length, :length]
            torch.testing.assert_close(mine, wanted, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("most", "passes"), [(1 << 24, 2), (4 * 11 * WORDS, 4), (1, 10)])
def test_one_text_is_read_in_batches_of_copies_with_the_changes(tiny, most, passes, monkeypatch):
    _, own = tiny("bert")
    monkeypatch.setattr(encoder, "MOST_SCORES", most)
    source, target = _texts()[:1], _texts()[:1, 1:-1]
    off = [Intervention(site=Site("encoder", 1), action="off", head=2)]
    calls = []
    for changes in ((), off):
        handle = own.library.register_forward_pre_hook(lambda *_: calls.append(1))
        found, _ = force(own, source, LENGTHS[:1], target, interventions=changes)
        handle.remove()
        many, _ = force(own, source.repeat(2, 1), LENGTHS[:1].repeat(2), target.repeat(2, 1),
                        interventions=changes)  # fmt: skip
        torch.testing.assert_close(many, found.repeat(2, 1), rtol=0, atol=1e-4)
    assert len(calls) == 2 * passes  # the text as it is, and its 9 words in batches


def test_guesses_of_a_padded_batch_are_those_of_each_text_alone(tiny):
    library, own = tiny("bert")
    found = own.guess(_texts(), LENGTHS, Tap())
    for row, length in enumerate(LENGTHS.tolist()):
        with torch.no_grad():
            wanted = library(input_ids=_texts()[row : row + 1, :length]).logits[0].log_softmax(-1)
        torch.testing.assert_close(found[row, :length], wanted, rtol=0, atol=1e-4)


def test_what_a_head_is_for_is_the_likelihood_without_it(tiny):
    """As many heads at once as fill a batch, against one after the other."""
    _, own = tiny("bert")
    pair = Pair(_texts()[:1], LENGTHS[:1], _texts()[:1, 1:-1])

    class Named:
        model = own

    usual, _ = force(own, *pair)
    found = [*leave_one_out(Named, pair)]
    assert len(found) == 15
    for (site, head), change in found:
        off = Intervention(site=site, action="off", head=head)
        alone, _ = force(own, *pair, interventions=[off])
        assert change == pytest.approx(float((alone - usual).sum()), abs=1e-3)
    assert len({round(change, 4) for _, change in found}) > 10


def test_an_encoder_without_a_head_has_maps_and_no_likelihoods(tiny):
    own = LibraryEncoder(tiny("bert")[1].library, None, SPECIAL)
    found, maps = force(own, _texts(), LENGTHS, torch.empty(3, 0, dtype=torch.long))
    assert found.shape == (3, 0)
    assert len(maps) == 3
    with pytest.raises(ContractError, match="no head that guesses masked words"):
        force(own, _texts(), LENGTHS, _texts()[:, 1:-1])
    with pytest.raises(ContractError, match="it reads a text, and writes none"):
        own.start(_texts(), LENGTHS, None)

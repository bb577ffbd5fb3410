"""Texts as adopted decoders and encoders read them, against the library's own logits."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from support.tiny_families import save, with_words

from attention_plugins.huggingface import texts
from attention_plugins.language import Wanted
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.tap import Site

WORDS = ("the", "cat", "sees", "a", "dog", "horse", "not", "here")


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    made = tmp_path_factory.mktemp("hub")
    save("llama", made / "decoder")
    with_words(save("bert", made / "encoder"), WORDS)
    found = {}
    for name in ("decoder", "encoder"):
        found[name] = open_checkpoint(read_checkpoint(made / name), None)
        found[name].folder = made / name
    return found


@torch.no_grad()
def logits(translator, ids):
    """What a model of the library without anything of ours says, ``(n, words)``."""
    loader = type(translator.model.library)
    plain = loader.from_pretrained(translator.folder, attn_implementation="eager")
    return plain.eval()(input_ids=torch.tensor([ids])).logits[0].log_softmax(dim=-1)


def test_each_token_of_a_decoder_costs_what_the_library_says(opened):
    read = opened["decoder"].read_text("5 9 17", Wanted(words=4, top=3))
    ids = [int(token) for token in read.tokens]
    assert ids[:3] == [5, 9, 17]
    assert 0 < read.written == len(ids) - 3
    scores = logits(opened["decoder"], ids)
    told = [scores[place, token].item() for place, token in enumerate(ids[1:])]
    assert read.log_probabilities[0] is None
    assert read.log_probabilities[1:] == pytest.approx(told, abs=1e-5)
    best = scores[2].topk(3)
    (found,) = read.candidates
    assert (found.place, found.tokens) == (3, tuple(map(str, best.indices.tolist())))
    assert found.log_probabilities == pytest.approx(best.values.tolist(), abs=1e-5)
    assert ids[3] == best.indices[0]
    assert read.maps[0].query_labels == read.tokens[: read.length]


def test_a_decoder_writes_as_far_as_it_reads_and_says_that_it_stopped_there(tmp_path):
    folder = save("gpt2", tmp_path / "decoder")
    config = json.loads((folder / "config.json").read_text("utf-8")) | {"n_positions": 11}
    for name in ("eos_token_id", "bos_token_id"):
        config.pop(name, None)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    weights = load_file(folder / "model.safetensors")
    weights["transformer.wpe.weight"] = weights["transformer.wpe.weight"][:11].clone()
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    translator = open_checkpoint(read_checkpoint(folder), None)
    translator.ends = frozenset()
    read = translator.read_text("5 9 17 8 3 2", Wanted(words=8))
    assert (read.written, read.length, read.stopped_at) == (6, 11, 11)
    assert read.maps[0].query_labels == read.tokens[:11]
    assert read.text == translator.explain("5 9 17 8 3 2").text.strip()
    fewer = translator.read_text("5 9 17 8 3 2", Wanted(words=6))
    assert (fewer.text, fewer.stopped_at) == (read.text, 0)


def test_an_encoder_has_candidates_for_each_mask_and_a_loss_for_each_word(opened, monkeypatch):
    translator = opened["encoder"]
    mask = translator.mask
    read = translator.read_text(f"the {mask} sees a {mask}", Wanted(top=2))
    places = [place for place, token in enumerate(read.tokens) if token == mask]
    assert [one.place for one in read.candidates] == places
    assert len(places) == 2
    ids = translator._tokenizer(f"the {mask} sees a {mask}")["input_ids"]
    scores = logits(translator, ids)
    for found in read.candidates:
        best = scores[found.place].topk(2)
        assert found.tokens == tuple(translator.target_vocabulary.words(best.indices.tolist()))
        assert found.log_probabilities == pytest.approx(best.values.tolist(), abs=1e-5)
    for place, score in enumerate(read.log_probabilities):
        if read.tokens[place] in WORDS:
            hidden = [*ids]
            hidden[place] = translator.model.mask
            told = logits(translator, hidden)[place, ids[place]].item()
            assert score == pytest.approx(told, abs=1e-5)
        else:
            assert score is None
    assert len(read.losses) == 3
    assert [one.site.kind for one in read.maps] == ["encoder"] * len(read.maps)
    # Each loss is a pass: of a long text, and of one map, there are none.
    assert translator.read_text("the cat", Wanted(only=Site("encoder", 0))).losses == ()
    monkeypatch.setattr(texts, "MOST_MASKED", 4)
    assert len(translator.read_text("the cat").losses) == 2
    monkeypatch.setattr(texts, "MOST_MASKED", 3)
    assert translator.read_text("the cat").losses == ()

"""All words in one pass say what they say one by one, and what the library's own attention says.

The weights of the tiny models are large, so that attention is far from uniform: where a query
sees a word too many, everything differs.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch

from attention_plugins import tap as taps
from attention_plugins.decoding import force
from attention_plugins.huggingface import folder, model
from attention_plugins.huggingface.attention import NAME, watched
from attention_plugins.huggingface.families import FAMILIES
from attention_plugins.opening import read_checkpoint
from attention_plugins.tap import Intervention, Recorder, Site, Tap

_VARIABLE = "ATTENTION_TEST_MODELS"
_EXACT = 1e-6
_WORDS = 41
_SIDES = ("none", "left", "right")
_LAYERS = {
    "d_model": 30, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 5,
    "decoder_attention_heads": 3, "encoder_ffn_dim": 11, "decoder_ffn_dim": 13,
    "max_position_embeddings": 29, "decoder_start_token_id": 1,
}  # fmt: skip
_T5 = {"d_model": 14, "d_kv": 7, "d_ff": 11, "num_layers": 2, "num_decoder_layers": 3,
       "num_heads": 5, "decoder_start_token_id": 0}  # fmt: skip
_DECODERS = {
    "gpt2": {"n_embd": 35, "n_layer": 3, "n_head": 5, "n_positions": 29},
    "llama": {  # three queries' heads to one of the keys
        "hidden_size": 42, "intermediate_size": 23, "num_hidden_layers": 3, "head_dim": 14,
        "num_attention_heads": 6, "num_key_value_heads": 2, "max_position_embeddings": 29,
    },
}  # fmt: skip
_TRANSLATORS = [name for name, one in FAMILIES.items() if one.kind == "encoder-decoder"]
_SIZES = {**{kind: _T5 if "t5" in kind else _LAYERS for kind in _TRANSLATORS}, **_DECODERS}


@pytest.fixture(scope="module")
def tiny(spread):
    """Makes a model of an architecture once, in double precision."""
    names, made = folder.library(), {}

    def build(kind):
        if kind not in made:
            config = names.AutoConfig.for_model(
                kind, vocab_size=_WORDS, pad_token_id=0, bos_token_id=2, eos_token_id=1,
                **_SIZES[kind],
            )  # fmt: skip
            kinds = names.AutoModelForCausalLM if kind in _DECODERS else None
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(3)
                new = (kinds or names.AutoModelForSeq2SeqLM).from_config(config)
                made[kind] = spread(new, 2 if "t5" in kind else 12).double().eval()
        return made[kind]

    return build


def _ids(rows, columns, seed):
    made = torch.Generator().manual_seed(seed)
    return torch.randint(3, _WORDS, (rows, columns), generator=made)


_SOURCE, _LENGTHS, _TARGET = _ids(3, 11, 0), torch.tensor([11, 7, 2]), _ids(3, 7, 1)


def _padding(side, columns=11):
    """A mask of the library, 1 where a token is; None without padding."""
    places = torch.arange(columns)
    return {"none": None, "right": (places < _LENGTHS[:, None]).long(),
            "left": (places >= columns - _LENGTHS[:, None]).long()}[side]  # fmt: skip


@torch.no_grad()
def _asked(library, implementation, **given):
    library.set_attn_implementation(implementation)
    with watched(None, {}):
        return library(**given)


def _assert_same(found, known, tolerance=_EXACT):
    torch.testing.assert_close(found, known, rtol=0, atol=tolerance)


@pytest.mark.parametrize("side", _SIDES)
# mBART's labels begin with its language, which the library takes from their end.
@pytest.mark.parametrize("kind", [kind for kind in _TRANSLATORS if kind != "mbart"])
def test_a_loss_at_once_is_the_librarys_and_that_of_single_words(tiny, kind, side):
    library, labels = tiny(kind), _TARGET
    given = {"input_ids": _SOURCE, "attention_mask": _padding(side)}
    known = _asked(library, "eager", **given, labels=labels)
    found = _asked(library, NAME, **given, labels=labels)
    _assert_same(found.logits, known.logits)
    _assert_same(found.loss, known.loss)

    begin = torch.full_like(labels[:, :1], library.config.decoder_start_token_id)
    words = torch.cat([begin, labels[:, :-1]], dim=1).split(1, dim=1)
    memory, cache, steps = (found.encoder_last_hidden_state,), None, []
    for word in words:
        step = _asked(
            library, NAME, encoder_outputs=memory, attention_mask=given["attention_mask"],
            decoder_input_ids=word, cache=cache, use_cache=True,
        )  # fmt: skip
        cache = step.cache
        steps.append(step.logits)
    _assert_same(torch.cat(steps, dim=1), found.logits)


@pytest.mark.parametrize(
    "changes",
    [
        (),
        (Intervention(site=Site("decoder", 1), action="pin", key=2),
         Intervention(site=Site("cross", 0), action="uniform", row=3),
         Intervention(site=Site("encoder", 1), action="off", head=1)),
    ],
    ids=["as they are", "changed"],
)  # fmt: skip
@pytest.mark.parametrize("kind", _TRANSLATORS)
def test_forced_words_at_once_are_as_likely_as_one_by_one(tiny, kind, changes, monkeypatch):
    (library := tiny(kind)).set_attn_implementation(NAME)
    own = model.LibraryModel(library)
    asked = (own, _SOURCE, _LENGTHS, _TARGET)
    steps, step_maps = force(*asked, interventions=changes, by_steps=True)
    calls = []
    library.register_forward_pre_hook(lambda *_: calls.append(1))
    for most, passes in ((model.MOST_SCORES, 1), (3 * 3 * _WORDS, 3)):
        monkeypatch.setattr(model, "MOST_SCORES", most)
        calls.clear()
        found, maps = force(*asked, interventions=changes)
        assert len(calls) == passes
        _assert_same(found, steps)
        assert maps.keys() == step_maps.keys()
        for site, weights in maps.items():
            _assert_same(weights, step_maps[site])


@torch.no_grad()
def test_maps_at_once_fit_t5s_bias_however_many_scores_there_are(tiny, monkeypatch):
    (library := tiny("t5")).set_attn_implementation(NAME)
    own = model.LibraryModel(library)
    known = own.start(_SOURCE, _LENGTHS, Tap())["memory"]
    monkeypatch.setattr(taps, "_MOST_SCORES", 1)
    monkeypatch.setattr("attention_plugins.blocks._BLOCK_ELEMENTS", 1)
    _assert_same(own.start(_SOURCE, _LENGTHS, Tap())["memory"], known)


# Llama's eager attention takes its softmax in single precision, whatever the model's.
@pytest.mark.parametrize(
    ("kind", "reference", "kept", "tolerance"),
    [("gpt2", "eager", torch.double, _EXACT), ("llama", "sdpa", torch.double, _EXACT),
     ("llama", "eager", torch.float, 1e-4)],
)  # fmt: skip
@pytest.mark.parametrize("side", _SIDES)
def test_a_decoder_alone_reads_its_prompt_at_once(tiny, kind, reference, kept, tolerance, side):
    library, padding = tiny(kind).to(kept), _padding(side)
    there = torch.ones_like(_SOURCE) if padding is None else padding
    places = (there.cumsum(dim=1) - 1).clamp_min(0)
    words = there.bool()
    given = {"input_ids": _SOURCE, "attention_mask": padding, "position_ids": places}
    known = _asked(library, reference, **given).logits[words]
    _assert_same(_asked(library, NAME, **given).logits[words], known, tolerance)

    cache, steps = None, []
    for start, end in ((0, 5), (5, 8), (8, 9), (9, 10), (10, 11)):
        part = {
            "input_ids": _SOURCE[:, start:end], "position_ids": places[:, start:end],
            "attention_mask": None if padding is None else padding[:, :end],
        }  # fmt: skip
        step = _asked(library, NAME, **part, cache=cache, use_cache=True)
        cache = step.cache
        steps.append(step.logits)
    _assert_same(torch.cat(steps, dim=1)[words], known, tolerance)
    tiny(kind).double()


@torch.no_grad()
def test_maps_of_grouped_heads_are_the_librarys(tiny):
    library = tiny("llama").float()
    known = _asked(library, "eager", input_ids=_SOURCE, output_attentions=True)
    library.set_attn_implementation(NAME)
    sites = {layer.self_attn: [Site("decoder", n)] for n, layer in enumerate(library.model.layers)}
    recorder = Recorder()
    with watched(Tap(recorder), sites):
        library(input_ids=_SOURCE)
    maps = recorder.weights()
    assert len(maps) == len(known.attentions) == 3
    for site, weights in maps.items():
        assert weights.shape == (3, 6, 11, 11)
        _assert_same(weights, known.attentions[site.layer], 1e-5)
    library.double()


@pytest.fixture(scope="module")
def transliteration():
    """A Pegasus that others trained to write Arabic names in Latin letters, and its letters."""
    if not (root := os.environ.get(_VARIABLE)):
        pytest.skip(f"{_VARIABLE} names no folder with aren-transliteration in it")
    where = Path(root) / "aren-transliteration"
    letters = json.loads((where / "vocabularies.json").read_text("utf-8"))
    return (
        read_checkpoint(where).build(None).double(),
        letters["source"],
        letters["target"],
    )


def test_a_trained_pegasus_writes_names_and_says_at_once_what_it_says_in_steps(transliteration):
    own, read, written = transliteration
    names = {"آتزمون": "atzmon", "آتشيسون": "achison"}  # as CTranslate2's tests have them
    lengths = torch.tensor([len(name) for name in names])
    source = torch.full((len(names), int(lengths.max())), own.library.config.pad_token_id)
    for row, name in enumerate(names):
        source[row, : len(name)] = torch.tensor([read.index(letter) for letter in name])
    found = own.search(source, lengths, width=1, limit=17)
    spelled = ["".join(written[id - len(read)] for id in ids[:-1]) for ids in found]
    assert spelled == list(names.values())

    end = own.library.generation_config.eos_token_id
    target = torch.full((len(names), max(map(len, found))), end)
    for row, ids in enumerate(found):
        target[row, : len(ids)] = torch.tensor(ids)
    steps, step_maps = force(own, source, lengths, target, by_steps=True)
    once, maps = force(own, source, lengths, target)
    _assert_same(once, steps)
    for site, weights in maps.items():
        _assert_same(weights, step_maps[site])
    begin = torch.full_like(target[:, :1], own.begin)
    given = {"input_ids": source, "attention_mask": model.mask_of(source, lengths),
             "decoder_input_ids": torch.cat([begin, target[:, :-1]], dim=1)}  # fmt: skip
    for implementation in (NAME, "eager"):
        logits = _asked(own.library, implementation, **given).logits
        known = logits.log_softmax(-1).gather(2, target[..., None])[..., 0]
        _assert_same(once, known)
    own.library.set_attn_implementation(NAME)

"""Models of the library through our tap, held against the library with its own attention."""

from __future__ import annotations

import pytest
import torch

from attention_plugins import checkpoints
from attention_plugins.contract import ContractError
from attention_plugins.tap import Intervention, Site
from attention_plugins.translator import open_checkpoint

KINDS = {"encoder": "encoder_attentions", "decoder": "decoder_attentions",
         "cross": "cross_attentions"}  # fmt: skip
BEGIN = {"marian": "<pad>", "t5": "<pad>", "bart": "</s>"}


@pytest.fixture(scope="module", params=("marian", "t5", "bart"))
def family(request):
    return request.param


@pytest.fixture(scope="module")
def translator(folders, family):
    return open_checkpoint(checkpoints.read(folders / f"tiny-{family}"), None)


@pytest.fixture(scope="module")
def reference(folders, family):
    """The library's own model, with its own attention."""
    from transformers import AutoModelForSeq2SeqLM

    return AutoModelForSeq2SeqLM.from_pretrained(
        folders / f"tiny-{family}", attn_implementation="eager"
    ).eval()


@pytest.fixture(scope="module")
def said(translator):
    return translator.explain("the cats zog", target="le chat voit un chien")


def _ids(translator):
    pair = translator.pair("the cats zog", "le chat voit un chien")
    return pair.source, pair.target


def test_maps_are_those_of_the_library(translator, reference, said):
    source, target = _ids(translator)
    with torch.no_grad():
        known = reference(input_ids=source, labels=target, output_attentions=True, use_cache=False)
    wanted = {
        Site(kind, layer): weights[0]
        for kind, name in KINDS.items()
        for layer, weights in enumerate(getattr(known, name))
    }
    found = {one.site: one.weights for one in said.maps}
    assert found.keys() == wanted.keys()
    assert len(found) == 2 + 3 + 3
    for site, weights in wanted.items():
        torch.testing.assert_close(found[site], weights, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(found[site].sum(-1), torch.ones(weights.shape[:2]))


def test_forced_words_are_as_likely_as_the_librarys_logits_say(translator, reference, said):
    source, target = _ids(translator)
    with torch.no_grad():
        logits = reference(input_ids=source, labels=target, use_cache=False).logits
    wanted = logits.log_softmax(-1).gather(2, target[..., None])[0, :, 0]
    torch.testing.assert_close(torch.tensor(said.log_probabilities), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("width", [1, 3])
def test_it_finds_what_the_library_generates(translator, reference, width):
    sentences = ["where is the big horse", "a dog"]
    for sentence in sentences:
        source, _, _ = translator.pair(sentence, "le")
        wanted = reference.generate(
            source, num_beams=width, do_sample=False, max_new_tokens=translator.max_tokens,
            attention_mask=torch.ones_like(source), use_cache=False,
        )[0, 1:]  # fmt: skip
        assert translator.pair(sentence, width=width).target[0].tolist() == wanted.tolist()
    together = translator.translate(sentences, width=width)
    assert together == [translator.translate([one], width=width)[0] for one in sentences]


def test_rows_and_columns_are_named(translator, family, said):
    maps = {one.site.kind: one for one in said.maps}
    assert maps["cross"].query_labels == maps["decoder"].query_labels == said.tokens
    assert maps["cross"].key_labels == maps["encoder"].key_labels == said.source_tokens
    assert maps["decoder"].key_labels == (BEGIN[family], *said.tokens[:-1])
    assert said.tokens[-1] == said.source_tokens[-1] == "</s>"
    first = {"marian": "le", "t5": "le", "bart": "<s>"}
    assert said.tokens[0] == first[family]
    # T5 is told what to do; Marian and BART know pieces of words, T5's stand-in whole words.
    assert (said.source_tokens[0] == "translate") == (family == "t5")
    assert said.unknown == ("zog" if family == "t5" else "z",)
    assert ("·s" in said.source_tokens) == (family != "t5")
    assert said.text == "le chat voit un chien"


@pytest.mark.parametrize("kind", KINDS)
def test_a_head_that_is_switched_off_says_nothing(translator, reference, said, kind):
    """Against the library with the head's values cut out where they leave the site."""
    change = Intervention(site=Site(kind, 1), action="off", head=2)
    found = translator.explain("the cats zog", target=said.text, interventions=[change])
    (changed,) = [one for one in found.maps if one.site == change.site]
    assert not changed.weights[2].any()
    assert changed.weights[1].any()

    name, number = _output_of(reference, kind, 1, len(changed.weights))
    width = reference.get_submodule(name).in_features // number

    def cut(_, inputs):
        (values,) = inputs
        kept = values.clone()
        kept[..., 2 * width : 3 * width] = 0
        return (kept,)

    source, target = _ids(translator)
    handle = reference.get_submodule(name).register_forward_pre_hook(cut)
    try:
        with torch.no_grad():
            logits = reference(input_ids=source, labels=target, use_cache=False).logits
    finally:
        handle.remove()
    wanted = logits.log_softmax(-1).gather(2, target[..., None])[0, :, 0]
    torch.testing.assert_close(torch.tensor(found.log_probabilities), wanted, rtol=1e-4, atol=1e-4)
    assert found.log_probability != pytest.approx(said.log_probability, abs=1e-3)


def _output_of(model, kind, layer, heads):
    """The name of the projection behind a site's heads, and how many there are."""
    if model.config.model_type == "t5":
        side = "encoder" if kind == "encoder" else "decoder"
        site = "1.EncDecAttention" if kind == "cross" else "0.SelfAttention"
        return f"{side}.block.{layer}.layer.{site}.o", heads
    site = "encoder_attn" if kind == "cross" else "self_attn"
    side = "encoder" if kind == "encoder" else "decoder"
    return f"model.{side}.layers.{layer}.{site}.out_proj", heads


def test_a_pin_moves_no_row_that_came_before_its_key(translator):
    pin = Intervention(site=Site("decoder", 0), action="pin", key=2)
    found = translator.explain("a dog", target="le chat voit", interventions=[pin])
    weights = next(one.weights for one in found.maps if one.site == pin.site)
    assert (weights[:, 2:, 2] == 1).all()
    assert not weights[:, :2, 2:].any()


@pytest.mark.parametrize(
    ("sentence", "target", "width", "message"),
    [
        ("  ", "", 1, "need at least one word in the sentence"),
        ("dog " * 60, "", 1, "this model reads at most 17"),
        ("dog", "chat " * 60, 1, "the target has"),
        ("dog", "", 0, "need 1 <= beam"),
    ],
)
def test_what_cannot_be_read_is_refused(translator, sentence, target, width, message):
    with pytest.raises(ContractError, match=message):
        translator.explain(sentence, target=target, width=width)
    assert translator.reads("a dog")
    assert not translator.reads("dog " * 60)


def test_fresh_weights_are_others_in_the_same_architecture(folders, family, translator):
    fresh = checkpoints.read(folders / f"tiny-{family}").untrained(None)
    own, other = translator.model.state_dict(), fresh.state_dict()
    assert {n: w.shape for n, w in own.items()} == {n: w.shape for n, w in other.items()}
    assert any(not torch.equal(own[name], other[name]) for name in own)

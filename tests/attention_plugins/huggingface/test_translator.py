"""Models of the library through our tap, held against the library with its own attention."""

from __future__ import annotations

import json
import shutil
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file

from attention_plugins import checkpoints, registry
from attention_plugins.catalogue import catalogue
from attention_plugins.checkpoints import CheckpointError
from attention_plugins.commands import main
from attention_plugins.contract import ContractError
from attention_plugins.huggingface import folder as hub_folder
from attention_plugins.huggingface.translator import AdoptedTranslator, Pieces
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.tap import Intervention, Site, Tap
from dashboard.features.alignment import task as alignment
from dashboard.features.heads import task as heads
from dashboard.jobs import task_translator
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request

KINDS = {"encoder": "encoder_attentions", "decoder": "decoder_attentions",
         "cross": "cross_attentions"}  # fmt: skip
BEGIN = {"marian": "<pad>", "t5": "<pad>", "bart": "</s>"}


@pytest.fixture(scope="module", params=("marian", "t5", "bart"))
def family(request):
    return request.param


@pytest.fixture(scope="module")
def translator(folders, family):
    return open_checkpoint(read_checkpoint(folders / f"tiny-{family}"), None)


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
    source, _, _ = translator.pair("where is the big horse", "le")
    wanted = reference.generate(
        source, num_beams=width, do_sample=False, max_new_tokens=translator.max_tokens,
        attention_mask=torch.ones_like(source), use_cache=False,
    )[0, 1:]  # fmt: skip
    found = translator.pair("where is the big horse", width=width).target[0]
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("layer", [None, 0], ids=["as it is", "changed"])
def test_a_batch_says_what_its_sentences_say_alone(translator, layer):
    changes = [] if layer is None else [Intervention(site=Site("encoder", layer), action="off")]
    sentences = ["where is the big horse", "a dog"]
    alone = [translator.translate([one], interventions=changes)[0] for one in sentences]
    assert translator.translate(sentences, interventions=changes) == alone
    assert not changes or translator.translate(sentences) != alone


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


@torch.no_grad()
def test_the_search_obeys_the_changes(folders):
    """Each word but the first and the last, which are forced, is the likeliest there."""
    translator = open_checkpoint(read_checkpoint(folders / "tiny-bart"), None)
    usual = translator.pair("where is the big horse").target[0].tolist()
    changes = [Intervention(site=Site("cross", layer), action="off") for layer in range(3)]
    read, found = translator._read_pair("where is the big horse", "", 1, changes)
    tap = Tap(interventions=changes)
    state = translator.model.start(*translator._tensors([read]), tap)
    likeliest, token = [], torch.zeros(1, dtype=torch.long)
    for id in found.ids:
        scores, state = translator.model.step(state, token, tap)
        likeliest.append(int(scores.argmax()))
        token = torch.tensor([id])
    assert likeliest[1:-1] == found.ids[1:-1]
    assert found.ids != usual


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
    fresh = read_checkpoint(folders / f"tiny-{family}").untrained(None)
    own, other = translator.model.state_dict(), fresh.state_dict()
    assert {n: w.shape for n, w in own.items()} == {n: w.shape for n, w in other.items()}
    assert any(not torch.equal(own[name], other[name]) for name in own)
    again = read_checkpoint(folders / f"tiny-{family}").untrained(None)
    assert all(torch.equal(other[name], same) for name, same in again.state_dict().items())
    assert again.library.config._attn_implementation == "attention_workbench"
    assert not again.library.training


@pytest.fixture
def broken(folders, tmp_path):
    """A copy of a tiny model to break."""
    return shutil.copytree(folders / "tiny-bart", tmp_path / "tiny-bart")


@pytest.mark.parametrize("fault", ["missing", "shape", "nan", "rubbish"])
def test_weights_that_do_not_fit_are_refused(broken, fault):
    """The library itself would draw what is missing at random."""
    path = broken / "model.safetensors"
    weights = load_file(path)
    name = "model.encoder.layers.1.fc1.weight"
    if fault == "missing":
        del weights[name]
    elif fault == "shape":
        weights[name] = weights[name][:-1].clone()
    else:
        weights[name] = weights[name] * float("nan")
    save_file(weights, path, metadata={"format": "pt"})
    if fault == "rubbish":
        path.write_bytes(b"rubbish")
    said = r"cannot be loaded: \w+: .*\w" if fault == "rubbish" else "fc1"
    with pytest.raises(CheckpointError, match=said):
        read_checkpoint(broken).build(None)


def test_a_model_of_many_languages_needs_the_one_to_write_in(broken, monkeypatch):
    config = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps({**config, "model_type": "m2m_100"}))
    translator = object.__new__(AdoptedTranslator)
    (broken / "adopted.json").write_text('{"source": "yy", "target": "xx"}')
    with pytest.raises(ContractError, match="need the one to write in, got 'xx'"):
        translator._read_vocabularies(read_checkpoint(broken), None)
    (broken / "adopted.json").write_text('{"source": "yy", "target": "</s>"}')
    translator._read_vocabularies(read_checkpoint(broken), None)
    assert translator._first == 1
    known, asked = {"<unk>": 0, "__fr__": 7, "fr_XX": 8}, []
    reader = SimpleNamespace(
        unk_token_id=0, all_special_ids=[0], get_vocab=lambda: known,
        convert_tokens_to_ids=lambda name: known.get(name, 0),
    )  # fmt: skip
    monkeypatch.setattr(hub_folder, "tokenizer", lambda *given: asked.append(given) or reader)
    for kind, code, first in (("m2m_100", "fr", 7), ("mbart", "fr_XX", 8), ("bart", "", None)):
        (broken / "config.json").write_text(json.dumps({**config, "model_type": kind}))
        (broken / "adopted.json").write_text(json.dumps({"source": "en", "target": code}))
        translator._read_vocabularies(read_checkpoint(broken), None)
        assert translator._first == first
    assert asked == [(broken, "en", "fr"), (broken, "en", "fr_XX"), (broken,)]
    reader.separate_vocabs = True
    with pytest.raises(ContractError, match="need one vocabulary of both languages, got two"):
        translator._read_vocabularies(read_checkpoint(broken), None)
    translator._first, translator.model = 5, SimpleNamespace(begin=5)
    with pytest.raises(ContractError, match="this mBART begins from its language"):
        translator._read_begin()


@pytest.mark.parametrize(
    ("space", "shown"), [("▁", ["a", "·b", "▁", "<3>"]), ("Ġ", ["(a)", "·(b)", "▁", "<3>"]),
                         ("", ["a", "b", "", "<3>"])],
)  # fmt: skip
def test_pieces_are_shown_with_what_goes_on_with_a_word_marked(space, shown):
    pieces = [f"{space}a", "b", space, None, "</s>", "__fr__", "<unk>"]
    read = Pieces(SimpleNamespace(
        # SentencePiece may know the other mark as a letter.
        get_vocab=lambda: {piece: 0 for piece in [*pieces, "Ġ" * (space == "▁")] if piece},
        all_special_ids=[4, 6], lang_token_to_id={"fr": 5}, unk_token_id=6,
        convert_ids_to_tokens=lambda ids: [pieces[id] for id in ids],
        convert_tokens_to_string=lambda given: f"({given[0]})",
        decode=lambda ids, clean_up_tokenization_spaces: f" {ids}",
    ))  # fmt: skip
    assert read.words([0, 1, 2, 3, 4, 5, 6]) == [*shown, "</s>", "__fr__", "<unk>"]
    assert read.raw_text([5, 0, 6, 1, 4]) == " [0, 6, 1]"
    assert read.text([5, 0, 6, 1, 4]) == "[0, 6, 1]"


def test_adopt_tries_the_model_and_says_its_name(broken, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    order = ["adopt", str(broken), "--name", "Mine", "--corpus", "few", "--json"]
    assert main(order) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["checkpoint"], facts["family"]) == ("mine", "BART")
    assert "mine" in {spec.name for spec in checkpoints.attention_checkpoints()}
    (broken / "model.safetensors").write_bytes(b"rubbish")
    assert main([*order, "--overwrite"]) == 2
    assert "cannot be loaded" in capsys.readouterr().err
    assert main(["translate", "--checkpoint", str(tmp_path / "checkpoints/Mine"), "a dog"]) == 0


class Watch:
    """A context that listens to nothing."""

    def report(self, *_, **__):
        pass

    def stopped(self):
        return False


@pytest.fixture
def offered(folders, monkeypatch):
    """A registry with the tiny models beside the shipped ones."""
    monkeypatch.setenv("ATTENTION_CHECKPOINTS", str(folders))
    found = registry.load(allow=[])
    for task in (task_translator, heads, alignment):
        monkeypatch.setattr(task, "installed", lambda: found)
    task_translator.translator_of.cache_clear()
    yield found
    task_translator.translator_of.cache_clear()


def test_it_is_offered_beside_ours_and_a_panel_gets_all_its_maps(offered):
    listed = {one["name"]: one for one in catalogue(offered)["checkpoints"]}
    assert any(not (one["card"] or {}).get("adopted") for one in listed.values())
    assert listed["tiny_t5"]["card"]["title"] == "someone/tiny-t5"
    assert listed["tiny_marian"]["fault"] == ""
    options = {"text": "the cats", "changes": "off:encoder.2.1"}
    result = perform(
        Request.make("translation", data="tiny_t5", device="cpu", options=options), Watch()
    )
    facts, rows = result.facts, result.tables["maps"].to_pylist()
    assert (facts["model"], facts["scoring"]) == ("huggingface_t5", "dot")
    assert facts["plugin"]["distribution"] == "transformers"
    assert [(row["kind"], row["layer"], row["heads"]) for row in rows] == (
        [("encoder", layer, 5) for layer in range(2)]
        + [(kind, layer, 5) for layer in range(3) for kind in ("decoder", "cross")]
    )
    assert facts["source_tokens"] == ["translate", "the", "cats", "</s>"]
    assert rows[2]["keys"][0] == "<pad>"
    size = len(facts["source_tokens"]) ** 2
    assert not any(rows[1]["weights"][:size])
    assert any(rows[1]["weights"][size:])
    assert facts["unchanged"]["log_probability"] != pytest.approx(facts["log_probability"])


def test_every_head_is_weighed_like_those_of_our_own(offered):
    options = {"text": "the cats", "target": "les chats"}
    result = perform(
        Request.make("heads", data="tiny_bart", device="cpu", options=options), Watch()
    )
    rows = result.tables["heads"].to_pylist()
    assert len(rows) == 2 * 5 + 3 * 3 + 3 * 3
    assert max(row["row_error"] for row in rows) < 1e-5
    assert {row["padding"] for row in rows if row["kind"] != "decoder"} == {0.0}
    assert len({row["leave_one_out"] for row in rows}) > 20
    assert result.facts["plugins"]["model"]["distribution"] == "transformers"


def test_words_of_gold_alignments_are_not_its_pieces(offered):
    options = {"corpus": "own", "source": "go .", "target": "va .", "links": "0-0 1-1"}
    request = Request.make("alignment", data="tiny_bart", device="cpu", options=options)
    with pytest.raises(ContractError, match="count the tokens of 'clitics'; this model reads"):
        perform(request, Watch())

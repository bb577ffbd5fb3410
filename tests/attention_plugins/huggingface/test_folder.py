"""Folders of the Hub among our checkpoints: what their cards say, what is refused and why."""

from __future__ import annotations

import importlib.util
import json
from types import SimpleNamespace

import pytest
import torch
from support.hostile import KINDS, UNIX, at_once, lay

from attention_plugins.checkpoints import CheckpointError, find
from attention_plugins.huggingface import folder as folders
from attention_plugins.huggingface.families import family_of
from attention_plugins.huggingface.folder import positions_of
from attention_plugins.opening import read_checkpoint

T5 = {"model_type": "t5", "is_encoder_decoder": True, "vocab_size": 97, "n_positions": 17,
      "task_specific_params": {"translation_en_to_fr": {"prefix": "translate: "}}}  # fmt: skip
MARIAN = {"model_type": "marian", "is_encoder_decoder": True, "vocab_size": 41,
          "decoder_vocab_size": 43, "max_position_embeddings": 512}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """Makes a folder with this configuration and what is noted beside it."""

    def make(config, note=None, name="Opus.MT", weights="model.safetensors"):
        (made := tmp_path / name).mkdir()
        (made / "config.json").write_text(json.dumps(config))
        (made / weights).write_bytes(b"")
        if note:
            (made / "adopted.json").write_text(json.dumps(note))
        return made

    return make


def test_a_folder_is_a_checkpoint_with_a_card(folder, tmp_path):
    folder(MARIAN)
    (spec,) = find([tmp_path])
    assert spec.name == "opus_mt"
    card = read_checkpoint(spec.path).summary
    assert (card["model"], card["scoring"], card["title"]) == (
        "huggingface_marian", "scaled_dot", "Opus.MT",
    )  # fmt: skip
    assert (card["source_words"], card["target_words"]) == (41, 43)
    assert card["max_tokens"] == 128
    assert card["corpus"]["name"] == "elsewhere"
    assert "sides" not in card["corpus"]
    one = read_checkpoint(folder(MARIAN, {"source": "en"}, name="one"))
    assert "sides" not in one.card["corpus"]
    assert card["adopted"] == {
        "family": "Marian", "addition": "", "repository": "", "revision": "",
    }  # fmt: skip


def test_what_is_noted_of_a_model_is_on_its_card(folder):
    note = {"repository": "someone/t5", "revision": "ab" * 20, "corpus": "few",
            "source": "en", "target": "fr"}  # fmt: skip
    found = read_checkpoint(folder(T5, note))
    assert (found.card["title"], found.card["corpus"]["name"]) == ("someone/t5", "few")
    assert found.card["adopted"]["revision"] == "ab" * 20
    assert found.card["scoring"] == "dot"
    assert "bias" in found.card["adopted"]["addition"]
    assert found.card["max_tokens"] == 17
    assert found.card["corpus"]["sides"] == ["en", "fr"]
    assert found.prefix == "translate: "


def test_a_prefix_that_is_given_comes_first_and_none_is_made_up(folder):
    note = {"prefix": "say: ", "source": "en", "target": "fr"}
    assert read_checkpoint(folder(T5, note)).prefix == "say: "
    assert read_checkpoint(folder(T5, name="other")).prefix == ""


def test_a_card_of_our_own_comes_before_a_configuration(folder):
    made = folder(MARIAN)
    (made / "card.json").write_text("{}")
    with pytest.raises(CheckpointError, match="need format"):
        read_checkpoint(made)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({**T5, "is_encoder_decoder": False}, "'t5' model of the architecture ''; need one that"),
        ({"model_type": "bloom"}, "'bloom' model, whose code attends by itself"),
        ({"model_type": "vit"}, "'vit' model, which reads pictures, and pages have texts"),
        ({"model_type": "new", "architectures": "NewForCausalLM"}, "of the architecture ''"),
        ([1], "holds a list; need an object"),
    ],
)
def test_what_reads_no_texts_by_way_of_the_interface_is_refused(folder, config, message):
    with pytest.raises(CheckpointError, match=message):
        read_checkpoint(folder(config))


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (T5, "encoder-decoder"),
        ({"model_type": "gpt2"}, "decoder"),
        ({"model_type": "bert", "architectures": ["BertForMaskedLM"]}, "encoder"),
        ({"model_type": "bert", "architectures": ["BertLMHeadModel"]}, "decoder"),
        ({"model_type": "bert", "architectures": ["BertForCausalLMAndMore"]}, "encoder"),
        (
            {"model_type": "bert", "architectures": ["BertLMHeadModel", "BertForMaskedLM"]},
            "decoder",
        ),
        ({"model_type": "bert", "architectures": ["BertForTokenClassification"]}, "encoder"),
        ({"model_type": "new", "architectures": ["NewForCausalLM"]}, "decoder"),
        ({"model_type": "led", "is_encoder_decoder": True}, "encoder-decoder"),
    ],
)
def test_a_page_is_told_what_a_model_does_with_a_text(folder, config, kind):
    found = read_checkpoint(folder(config))
    assert found.kind == found.summary["kind"] == family_of(config).kind == kind
    assert found.card["adopted"]["family"]


@pytest.mark.parametrize("told", [{"rope_theta": 1e4}, {"rope_parameters": {"rope_theta": 1e4}}])
def test_rotated_positions_and_missing_tokenizers_are_on_the_card(folder, told):
    found = read_checkpoint(
        folder({"model_type": "new", "architectures": ["NewForCausalLM"], **told})
    )
    assert "rotated" in found.card["adopted"]["addition"]
    assert found.card["tokeniser"] == "numbers"
    for name in (
        "tokenizer.json", "vocab.json", "vocab.txt", "source.spm", "spiece.model",
        "sentencepiece.bpe.model", "sentencepiece.model", "tokenizer.model",
        "tokenizer_config.json",
    ):  # fmt: skip
        (found.folder / name).write_text("{}")
        assert read_checkpoint(found.folder).card["tokeniser"] == "its_own", name
        (found.folder / name).unlink()


@pytest.mark.parametrize(
    ("head", "loader"),
    [("BertForMaskedLM", "AutoModelForMaskedLM"), ("BertForPreTraining", "AutoModelForMaskedLM"),
     ("BertForTokenClassification", "AutoModel"), ("BertLMHeadModel", "AutoModelForCausalLM")],
)  # fmt: skip
def test_a_head_is_loaded_where_it_guesses_words(folder, head, loader):
    found = read_checkpoint(folder({"model_type": "bert", "architectures": [head]}))
    assert found._loader == loader


def test_a_tokenizer_is_told_its_languages_and_runs_no_code_of_the_folder(folder, monkeypatch):
    asked = []
    auto = SimpleNamespace(from_pretrained=lambda where, **told: asked.append((where, told)))
    monkeypatch.setattr(folders, "library", lambda: SimpleNamespace(AutoTokenizer=auto))
    (made := folder(MARIAN)).joinpath("vocab.json").write_text("{}")
    folders.tokenizer(made, "en", "fr")
    folders.tokenizer(made, "", "fr")
    here = {"local_files_only": True, "trust_remote_code": False}
    assert asked == [
        (made, {"src_lang": "en", "tgt_lang": "fr", **here}), (made, {"tgt_lang": "fr", **here}),
    ]  # fmt: skip

    def fail(*_, **__):
        raise ValueError("first\nsecond")

    auto.from_pretrained = fail
    with pytest.raises(CheckpointError, match=r"the tokenizer .* be loaded: ValueError: first$"):
        folders.tokenizer(made)


def test_weights_are_safetensors_in_single_precision_with_our_attention(folder, monkeypatch):
    asked, model = [], torch.nn.Linear(1, 1)
    reports = [{"missing_keys": ["bert.pooler.dense.weight"], "mismatched_keys": []}]

    def load(where, **told):
        asked.append((where, told))
        if isinstance(reports[-1], Exception):
            raise reports[-1]
        return model, reports[-1]

    auto = SimpleNamespace(from_pretrained=load)
    monkeypatch.setattr(folders, "library", lambda: SimpleNamespace(AutoModel=auto))
    made = folder(MARIAN)
    assert not folders.load(made, "AutoModel", MARIAN).training
    assert asked == [(made, {
        "attn_implementation": "attention_workbench", "dtype": torch.float32,
        "use_safetensors": True, "output_loading_info": True, "ignore_mismatched_sizes": True,
        "local_files_only": True, "trust_remote_code": False,
    })]  # fmt: skip
    for wrong, said in (
        ({"missing_keys": ["b", "a", "c.pooler.x"], "mismatched_keys": []}, "the weights lack a$"),
        ({"missing_keys": [], "mismatched_keys": ["b", "a"]}, "have another shape of a$"),
        (KeyError("attention_workbench"), "'marian' model, whose code attends by itself"),
        (KeyError("other"), "cannot be loaded: KeyError: 'other'$"),
        (OSError("no attention_workbench"), "cannot be loaded: OSError: no attention_workbench$"),
    ):
        reports.append(wrong)
        with pytest.raises(CheckpointError, match=said):
            folders.load(made, "AutoModel", MARIAN)


def test_pickled_weights_are_not_read(folder):
    with pytest.raises(CheckpointError, match=r"no model\.safetensors .* runs code"):
        read_checkpoint(folder(MARIAN, weights="pytorch_model.bin"))


def test_a_missing_library_is_named_with_its_cure(folder, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CheckpointError, match=r"attention-workbench\[transformers\]"):
        read_checkpoint(folder(MARIAN))


@UNIX
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_of_a_folder_is_not_waited_for(folder, kind):
    made = folder(MARIAN)
    lay(made / "adopted.json", kind)
    if kind == "gigabytes":
        with pytest.raises(CheckpointError, match="larger than"):
            at_once(read_checkpoint, made)
    else:
        assert at_once(read_checkpoint, made).card["title"] == made.name
    lay(made / "config.json", kind)
    with pytest.raises(CheckpointError, match=r"(no card\.json in|larger than)"):
        at_once(read_checkpoint, made)


@pytest.mark.parametrize(
    ("changes", "tokens"),
    [({"max_position_embeddings": "many"}, 128), ({"max_position_embeddings": [1]}, 128),
     ({"max_position_embeddings": -3}, 128), ({"max_position_embeddings": 10**30}, 128),
     ({"max_position_embeddings": 31}, 31),
     ({"max_position_embeddings": 31, "n_positions": 17}, 31),
     ({"max_position_embeddings": 0, "n_positions": 17}, 17),
     ({"model_type": "roberta", "architectures": ["RobertaForMaskedLM"],
       "is_encoder_decoder": False, "max_position_embeddings": 31, "pad_token_id": 1}, 29)],
)  # fmt: skip
def test_a_configuration_of_other_types_costs_no_other(folder, changes, tokens):
    assert read_checkpoint(folder({**MARIAN, **changes})).card["max_tokens"] == tokens


def test_texts_of_which_few_maps_are_kept_have_more_tokens():
    assert positions_of({"model_type": "gpt2", "n_positions": 4096}) == 1024
    for name in ("camembert", "esm", "mpnet", "roberta", "xlm-roberta"):
        offset = {"model_type": name, "max_position_embeddings": 4096, "pad_token_id": 1}
        assert positions_of(offset) == 1022
        assert positions_of({**offset, "pad_token_id": 0}) == 1023
        assert positions_of({**offset, "pad_token_id": None}) == 1024
    assert positions_of({**offset, "model_type": "bert"}) == 1024
    assert positions_of({**offset, "max_position_embeddings": 2}) == 1


@pytest.mark.parametrize("kind", [["marian"], {"a": 1}, 7, None])
def test_an_architecture_that_is_no_name_is_refused(folder, kind):
    with pytest.raises(CheckpointError, match="need the name of a family"):
        read_checkpoint(folder({**MARIAN, "model_type": kind}))

"""Adopted decoders and encoders as translators, and in the tasks of the pages."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file
from support.tiny_families import BEGIN, DECODERS, note, save, with_words

from attention_plugins import registry
from attention_plugins.checkpoints import CheckpointError
from attention_plugins.commands import main
from attention_plugins.contract import ContractError
from attention_plugins.decoding import force
from attention_plugins.huggingface import texts
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.tap import Intervention, Site
from dashboard.features.heads import task as heads
from dashboard.jobs import task_translator
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request

WORDS = ("the", "cat", "sees", "a", "dog", "horse", "not", "here")
TEXT = "the cat sees a dog"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Tiny models as folders: a decoder of numbers, another one, encoders of words."""
    made = tmp_path_factory.mktemp("hub")
    save("llama", made / "decoder")
    save("gpt2", note_of(made, "other_decoder"))
    with_words(save("bert", made / "encoder"), WORDS)
    with_words(save("albert", made / "other_encoder"), WORDS)
    with_words(save("bert", made / "no_head"), WORDS)
    with_words(save("bert", made / "pieces"), ["ca", "##t", *WORDS[:1], *WORDS[2:]], pieces=True)
    config = json.loads((made / "no_head" / "config.json").read_text())
    (made / "no_head" / "config.json").write_text(
        json.dumps({**config, "architectures": ["BertForSequenceClassification"]})
    )
    return made


def note_of(made, name):
    (made / name).mkdir()
    return note(made / name, repository="someone/other")


@pytest.fixture(scope="module")
def opened(root):
    made = {}

    def open_it(name):
        if name not in made:
            made[name] = open_checkpoint(read_checkpoint(root / name), None)
        return made[name]

    return open_it


def test_a_decoder_goes_on_with_a_prompt_and_its_maps_are_of_both(opened):
    translator = opened("decoder")
    said = translator.explain("5 9 17")
    assert len(said.tokens) == 32  # no end came before
    assert said.source_tokens == ("5", "9", "17")
    assert [one.site for one in said.maps] == [Site("decoder", layer) for layer in range(3)]
    both = (*said.source_tokens, *said.tokens[:-1])
    for one in said.maps:
        assert one.query_labels == one.key_labels == both
        assert not one.weights.triu(1).any()
    again = translator.explain("5 9 17", target=said.text)
    assert again.tokens == said.tokens
    assert again.log_probability == pytest.approx(said.log_probability, abs=1e-3)
    assert translator.translate(["5 9 17", "7"])[0].split() == said.text.split()


def test_an_empty_prompt_is_the_token_that_the_model_begins_from(opened, root, tmp_path):
    assert opened("decoder").explain("").source_tokens == (str(BEGIN),)
    config = json.loads((root / "decoder" / "config.json").read_text())
    for name in ("config.json", "generation_config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((root / "decoder" / name).read_bytes())
    (tmp_path / "config.json").write_text(json.dumps({**config, "bos_token_id": None}))
    with pytest.raises(ContractError, match="no token to begin a text from"):
        open_checkpoint(read_checkpoint(tmp_path), None).explain(" ")


@pytest.mark.parametrize(
    ("prompt", "target", "text"),
    [
        ("Once upon a", "time", " time"),
        ("Once upon a", " time", " time"),
        ("Once upon a ", "time", "time"),
        ("Once upon a trans", "·lation", "lation"),
        ("Once", ", there", ", there"),
        ("The end.", "Once", " Once"),
        ("(", "once", "once"),
        ("你好", "世界", "世界"),
        ("Hello", "世界", "世界"),
        ("你好", "world", "world"),
        ("", "Once", "Once"),
    ],
)
def test_a_word_that_follows_a_prompt_is_a_word_of_its_own(prompt, target, text):
    assert texts.joined(prompt, target) == text


@pytest.mark.parametrize("opening", "([{“‘«\"'-/–—_@#$")
def test_behind_what_opens_a_word_stands_at_once(opening):
    assert texts.joined(f"so {opening}", "once") == "once"


def test_what_goes_on_with_a_word_is_written_as_it_would_be_read():
    pieces = ["trans", "lation", " time"]
    reader = object.__new__(texts.AdoptedDecoder)
    reader._pieces = SimpleNamespace(raw_text=lambda ids: "".join(pieces[id] for id in ids))
    said = [reader._text(texts.Continuation([], [id], [0])) for id in (1, 2)]
    assert said == ["·lation", " time"]
    assert [texts.joined("trans", text) for text in said] == pieces[1:]


@pytest.mark.parametrize(
    ("own", "told", "first", "begin"),
    [(None, 2, 2, "<2>"), (3, 2, 3, "<3>"), (None, None, None, "")],
)
def test_a_text_begins_as_the_tokenizer_or_else_the_model_says(own, told, first, begin):
    reader = object.__new__(texts.AdoptedDecoder)
    reader._tokenizer = SimpleNamespace(bos_token_id=own)
    config = SimpleNamespace(bos_token_id=told)
    reader.model = SimpleNamespace(library=SimpleNamespace(config=config))
    reader._pieces = SimpleNamespace(words=lambda ids: [f"<{id}>" for id in ids])
    reader._read_begin()
    assert (reader._first, reader.begin) == (first, begin)


class ByWords:
    """Reads each word as its length, and 10 more with a space before it."""

    def __init__(self, before=(), after=(), grow=""):
        self.before, self.after, self.grow = [*before], [*after], grow

    def __call__(self, text, add_special_tokens=True):
        found = [len(word.strip()) + 10 * word.startswith(" ") for word in
                 re.findall(r"\n|\s?[^\s]+", text)]  # fmt: skip
        if self.grow and text.startswith(self.grow) and text != self.grow:
            found[0] += 50  # the first token grows by what follows
        special = (self.before, self.after) if add_special_tokens else ([], [])
        return {"input_ids": [*special[0], *found, *special[1]]}


@pytest.mark.parametrize(
    "tokenizer",
    [ByWords(), ByWords([90]), ByWords([], [1]), ByWords([90], [1]), ByWords(grow="abc")],
    ids=["plain", "begun", "ended", "both", "grown"],
)
def test_a_continuation_is_what_the_prompt_and_it_have_beyond_the_prompt(tokenizer):
    reader = object.__new__(texts.AdoptedDecoder)
    reader._tokenizer, reader.ends, reader._first = tokenizer, {1}, 90
    known = tokenizer("abc")["input_ids"]
    assert reader._continued("abc", "word again", known) == [14, 15]
    # Nothing but a beginning that the tokenizer does not write: a text's first word is another.
    reader._tokenizer = ByWords(grow="word")
    assert reader._continued("", "word again", [90]) == [54, 15]


def test_maps_of_pairs_are_trimmed_to_their_own_tokens(opened):
    translator = opened("decoder")
    pairs = [("5 9 17 8", "3 4"), ("5", "7 8 9 10")]
    for found, (prompt, target) in zip(translator.look(pairs), pairs, strict=True):
        known = translator.explain(prompt, target=target).maps
        for one in known:
            torch.testing.assert_close(found[one.site], one.weights, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("prompt", "target", "message"),
    [
        ("5 x", "", r"need some from 0 to 40 with spaces between them, got 'x'"),
        ("41", "", r"from 0 to 40"),
        ("7 " * 65, "", "the prompt has 65 tokens; this model reads at most 64"),
        ("7 " * 60, "8 " * 9, "the prompt with its continuation has 68 tokens; .* at most 64"),
        ("7 " * 100_000, "", "the prompt has 100000 tokens; this model reads at most 64"),
    ],
)
def test_what_a_decoder_cannot_read_is_said_in_a_sentence(opened, prompt, target, message):
    with pytest.raises(ContractError, match=message):
        opened("decoder").explain(prompt, target=target)


def test_a_decoder_reads_and_writes_up_to_its_last_position(opened):
    said = opened("decoder").explain("7 " * 60, target="8 " * 5)
    assert {one.weights.shape[-1] for one in said.maps} == {64}
    assert len(opened("decoder").explain("7 " * 64).tokens) == 1
    with pytest.raises(ContractError, match="beam"):
        opened("decoder").explain("7 9", width=0)


def test_a_long_text_needs_chosen_sites(tmp_path, monkeypatch):
    monkeypatch.setitem(DECODERS["llama"], "max_position_embeddings", 600)
    translator = open_checkpoint(read_checkpoint(save("llama", tmp_path)), None)
    text = "7 8 9 " * 50
    with pytest.raises(ContractError, match="has 150 tokens; this model reads at most 128"):
        translator.explain(text, target="7")
    with pytest.raises(ContractError, match="has 150 tokens; this model reads at most 128"):
        translator.pair(text, "7")
    said = translator.explain(text, target="7", sites=[Site("decoder", 1)])
    assert [(one.site.layer, tuple(one.weights.shape)) for one in said.maps] == [
        (1, (6, 150, 150))
    ]
    with pytest.raises(ContractError, match="at most 600"):
        translator.explain("7 " * 601, target="7", sites=[])


def test_an_encoder_reads_one_text_and_guesses_its_words(opened):
    translator = opened("encoder")
    said = translator.explain(TEXT)
    assert said.tokens == tuple(TEXT.split())
    assert said.source_tokens == ("[CLS]", *said.tokens, "[SEP]")
    assert [one.site for one in said.maps] == [Site("encoder", layer) for layer in range(3)]
    assert said.maps[0].query_labels == said.maps[0].key_labels == said.source_tokens
    assert all(score < 0 for score in said.log_probabilities)
    assert translator.explain(TEXT, target=TEXT).log_probabilities == said.log_probabilities
    with pytest.raises(ContractError, match="need the same text as its target"):
        translator.explain(TEXT, target="a horse")
    with pytest.raises(ContractError, match="need at least one word"):
        translator.explain(" ")


def test_an_encoder_that_guesses_nothing_has_maps_alone(opened):
    said = opened("no_head").explain(TEXT)
    assert (len(said.maps), said.tokens, said.log_probabilities) == (3, (), ())
    assert said.text == TEXT
    with pytest.raises(ContractError, match="no head that guesses masked words"):
        opened("no_head").pair(TEXT)


class Watch:
    """A context that listens to nothing."""

    def report(self, *_, **__):
        pass

    def stopped(self):
        return False


@pytest.fixture
def asked(root, monkeypatch):
    """Performs a page's task on the tiny models."""
    monkeypatch.setenv("ATTENTION_CHECKPOINTS", str(root))
    found = registry.load(allow=[])
    for task in (task_translator, heads):
        monkeypatch.setattr(task, "installed", lambda: found)
    task_translator.translator_of.cache_clear()

    def do(task, name, **options):
        request = Request.make(task, data=name, device="cpu", options=options)
        return perform(request, Watch())

    yield do
    task_translator.translator_of.cache_clear()


@pytest.mark.parametrize(
    ("name", "text", "target"),
    [("decoder", "5 9 17", "8 11"), ("other_decoder", "5 9", ""), ("encoder", TEXT, "")],
)
def test_every_head_is_weighed_like_those_of_our_own(asked, opened, name, text, target):
    found = asked("heads", name, text=text, target=target)
    rows = found.tables["heads"].to_pylist()
    translator = opened(name)
    sites = force(translator.model, *(pair := translator.pair(text, target)))[1]
    assert len(rows) == sum(weights.shape[1] for weights in sites.values())
    assert found.facts["tokens"] == translator.target_vocabulary.words(pair.target[0].tolist())
    assert max(row["row_error"] for row in rows) < 1e-5
    assert {row["padding"] for row in rows if row["kind"] == "encoder"} <= {0.0}
    effect = rows[7]["leave_one_out"]
    off = Intervention(site=Site(rows[7]["kind"], rows[7]["layer"]), action="off",
                       head=rows[7]["head"])  # fmt: skip
    usual, changed = (float(force(translator.model, *pair, interventions=changes)[0].sum())
                      for changes in ((), (off,)))  # fmt: skip
    assert effect == pytest.approx(changed - usual, abs=1e-2)
    assert (found.facts["needed"] is None) is (bool(target) or name == "encoder")
    assert found.facts["plugins"]["model"]["distribution"] == "transformers"


def test_what_needs_likelihoods_says_that_a_model_has_none(asked):
    with pytest.raises(ContractError, match="no head that guesses masked words"):
        asked("heads", "no_head", text=TEXT)
    assert asked("translation", "no_head", text=TEXT).tables["maps"].num_rows == 3


@pytest.mark.parametrize(
    ("one", "other", "kind", "text", "target"),
    [("decoder", "other_decoder", "decoder", "5 9 17", "8 11"),
     ("encoder", "other_encoder", "encoder", TEXT, ""),
     ("encoder", "no_head", "encoder", TEXT, "")],
)  # fmt: skip
def test_two_models_are_compared_on_one_text(asked, opened, one, other, kind, text, target):
    found = asked("differences", one, other=other, text=text, target=target, kind=kind,
                  map="2.3", other_map="1.2")  # fmt: skip
    maps = [opened(name).explain(text, target=target).maps for name in (one, other)]
    away = maps[0][1].weights[2] - maps[1][0].weights[1]
    cells = found.tables["differences"].to_pylist()
    assert len(cells) == away.numel()
    for cell in cells:
        if cell["difference"] is not None:
            wanted = float(away[cell["query"], cell["key"]])
            assert cell["difference"] == pytest.approx(wanted, abs=1e-5)
    assert found.facts["one"]["card"]["kind"] == kind


def test_models_of_other_tokens_are_compared_by_words(asked, opened):
    options = {"other": "pieces", "text": TEXT, "kind": "encoder", "map": "2.3",
               "other_map": "1.2"}  # fmt: skip
    with pytest.raises(ContractError, match="split the text in different ways"):
        asked("differences", "encoder", **options)
    cells = asked("differences", "encoder", **options, words="yes").tables["differences"]
    labels = ("…", *TEXT.split())
    assert cells["key_label"].to_pylist()[:6] == list(labels)
    pieces = opened("pieces").explain(TEXT).maps[0]
    assert pieces.key_labels == ("[CLS]", "the", "ca", "##t", "sees", "a", "dog", "[SEP]")
    column = pieces.weights[1].double()[:, [2, 3]].sum(-1)
    wanted = [column[[0, 7]].mean(), column[1], column[[2, 3]].mean(), *column[4:7]]
    found = [cell["weight_other"] for cell in cells.to_pylist() if cell["key"] == 2]
    assert found == pytest.approx([float(one) for one in wanted], abs=1e-6)


def test_a_panel_shows_a_continuation_with_changes(asked):
    options = {
        "text": "5 9 17",
        "target": "8 11",
        "changes": "off:decoder.2.1 pin:decoder.1.2:3>1",
    }
    found = asked("translation", "decoder", **options)
    rows = found.tables["maps"].to_pylist()
    assert [(row["kind"], row["layer"], row["heads"]) for row in rows] == [
        ("decoder", layer, 6) for layer in range(3)
    ]
    assert rows[0]["keys"] == rows[0]["queries"] == ["5", "9", "17", "8"]
    pinned = torch.tensor(rows[0]["weights"]).view(6, 4, 4)
    assert pinned[1, 3].tolist() == [0, 1, 0, 0]
    assert found.facts["unchanged"]["log_probability"] != found.facts["log_probability"]
    with pytest.raises(ContractError, match="need 0 <= key < 2, got 3"):
        asked("translation", "decoder", **{**options, "changes": "pin:decoder.1.1:1>3"})


@pytest.mark.parametrize("name", ["decoder", "encoder", "no_head"])
def test_adopt_tries_what_it_brings_home(root, name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    assert main(["adopt", str(root / name), "--name", "Mine", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["kind"] == ("decoder" if name == "decoder" else "encoder")
    assert facts["family"] in {"Llama", "BERT"}


def test_adopt_says_what_it_does_and_where_the_model_is_seen(root, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    assert main(["adopt", str(root / "decoder")]) == 0
    said, noted = capsys.readouterr()
    assert noted.startswith(f"trying {root / 'decoder'}, which may take minutes if it is large\n")
    last = json.loads((root / "decoder" / "config.json").read_text("utf-8"))["vocab_size"] - 1
    assert said.splitlines() == [
        f"decoder: Llama, in {tmp_path / 'checkpoints' / 'decoder'}",
        f"It came without a tokenizer: its tokens are numbers, 0 to {last}.",
        "See it: /language_models?a=decoder, below the address of the dashboard",
        "A dashboard that runs already finds it when you press Reload plugins there.",
    ]


def test_a_truncated_file_and_pickles_leave_nothing(root, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path / "home"))
    (broken := tmp_path / "broken").mkdir()
    for name in ("config.json", "model.safetensors"):
        (broken / name).write_bytes((root / "decoder" / name).read_bytes())
    weights = (broken / "model.safetensors").read_bytes()
    (broken / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    assert main(["adopt", str(broken)]) == 2
    assert "cannot be loaded" in capsys.readouterr().err
    (broken / "model.safetensors").rename(broken / "pytorch_model.bin")
    assert main(["adopt", str(broken)]) == 2
    assert "pickled weights are not read" in capsys.readouterr().err
    assert not (tmp_path / "home" / "checkpoints").exists()


def test_missing_weights_of_a_pooler_alone_are_no_fault(root, tmp_path):
    for path in (root / "no_head").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    assert not any("pooler" in name for name in weights)
    del weights["bert.encoder.layer.1.attention.self.query.weight"]
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match=r"the weights lack .*\.self\.query"):
        read_checkpoint(tmp_path).build(None)

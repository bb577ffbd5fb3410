"""The built-in tokenisers, and what a checkpoint keeps of them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_plugins import experiment
from attention_plugins.checking import check
from attention_plugins.contract import ContractError, SentencePair, TokeniserSpec
from attention_plugins.recipe import Recipe, parameters
from attention_plugins.registry import Registry, load
from attention_plugins.translator import Translator

REGISTRY = load(allow=[])
SMALL = {"embed": 8, "hidden": 8, "layers": 1, "dropout": 0.0}


def made(name, learned=""):
    return REGISTRY.tokeniser(name).create(learned)


@pytest.mark.parametrize("name", REGISTRY.tokenisers)
def test_the_built_in_tokenisers_keep_every_rule(name):
    assert [f for f in check("tokenisers", REGISTRY.tokeniser(name)) if not f.passed] == []


def test_characters_need_no_spaces_and_keep_those_there_are():
    characters = made("characters")
    assert characters.tokenise("我喝茶。") == ["我", "喝", "茶", "。"]
    assert characters.tokenise(" Un  thé ") == ["U", "n", "␣", "t", "h", "é"]
    assert characters.tokenise("the\u0301") == ["t", "h", "é"]  # a letter and its accent
    assert characters.detokenise(["茶", "␣", "?"]) == "茶 ?"


@given(st.text(max_size=30).filter(lambda text: "␣" not in text))
def test_what_characters_join_is_the_text_but_for_kinds_of_space(text):
    import unicodedata

    characters = made("characters")
    expected = " ".join(unicodedata.normalize("NFC", text).split())
    assert characters.detokenise(characters.tokenise(text)) == expected


def test_spaces_keep_case_and_marks():
    assert made("spaces").tokenise("B@@ a!  ▁C") == ["B@@", "a!", "▁C"]
    assert made("spaces").detokenise(["B@@", "a!"]) == "B@@ a!"


def test_a_side_is_written_as_it_is_spaced():
    words = REGISTRY.tokeniser("words")
    tokens = ["va", "!", "où", "?"]
    for sentences, text in ((["Va !", "Où ?"], "va ! où ?"), (["Va!", "Où?"], "va! où?")):
        assert words.create(words.learned_from(sentences)).detokenise(tokens) == text


def test_a_card_from_before_spacing_was_learned_writes_french():
    assert made("clitics").detokenise(["j'", "ai", "faim", "!"]) == "j'ai faim !"


def test_a_recipe_offers_what_is_installed():
    (tokeniser,) = [one for one in parameters(REGISTRY.tokenisers) if one.name == "tokeniser"]
    assert tokeniser.choices == ("words", "clitics", "pieces", "characters", "spaces")
    assert Recipe(tokeniser="from_a_friend").tokeniser == "from_a_friend"


class _Halves:
    """Cuts words in two; what it learned is put on every token."""

    def __init__(self, learned):
        self.sign = learned

    def tokenise(self, text):
        halves = [(w[: len(w) // 2 + 1], w[len(w) // 2 + 1 :]) for w in text.split()]
        return [self.sign + half for both in halves for half in both if half]

    def detokenise(self, tokens):
        return "|".join(token.removeprefix(self.sign) for token in tokens)


HALVES = TokeniserSpec(
    name="halves", title="Halves", build=_Halves, learn=lambda texts: texts[0][0]
)
PAIRS = [SentencePair(f"{a}bcd {b}", f"{b} {a}") for a in "klmn" for b in "wxyz"]


def with_halves():
    records = {**REGISTRY.records, "tokenisers": {**REGISTRY.tokenisers, "halves": HALVES}}
    plugin = REGISTRY.plugins[0]
    own = type(plugin)(**{
        **vars(plugin), "distribution": "halves-pack", "version": "7",
        "offers": {"tokenisers": ("halves",)},
    })  # fmt: skip
    return Registry(records=records, plugins=(*REGISTRY.plugins, own))


@pytest.fixture
def folder(tmp_path):
    plan = experiment.Experiment(
        model="bahdanau", scoring="dot", model_parameters=SMALL, corpus="mine",
        recipe=Recipe(tokeniser="halves", min_frequency=1, epochs=1), held_out=2,
    )  # fmt: skip
    experiment.keep(experiment.run(plan, PAIRS, with_halves()), tmp_path)
    return tmp_path


def test_what_each_side_learned_is_on_the_card_and_read_by_another_process(folder):
    from attention_plugins.checkpoints import read

    checkpoint = read(folder)
    assert checkpoint.card["learned"] == {"source": "k", "target": "w"}
    assert "learned" not in checkpoint.summary
    assert checkpoint.card["plugins"]["tokeniser"]["distribution"] == "halves-pack"
    found = Translator(checkpoint, with_halves()).explain("kbcd x", target="x k")
    assert found.source_tokens == ("kkbc", "kd", "kx", "<eos>")
    assert found.tokens == ("wx", "wk", "<eos>")
    assert found.text == "x|k"
    assert found.unknown == ()


def test_a_tokeniser_that_is_not_installed_is_refused_with_what_to_install(folder):
    from attention_plugins.checkpoints import read

    with pytest.raises(ContractError, match=r"no tokeniser 'halves' here.* install halves-pack"):
        Translator(read(folder), REGISTRY)
    card = json.loads((folder / "card.json").read_text("utf-8"))
    del card["plugins"]
    (folder / "card.json").write_text(json.dumps(card), "utf-8")
    with pytest.raises(ContractError, match=r'no tokeniser "halves"; .*offered: words'):
        Translator(read(folder), REGISTRY)


def test_training_by_a_tokeniser_that_is_not_installed_is_refused():
    plan = experiment.Experiment(
        model="bahdanau", scoring="dot", corpus="mine", recipe=Recipe(tokeniser="halves")
    )
    with pytest.raises(ContractError, match='no tokeniser "halves"'):
        experiment.prepare(plan, PAIRS, REGISTRY)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"build": None}, "build must be callable"),
        ({"learn": "merges"}, "learn must be callable, or None"),
        ({"examples": "a b"}, "examples is a tuple of sentences, got 'a b'"),
        ({"examples": ("", "a")}, "examples is a tuple of sentences"),
        ({"title": ""}, "needs a title"),
    ],
)
def test_a_wrong_record_is_refused(changes, message):
    with pytest.raises(ContractError, match=message):
        TokeniserSpec(**{"name": "mine", "title": "Mine", "build": _Halves, **changes})


def test_what_is_no_tokeniser_is_refused():
    wrong = TokeniserSpec(name="mine", title="Mine", build=str)
    with pytest.raises(ContractError, match="build returned str; it needs a method tokenise"):
        wrong.create()
    for half in ({"tokenise": str.split}, {"tokenise": str.split, "detokenise": "no function"}):
        wrong = TokeniserSpec(
            name="mine", title="Mine", build=lambda _, of=half: type("Half", (), of)
        )
        with pytest.raises(
            ContractError, match="build returned type; it needs a method detokenise"
        ):
            wrong.create()
    wrong = TokeniserSpec(name="mine", title="Mine", build=_Halves, learn=len)
    with pytest.raises(ContractError, match="learn returned int; return a str"):
        wrong.learned_from(["a"])
    assert TokeniserSpec(name="mine", title="Mine", build=_Halves).learned_from(["a"]) == ""

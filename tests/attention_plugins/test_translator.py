"""A translator at work, with a checkpoint that was trained for a moment."""

import pytest
import torch

from attention_plugins import experiment
from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.evaluation import evaluate
from attention_plugins.models.bahdanau import CROSS
from attention_plugins.recipe import Recipe
from attention_plugins.registry import load
from attention_plugins.tap import Intervention, Site
from attention_plugins.translator import Translator

REGISTRY = load(allow=[])
PAIRS = [
    SentencePair(f"I see {english} {noun}.", f"Je vois {french} {nom} !")
    for english, french in (("a", "un"), ("the", "le"), ("my", "mon"))
    for noun, nom in (("cat", "chat"), ("dog", "chien"), ("horse", "cheval"))
]


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    plan = experiment.Experiment(
        model="bahdanau", scoring="scaled_dot", corpus="animals",
        model_parameters={"embed": 14, "hidden": 22, "layers": 1, "dropout": 0.0},
        recipe=Recipe(min_frequency=1, epochs=60, batch_size=9, learning_rate=0.03),
    )  # fmt: skip
    trained = experiment.run(plan, PAIRS, REGISTRY)
    folder = tmp_path_factory.mktemp("animals")
    return Translator(experiment.keep(trained, folder), REGISTRY)


def test_it_translates_what_it_learned_in_any_order(translator):
    sources = [pair.source for pair in PAIRS]
    expected = [pair.target.lower() for pair in PAIRS]
    assert translator.translate(sources, batch_size=2) == expected
    assert translator.translate(sources[::-1], batch_size=5) == expected[::-1]
    assert translator.translate(sources, width=3) == expected


def test_an_explanation_has_words_scores_and_labelled_maps(translator):
    said = translator.explain("I see my dog.")
    assert said.text == "je vois mon chien !"
    assert said.tokens == ("je", "vois", "mon", "chien", "!", "<eos>")
    assert said.source_tokens == ("i", "see", "my", "dog", ".", "<eos>")
    assert said.unknown == ()
    assert len(said.log_probabilities) == 6
    assert said.log_probability == sum(said.log_probabilities)
    assert -0.5 < said.log_probability < 0
    (cross,) = said.maps
    assert cross.site == CROSS
    assert cross.weights.shape == (1, 6, 6)
    assert cross.query_labels == said.tokens
    assert cross.key_labels == said.source_tokens
    torch.testing.assert_close(cross.weights.sum(-1), torch.ones(1, 6))


def test_a_forced_target_is_scored_below_the_best(translator):
    best = translator.explain("I see my dog.")
    forced = translator.explain("I see my dog.", target="Je vois le cheval vert !")
    assert forced.text == "je vois le cheval vert !"
    assert forced.target_unknown == ("vert",)
    assert forced.log_probability < best.log_probability - 1
    same = translator.explain("I see my dog.", target=best.text)
    assert same.log_probabilities == pytest.approx(best.log_probabilities)


def test_unknown_words_are_named_as_written_once(translator):
    said = translator.explain("I see my zebra zebra.")
    assert said.unknown == ("zebra",)
    assert "zebra" in said.source_tokens


@pytest.mark.parametrize(
    ("sentence", "foreign"),
    [
        ("Je vois le chat !", True),
        ("I see my dog.", False),
        ("I see le chat.", True),
        ("I see my chat and dog.", False),
        ("I see le le le dog.", False),  # one word, however often
        ("Zebras never sleep.", False),
    ],
)
def test_a_sentence_of_the_other_side_is_noticed(translator, sentence, foreign):
    assert translator.reads_as_target(sentence) is foreign


def test_interventions_reach_the_model(translator):
    off = [Intervention(site=CROSS, action="off")]
    plain = translator.explain("I see my dog.", target="je vois mon chien !")
    blind = translator.explain("I see my dog.", target="je vois mon chien !", interventions=off)
    assert blind.log_probability < plain.log_probability
    assert blind.maps[0].weights.abs().max() == 0


def test_whatever_writes_or_looks_does_so_with_the_changes(translator):
    sentence, target = "I see my dog.", "je vois mon chien !"
    pin = [Intervention(site=CROSS, action="pin", key=0)]
    changed = translator.explain(sentence, interventions=pin).text
    assert translator.write(sentence, pin) == changed != translator.write(sentence)
    assert translator.translate([sentence], interventions=pin) == [changed]
    (found,) = translator.look([(sentence, target)], interventions=pin)
    assert (found[CROSS][..., 0] == 1).all()


def test_a_pin_on_a_key_that_a_sentence_does_not_have_is_refused(translator):
    pin = [Intervention(site=CROSS, action="pin", key=6)]
    with pytest.raises(ContractError, match="cross layer 1 has 6 keys in this sentence, no key 6"):
        translator.explain("I see my dog.", interventions=pin)
    assert translator.explain("I see my old dog.", interventions=pin).maps[0].weights.shape[2] == 7


def test_a_target_of_spaces_is_none_and_the_widest_beam_is_allowed(translator):
    assert translator.explain("I see my dog.", target=" \t").text == "je vois mon chien !"
    assert translator.translate(["I see my dog."], width=16) == ["je vois mon chien !"]


def test_a_pair_that_cannot_be_looked_at_is_named_by_its_number_among_all(translator):
    pairs = [("I see", "je vois")] * 3
    for bad, said in ((("b " * 12, "je"), "source 4 has 12"), (("I", " "), "in target 4, got")):
        with pytest.raises(ContractError, match=said):
            list(translator.look([*pairs, bad], batch_size=2))


@pytest.mark.parametrize("sentence", ["", "   ", "\t\n", "\u00a0"])
def test_an_empty_sentence_is_refused(translator, sentence):
    with pytest.raises(ContractError, match="need at least one word in the sentence, got none"):
        translator.explain(sentence)


def test_a_long_sentence_is_refused_with_its_length(translator):
    assert translator.reads("a " * 9)
    assert len(translator.explain("a " * 9).source_tokens) == 10
    assert not translator.reads("a " * 10)
    with pytest.raises(
        ContractError, match="the sentence has 10 tokens; this model reads at most 9"
    ):
        translator.explain("a " * 10)
    with pytest.raises(ContractError, match="sentence 2 has 12 tokens"):
        translator.translate(["a", "b " * 12])
    with pytest.raises(ContractError, match="the target has 11 tokens"):
        translator.explain("a", target="b " * 11)


@pytest.mark.parametrize("width", [0, 17])
def test_a_beam_out_of_bounds_is_refused(translator, width):
    with pytest.raises(ContractError, match=f"need 1 <= beam <= 16, got {width}"):
        translator.translate(["a"], width=width)


def test_scoring_a_corpus_uses_every_reference_and_leaves_out_what_is_too_long(translator):
    pairs = [*PAIRS, SentencePair(PAIRS[0].source, "Autre chose."), SentencePair("a " * 30, "b")]
    scores = evaluate(translator, pairs)
    assert scores["bleu"] == pytest.approx(100)
    assert scores["sentences"] == 9
    assert scores["too_long"] == 1
    assert "case:lc" in scores["signature"]


def test_forced_pairs_give_the_maps_that_each_gives_alone(translator):
    chosen = [(PAIRS[0].source, PAIRS[4].target), ("see dog", "chien"), PAIRS[7][:2]]
    for pair, sites in zip(chosen, translator.look(chosen, batch_size=2), strict=True):
        (alone,) = translator.explain(pair[0], target=pair[1]).maps
        torch.testing.assert_close(sites[CROSS], alone.weights)


@pytest.fixture(scope="module", params=["scaled_dot", "coverage"])
def prefix(tmp_path_factory, request):
    plan = experiment.Experiment(
        model="prefix_lm", scoring=request.param, corpus="animals",
        model_parameters={"hidden": 16, "ffn": 16, "heads": 2, "layers": 2, "dropout": 0.0},
        recipe=Recipe(min_frequency=1, epochs=1, batch_size=9, learning_rate=0.03),
    )  # fmt: skip
    trained = experiment.run(plan, PAIRS, REGISTRY)
    return Translator(experiment.keep(trained, tmp_path_factory.mktemp("prefix")), REGISTRY)


def test_keys_of_the_target_are_the_words_that_were_read(prefix):
    """A word is written from the words before it: the first of them is the sign of the start."""
    said = prefix.explain("I see my dog.", target="je vois mon chien !")
    by_site = {(found.site.kind, found.site.layer): found for found in said.maps}
    assert [*by_site] == [("encoder", 0), ("cross", 0), ("cross", 1)]
    written = ("je", "vois", "mon", "chien", "!", "<eos>")
    source = ("i", "see", "my", "dog", ".", "<eos>")
    assert by_site["encoder", 0].key_labels == source
    assert by_site["cross", 1].query_labels == written
    assert by_site["cross", 1].key_labels == (*source, "<bos>", *written[:-1])


def test_the_sources_words_are_found_among_the_keys(prefix, translator):
    assert prefix.source_keys(Site("cross", 1), 6, 12) == range(5)
    assert translator.source_keys(CROSS, 6, 6) == range(5)
    assert translator.source_keys(Site("decoder", 0), 6, 6) is None


def test_padding_between_source_and_target_is_no_part_of_a_map(prefix):
    pairs = [("I see my dog.", "je vois mon chien !"), ("a cat", "un"), ("the", "le chat ! !")]
    for (source, target), sites in zip(pairs, prefix.look(pairs), strict=True):
        for found in prefix.explain(source, target=target).maps:
            torch.testing.assert_close(sites[found.site], found.weights, rtol=0, atol=1e-5)

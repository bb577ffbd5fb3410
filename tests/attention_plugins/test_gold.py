"""Alignment error of a model whose weights are written down, and of one that knows nothing."""

from copy import copy
from types import SimpleNamespace

import pytest
import torch

from attention_plugins import checkpoints, experiment, registry
from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.datasets.parallel import fingerprint
from attention_plugins.datasets.phrasebook import phrasebook
from attention_plugins.gold import alignment_error, readable
from attention_plugins.home import SHIPPED
from attention_plugins.tap import Site
from attention_plugins.translator import Translator

PAIRS = [
    SentencePair("a b c", "x y", ((0, 0), (2, 1))),
    SentencePair("no gold", "rien"),
    SentencePair("d e", "z", ((1, 0),)),
]
# Rows: target words and <eos>; columns: source words and <eos>.
RIGHT = [torch.eye(4)[[0, 2, 3]], torch.eye(3)[[1, 2]]]
WRONG = [torch.eye(4)[[1, 2, 3]], torch.eye(3)[[2, 2]]]


def _translator(*heads, tokeniser="clitics", first=(0, 0)):
    def look(pairs):
        assert [source for source, _ in pairs] == ["a b c", "d e"]
        for number in range(2):
            weights = torch.stack([head[number] for head in heads])
            yield {Site("encoder", 0): weights[..., :1], Site("cross", 1): weights}

    return SimpleNamespace(
        card={"tokeniser": tokeniser}, reads=lambda text, target=False: True, look=look,
        source_keys=lambda site, queries, keys: first and range(first[0], keys - 1 - first[1]),
    )  # fmt: skip


def test_a_head_that_looks_right_makes_no_error():
    assert alignment_error(_translator(RIGHT), PAIRS) == {Site("cross", 1): [0.0]}


def test_keys_before_the_source_are_no_words():
    """With a null key in front, the same words stand one column further on."""
    shifted = [torch.nn.functional.pad(weights, (1, 0)) for weights in RIGHT]
    assert alignment_error(_translator(shifted, first=(1, 0)), PAIRS) == {Site("cross", 1): [0.0]}
    assert alignment_error(_translator(shifted), PAIRS) != {Site("cross", 1): [0.0]}


def test_a_model_that_looks_at_no_source_has_no_alignment():
    assert alignment_error(_translator(RIGHT, first=None), PAIRS) == {}


def test_heads_are_scored_one_by_one_and_together():
    """The wrong head finds two links, one of them right; a target word on <eos> has no link."""
    rates = alignment_error(_translator(WRONG, RIGHT, RIGHT), PAIRS)
    wrong = 1 - (1 + 1) / (2 + 3)
    assert rates[Site("cross", 1)] == pytest.approx([wrong, 0.0, 0.0, 0.0])


def test_indices_that_count_other_tokens_are_refused():
    with pytest.raises(ContractError, match="count the tokens of 'clitics'"):
        alignment_error(_translator(RIGHT, tokeniser="words"), PAIRS)


def test_a_corpus_without_gold_is_refused():
    with pytest.raises(ContractError, match="need at least one pair with a gold alignment"):
        alignment_error(_translator(RIGHT), [PAIRS[1]])


def test_pairs_with_a_side_that_the_model_does_not_read_are_left_out():
    read = {("a b c", False), ("x y", True), ("d e", False), ("z", False)}
    translator = _translator(RIGHT)
    translator.reads = lambda text, target=False: (text, target) in read
    assert readable(translator, PAIRS) == [PAIRS[0]]
    read |= {("z", True)}
    assert readable(translator, PAIRS) == [PAIRS[0], PAIRS[2]]
    read -= {("a b c", False)}
    assert readable(translator, PAIRS) == [PAIRS[2]]


def test_a_possible_link_that_is_found_or_missed_is_no_error():
    pairs = [SentencePair("a b c", "x y", ((0, 0),), ((2, 1),)), PAIRS[2]]
    assert alignment_error(_translator(RIGHT), pairs) == {Site("cross", 1): [0.0]}
    only_possible = [SentencePair("a b c", "x y", (), ((0, 0), (2, 1), (1, 1))), PAIRS[2]]
    assert alignment_error(_translator(RIGHT), only_possible) == {Site("cross", 1): [0.0]}


def test_the_shipped_model_looks_where_gold_says_and_its_untrained_copy_does_not():
    found = registry.load(allow=[])
    trained = checkpoints.read(SHIPPED / "bahdanau-additive-phrasebook")
    _, unseen = experiment.learned_and_unseen(trained.card, phrasebook(), "phrasebook")
    pairs = unseen[:200]
    translator = Translator(trained, found)
    untrained = copy(translator)
    untrained.model = translator.untrained()
    learned, fresh = (
        alignment_error(one, pairs)[Site("cross", 0)][0] for one in (translator, untrained)
    )
    assert learned <= 0.25
    assert fresh >= 0.6


def test_what_a_checkpoint_has_not_seen_is_known_of_its_own_corpus_alone():
    card = checkpoints.read(SHIPPED / "bahdanau-additive-phrasebook").card
    with pytest.raises(ContractError, match=r"pairs.tsv is not the corpus of this checkpoint's"):
        experiment.learned_and_unseen(card, phrasebook()[1:], "pairs.tsv")
    whole = {**card, "corpus": {**card["corpus"], "held_out_sources": 0}}
    with pytest.raises(ContractError, match=r"learned its whole corpus \(phrasebook\)"):
        experiment.learned_and_unseen(whole, phrasebook(), "phrasebook")


def test_new_to_a_checkpoint_is_what_was_held_out_and_what_lies_beyond_its_part():
    pairs = [SentencePair(f"It is {n}.", f"C'est {n}.") for n in range(29)]
    pairs += [SentencePair("it is 3", "c'est trois"), SentencePair("It's late.", "Il est tard.")]
    part = pairs[:23]
    learned, held_out = experiment.divide(part, 5, 7)
    corpus = {"sha256": fingerprint(part), "pairs": 23, "held_out_sources": 5, "split_seed": 7}
    beyond = pairs[23:29] + [pairs[29]] * (part[3] not in learned) + pairs[30:]
    assert experiment.new_to({"corpus": corpus}, pairs) == [*held_out, *beyond]
    whole = {"corpus": corpus | {"held_out_sources": 0}}
    assert experiment.new_to(whole, pairs) == [*pairs[23:29], pairs[30]]
    assert experiment.new_to(whole, part) == []
    assert experiment.new_to({"corpus": corpus}, pairs[1:]) == pairs[1:]

"""Alignment error of a model whose weights are written down, and of one that knows nothing."""

from types import SimpleNamespace

import pytest
import torch

from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.gold import alignment_error
from attention_plugins.tap import Site

PAIRS = [
    SentencePair("a b c", "x y", ((0, 0), (2, 1))),
    SentencePair("no gold", "rien"),
    SentencePair("d e", "z", ((1, 0),)),
]
# Rows: target words and <eos>; columns: source words and <eos>.
RIGHT = [torch.eye(4)[[0, 2, 3]], torch.eye(3)[[1, 2]]]
WRONG = [torch.eye(4)[[1, 2, 3]], torch.eye(3)[[2, 2]]]


def _translator(*heads, tokeniser="clitics"):
    def look(pairs):
        assert [source for source, _ in pairs] == ["a b c", "d e"]
        for number in range(2):
            weights = torch.stack([head[number] for head in heads])
            yield {Site("encoder", 0): weights[..., :1], Site("cross", 1): weights}

    return SimpleNamespace(card={"tokeniser": tokeniser}, reads=lambda text: True, look=look)


def test_a_head_that_looks_right_makes_no_error():
    assert alignment_error(_translator(RIGHT), PAIRS) == {Site("cross", 1): [0.0]}


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

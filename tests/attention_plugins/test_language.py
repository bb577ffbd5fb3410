"""Texts as a decoder of ours reads them, against what it says and attends elsewhere."""

import pytest
import torch

from attention_plugins.contract import ContractError
from attention_plugins.home import SHIPPED
from attention_plugins.language import MOST_READ, Wanted
from attention_plugins.opening import open_checkpoint, read_checkpoint
from attention_plugins.registry import load
from attention_plugins.tap import Site
from attention_plugins.translator import Sentence, check_length

PROMPT = "my brother is"


@pytest.fixture(scope="module")
def translator():
    folder = SHIPPED / "decoder-scaled-dot-phrasebook"
    return open_checkpoint(read_checkpoint(folder), load(allow=[]))


def test_what_is_written_costs_and_attends_as_the_usual_explanation_says(translator):
    said = translator.explain(PROMPT)
    read = translator.read_text(PROMPT, Wanted(words=30))
    assert read.text == said.text
    assert read.written == len(said.tokens)
    assert read.tokens == ("<bos>", *PROMPT.split(), *said.tokens)
    assert read.log_probabilities[0] is None
    found = [one for one in read.log_probabilities[4:] if one is not None]
    assert found == pytest.approx(said.log_probabilities, abs=1e-5)
    assert len(read.losses) == len(read.tokens) - 1
    assert [one.site for one in read.maps] == [one.site for one in said.maps]
    for mine, usual in zip(read.maps, said.maps, strict=True):
        assert mine.query_labels == mine.key_labels == usual.query_labels
        torch.testing.assert_close(mine.weights, usual.weights)


def test_the_losses_of_a_prompt_are_those_of_its_own_beginnings(translator):
    read = translator.read_text(PROMPT)
    assert read.written == 0
    assert read.text == ""
    # The second word after the first, and the third after both.
    for place, before in ((2, "my"), (3, "my brother")):
        word = read.tokens[place]
        (next_one,) = translator.read_text(before, Wanted(top=10_000)).candidates
        told = dict(zip(next_one.tokens, next_one.log_probabilities, strict=True))
        assert read.log_probabilities[place] == pytest.approx(told[word], abs=1e-5)
        assert next_one.place == place


def test_the_candidates_are_the_likeliest(translator):
    (found,) = translator.read_text(PROMPT, Wanted(words=3, top=5)).candidates
    assert found.place == 4
    assert list(found.log_probabilities) == sorted(found.log_probabilities, reverse=True)
    (every,) = translator.read_text(PROMPT, Wanted(top=10_000)).candidates
    assert torch.tensor(every.log_probabilities).exp().sum() == pytest.approx(1, abs=1e-4)
    assert every.tokens[:5] == found.tokens


def test_a_long_text_has_blocks_and_one_map_may_be_whole(translator):
    text = "i don't know if he's at home"
    whole = translator.read_text(text)
    pooled = translator.read_text(text, Wanted(most=4))
    assert whole.block == 1
    assert pooled.block == 3
    assert pooled.length == whole.length == len(whole.tokens)
    assert pooled.maps[0].query_labels == ("<bos>", "i … n't", "know … he", "'s … home")
    assert pooled.log_probabilities == pytest.approx(whole.log_probabilities)
    only = translator.read_text(text, Wanted(only=Site("decoder", 1)))
    assert [one.site for one in only.maps] == [Site("decoder", 1)]
    torch.testing.assert_close(only.maps[0].weights, whole.maps[1].weights)


def test_no_more_is_written_than_the_model_reads(translator):
    words = translator.max_tokens - 2
    read = translator.read_text("no " * words, Wanted(words=9))
    assert read.written == 2  # the last one is not read
    assert read.stopped_at == len(read.tokens) - 1 == translator.max_tokens
    with pytest.raises(ContractError, match="this model reads at most"):
        translator.read_text("no " * (words + 5))
    with pytest.raises(ContractError, match=r"has 1,025 tokens; maps are made of at most 1,024"):
        check_length(Sentence(["no"] * (MOST_READ + 1), [5] * (MOST_READ + 1)))
    with pytest.raises(ContractError, match="need at least one word in the prompt, got none"):
        translator.read_text("  ")

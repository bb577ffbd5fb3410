"""Sentence pairs as ids: what is cut, what is counted, which links remain."""

from __future__ import annotations

import random

import pytest
import torch

from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.encoding import alignment_of, collate, encode, grouped
from attention_plugins.recipe import Recipe
from attention_plugins.text import EOS_ID, PAD_ID

LINKS = ((0, 0), (1, 1), (2, 3), (3, 2), (3, 3))
PAIR = SentencePair("he is very calm", "il est calme très", alignment=LINKS)


def encoded(limit=9, *pairs, **more):
    recipe = Recipe(tokeniser="words", max_tokens=limit, min_frequency=1, **more)
    return encode(pairs or [PAIR], recipe, counted="words")


def test_every_sentence_ends_as_a_sentence_and_keeps_its_words():
    corpus = encoded()
    (ids,) = corpus.source
    assert ids[-1] == EOS_ID
    assert corpus.source_vocabulary.words(ids[:-1]) == PAIR.source.split()


def test_what_is_too_long_is_cut_and_still_ends():
    (ids,) = encoded(3).target
    assert len(ids) == 3
    assert ids[-1] == EOS_ID


@pytest.mark.parametrize(
    ("limit", "kept"), [(9, LINKS), (5, LINKS), (4, ((0, 0), (1, 1))), (2, ((0, 0),))]
)
def test_a_link_is_kept_where_both_its_words_are(limit, kept):
    assert encoded(limit).links == [list(kept)]


def test_a_cut_on_one_side_costs_the_links_of_that_side_alone():
    short = SentencePair("calm", "très très calme", alignment=((0, 0), (0, 2)))
    assert encoded(3, short).links == [[(0, 0)]]


def test_without_a_link_there_are_none():
    assert encoded(9, PAIR._replace(alignment=())).links is None


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(ContractError, match="at least one sentence pair"):
        encode([], Recipe())


def test_rows_of_a_batch_are_padded_on_the_right():
    ids, lengths = collate([[7, EOS_ID], [5, 6, EOS_ID]], "cpu")
    assert ids.tolist() == [[7, EOS_ID, PAD_ID], [5, 6, EOS_ID]]
    assert lengths.tolist() == [2, 3]


def test_links_of_a_batch_are_a_mask_by_target_and_source():
    found = alignment_of([[(0, 2)], []], 3, 4, "cpu")
    assert found.shape == (2, 3, 4)
    assert torch.nonzero(found).tolist() == [[0, 2, 0]]


def test_batches_hold_like_lengths_and_come_in_no_order_of_length():
    words = "a b c d e f".split()
    pairs = [
        SentencePair(" ".join(words[: 1 + n % 5]), " ".join(words[: 1 + n % 3])) for n in range(60)
    ]
    corpus = encoded(9, *pairs)
    groups = grouped(corpus, 4, random.Random(3))
    assert sorted(n for group in groups for n in group) == list(range(60))
    sizes = [(len(corpus.target[n]), len(corpus.source[n])) for group in groups for n in group]
    assert len({*map(tuple, groups)}) == 15
    assert all(len({sizes[at], sizes[at + 3]}) <= 2 for at in range(0, 60, 4))
    first = sizes[::4]
    assert first != sorted(first)
    assert sizes != sorted(sizes)
    ordered = sorted(range(15), key=lambda at: first[at])
    assert [sizes[4 * at + n] for at in ordered for n in range(4)] == sorted(sizes)

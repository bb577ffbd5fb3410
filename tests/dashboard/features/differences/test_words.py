"""Maps of tokens as maps of words: what belongs together is told by its letters."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.features.differences.words import OTHERS, folded, labels_of, texts_of, words_of


@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [
        ("The cats", ["[CLS]", "the", "cat", "##s", "[SEP]"], [0, 1, 2, 2, 0]),
        ("The cats", ["The", "cat", "·s", "<eos>"], [1, 2, 2, 0]),
        ("don't go!", ["don", "·'", "·t", "go", "·!"], [1, 1, 1, 2, 2]),
        ("a  b", ["▁a", "b"], [1, 2]),
        ("go there", ["go", "<unk>"], [1, 0]),
        ("5 17", ["5", "17"], [1, 2]),
        ("die Straße", ["die", "strasse"], [1, 2]),
        ("", ["<s>"], [0]),
        ("a cat", ["a", " cat"], [1, 2]),
    ],
)
def test_a_token_is_in_the_word_that_has_its_letters(text, tokens, words):
    assert words_of(text, tokens) == words


def test_a_words_row_is_the_mean_of_its_tokens_and_its_column_their_sum():
    weights = np.array(
        [[[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.1, 0.2, 0.7, 0], [0.1, 0.2, 0.3, 0.4]]]
    )
    tokens = ["<s>", "a", "cat", "·s"]
    found = folded(weights, ("a cats", "a cats"), tokens, tokens)
    assert labels_of("a cats") == (OTHERS, "a", "cats")
    np.testing.assert_allclose(found, [[[1, 0, 0], [0.5, 0.5, 0], [0.1, 0.2, 0.7]]])


def test_rows_still_sum_to_one_and_masked_cells_count_as_nothing():
    weights = np.tril(np.random.default_rng(0).random((3, 5, 5)) + 0.1)
    weights = weights / weights.sum(-1, keepdims=True)
    masked = np.where(np.tri(5, dtype=bool), weights, np.nan)
    tokens = ["x", "y", "·z", "·w", "v"]
    found = folded(masked, ("x yzw v",) * 2, tokens, tokens)
    np.testing.assert_allclose(found.sum(-1)[:, 1:], 1)
    assert not found[:, 0].any()  # no token is of no word
    assert not found[:, :, 0].any()


def test_the_texts_are_those_that_a_kind_of_map_looks_at():
    assert texts_of("encoder-decoder", "cross", "a cat", "un chat") == ("un chat", "a cat")
    assert texts_of("encoder-decoder", "decoder", "a cat", "un chat") == ("un chat", "un chat")
    assert texts_of("encoder", "encoder", "a cat", "") == ("a cat", "a cat")
    assert texts_of("decoder", "decoder", "a", "·b c") == ("a b c", "a b c")

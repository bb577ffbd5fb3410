import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_plugins.contract import ContractError
from attention_plugins.text import normalise
from attention_plugins.tokenisers.pieces import INSIDE, PIECES

SENTENCES = ["walking walked walks", "talking talked, talks!", "l'eau va-t-elle là ?"] * 12
LEARNED = PIECES.learned_from(SENTENCES)


@pytest.fixture(scope="module")
def pieces():
    return PIECES.create(LEARNED)


def test_frequent_words_are_whole_and_new_ones_are_cut(pieces):
    assert pieces.tokenise("Walking talked") == ["walking", "talked"]
    cut = pieces.tokenise("balking")
    assert len(cut) > 1
    assert "".join(cut).replace(INSIDE, "") == "balking"
    assert [piece.startswith(INSIDE) for piece in cut] == [False] + [True] * (len(cut) - 1)


def test_punctuation_is_never_part_of_a_longer_piece(pieces):
    assert pieces.tokenise("walked, talks!") == ["walked", "·,", "talks", "·!"]
    assert pieces.tokenise("là ?") == ["là", "?"]


def test_a_letter_that_was_not_learned_is_a_piece_of_its_own(pieces):
    assert pieces.tokenise("ж walkжж")[0] == "ж"
    assert pieces.tokenise("walkжж")[-2:] == ["·ж", "·ж"]


@given(st.text(max_size=40) | st.text("walk ed'-!·ж", max_size=40))
def test_every_text_comes_back_lower_case(text):
    made = PIECES.create(LEARNED)
    words = normalise(text).replace(INSIDE, "‧").split()
    assert made.detokenise(made.tokenise(text)) == " ".join(words)


@pytest.mark.parametrize(
    "learned",
    ["[]", "{}", "no JSON", '{"letters": "ab", "merges": [["a"]]}',
     '{"letters": "ab", "merges": [["x", "·y"]]}', '{"letters": 3, "merges": 7}'],
)  # fmt: skip
def test_a_damaged_card_is_refused_in_a_sentence(learned):
    with pytest.raises(ContractError, match="cannot use what its card says it learned"):
        PIECES.create(learned)


def test_what_is_learned_is_plain_json():
    read = json.loads(LEARNED)
    assert set(read) == {"letters", "merges"}
    assert sorted(set("".join(SENTENCES)) - {" "}) == list(read["letters"])
    assert PIECES.learned_from([]) == '{"letters": "", "merges": []}'

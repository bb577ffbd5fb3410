import json
import random

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
def test_every_text_comes_back_lower_case_but_for_spaces_around_marks(text):
    words = normalise(text).replace(INSIDE, "‧").split()
    for made in (PIECES.create(""), PIECES.create(LEARNED)):
        found = made.detokenise(made.tokenise(text))
        assert found.replace(" ", "") == "".join(words)
    plain = PIECES.create("")
    assert plain.detokenise(plain.tokenise(text)) == " ".join(words)


def test_marks_are_read_as_they_were_set_where_they_always_were_alike(pieces):
    assert pieces.tokenise("walks !") == pieces.tokenise("walks!")
    assert pieces.tokenise("là?") == pieces.tokenise("là ?") == ["là", "?"]
    assert pieces.tokenise("! walks") == ["!", "walks"]


@pytest.mark.parametrize(
    "learned",
    ["[]", "{}", "no JSON", '{"letters": "a", "glued": "", "apart": "", "merges": [["a"]]}',
     '{"letters": "a", "glued": "", "apart": "", "merges": [["x", "·y"]]}'],
)  # fmt: skip
def test_a_damaged_card_is_refused_in_a_sentence(learned):
    with pytest.raises(ContractError, match="cannot use what its card says it learned"):
        PIECES.create(learned)


def test_what_is_learned_is_plain_json():
    read = json.loads(LEARNED)
    assert json.dumps(read, ensure_ascii=False) == LEARNED  # letters as they are
    assert set(read) == {"letters", "merges", "glued", "apart"}
    assert (read["glued"], read["apart"]) == ("!',-", "?")
    assert sorted(set("".join(SENTENCES)) - {" "}) == list(read["letters"])
    nothing = {"letters": "", "merges": [], "glued": "", "apart": ""}
    assert json.loads(PIECES.learned_from([])) == nothing


def test_a_pair_is_merged_from_ten_occurrences_on():
    learned = json.loads(PIECES.learned_from(["ab"] * 9 + ["cd"] * 10))
    assert learned["merges"] == [["c", "·d"]]


def test_a_mark_that_is_set_both_ways_is_read_as_it_stands():
    learned = PIECES.learned_from(["go!", "va !", "no, no"])
    assert (json.loads(learned)["glued"], json.loads(learned)["apart"]) == (",", "")
    pieces = PIECES.create(learned)
    assert [pieces.tokenise(text)[-1] for text in ("go!", "go !")] == ["·!", "!"]


def test_equal_sentences_in_any_order_give_equal_text():
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefgh", k=7)) for _ in range(400)]
    sentences = [word for word in words for _ in range(12)]  # most pairs are as frequent as others
    learned = {PIECES.learned_from(draw.sample(sentences, len(sentences))) for _ in range(3)}
    assert len(learned) == 1

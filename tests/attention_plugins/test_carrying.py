"""Word links over other tokens of the same sentences."""

from attention_plugins.encoding import carried
from attention_plugins.text import tokenise_clitics, tokenise_words

PAIR = ("I'm home.", "Je suis chez moi.")
LINKS = ((0, 0), (1, 1), (2, 3), (3, 4))
CLITICS = tokenise_clitics(PAIR[0]), tokenise_clitics(PAIR[1])


def test_equal_tokens_keep_their_links():
    assert carried(LINKS, CLITICS, CLITICS, PAIR) == list(LINKS)


def test_two_tokens_that_become_one_leave_both_links_to_it():
    words = tokenise_words(PAIR[0]), tokenise_words(PAIR[1])
    assert words[0] == ["i'm", "home", "."]
    assert carried(LINKS, CLITICS, words, PAIR) == [(0, 0), (0, 1), (1, 3), (2, 4)]


def test_each_piece_of_a_word_has_the_words_links_whatever_marks_it():
    pieces = ["▁I", "▁'m", "ho@@", "me", "."], ["▁je", "▁su", "is", "chez", "mo", "i", "."]
    assert carried(LINKS, CLITICS, pieces, PAIR) == [
        (0, 0), (1, 1), (1, 2), (2, 4), (2, 5), (3, 4), (3, 5), (4, 6),
    ]  # fmt: skip


def test_links_of_tokens_that_are_not_there_are_dropped():
    other = CLITICS[0][:2], CLITICS[1]
    assert carried(LINKS, CLITICS, other, PAIR) == [(0, 0), (1, 1)]
    assert carried(LINKS, CLITICS, (["?", "*"], CLITICS[1]), PAIR) == []

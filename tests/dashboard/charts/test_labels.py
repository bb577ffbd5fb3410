from __future__ import annotations

import pytest

from dashboard.charts.labels import displayed, goes_on, labels_of, quoted, room, thinned


def test_words_stay_as_they_are():
    words = ["l'", "été", "<eos>", "שלום", "مرحبا", "<b>x</b>", 'say "no"', "\\n", "👩‍🔬"]
    assert displayed(words) == words


def test_what_cannot_be_seen_gets_a_sign():
    assert displayed(["", " ", "\n", "\u202f", "a\x00b", "\u202eevil", "a\u2028b"]) == [
        "∅", "␣", "⏎", "␣", "a�b", "�evil", "a�b",
    ]  # fmt: skip


def test_a_very_long_token_is_cut():
    (shown,) = displayed(["x" * 10_000])
    assert len(shown) == 121
    assert shown.endswith("x…")


def test_a_piece_goes_on_with_a_word_and_a_dot_alone_does_not():
    assert all(map(goes_on, ("·s", "··")))
    assert not any(map(goes_on, ("·", "s·", "s", "")))


def test_numbers_are_labels_too():
    assert displayed(range(3)) == ["0", "1", "2"]


def test_room_grows_with_the_widest_label_up_to_the_limit():
    assert room(["a"], 96) < room(["a", "abcdef"], 96) < room(["a" * 50], 96) == 96
    assert room([], 96) == 4


def test_labels_are_thinned_evenly_until_they_fit():
    assert thinned(5, 100, 12) == [0, 1, 2, 3, 4]
    assert thinned(10, 60, 12) == [0, 2, 4, 6, 8]
    assert thinned(1_000, 120, 12) == list(range(0, 1_000, 100))


def test_a_label_takes_its_letters_and_a_margin_and_a_chinese_one_more():
    assert room(["a"], 96) == 11
    assert room(["中a", "Ａ"], 96) == 24
    assert room(["Ａ"], 96) == 17


def test_a_space_of_any_width_is_a_sign_and_a_token_that_just_fits_is_whole():
    assert displayed(["  ", "x" * 120]) == ["␣", "x" * 120]


def test_there_is_a_label_for_each_or_it_is_said():
    assert labels_of(None, 2, "row") == ["0", "1"]
    for wrong in (["a"], ["a", "b", "c"]):
        with pytest.raises(ValueError, match=f"one label per row, 2 in all, got {len(wrong)}"):
            labels_of(wrong, 2, "row")


def test_a_text_in_an_expression_keeps_its_quotes_and_backslashes():
    assert quoted("it's \\n") == "'it\\'s \\\\n'"


def test_no_room_at_all_leaves_one_label():
    assert thinned(7, 0, 12) == [0]

"""Widths of columns."""

from dashboard.ui.widgets import column_width


def test_the_longest_text_or_the_heading_decides():
    short = column_width("p", ["0.1"])
    assert column_width("p", ["0.1", "0.431 [0.402, 0.458]"]) == short + 6 * 17
    assert column_width("0.431 [0.402, 0.458]", ["0.1"]) == short + 6 * 17
    assert column_width("p", []) < short


def test_a_chinese_character_takes_the_room_of_two_letters():
    assert column_width("注意力", []) == column_width("weight", [])

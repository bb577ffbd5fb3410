import pytest

from dashboard.records.text import lines


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("", ""), (" a \r\nb\n\n", "a \nb"), ("a\tb\x00c\u202ed", "a b c d"), ("a\u2028b", "a\nb"),
        ("\ud800x", "x"), ("é œ", "é œ"),
    ],
)  # fmt: skip
def test_lines_hold_nothing_invisible_but_their_breaks(text, seen):
    assert lines(text) == seen

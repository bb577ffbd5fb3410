"""An entry of the catalogue."""

import pytest

from dashboard.records.catalogue import Entry


@pytest.mark.parametrize(
    ("name", "title", "short"),
    [
        ("additive", "Additive (Bahdanau)", "Additive"),
        ("additive", "加性（Bahdanau）", "加性"),
        ("dot", "Dot product", "Dot product"),
        ("bahdanau_7", "Bahdanau (recurrent) No. 7", "Bahdanau No. 7"),
        ("=dot(q, k) * (1 + w)", "dot(q, k) * (1 + w)", "dot(q, k) * (1 + w)"),
    ],
)
def test_the_short_title_has_no_brackets(name, title, short):
    assert Entry(name=name, title=title).short_title == short

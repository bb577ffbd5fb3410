"""Which pair of heads *Use matched heads* begins with."""

from types import SimpleNamespace

from dashboard.features.differences import page

ROWS = [
    page._Match("1.1", "2.2", 0.31),
    page._Match("1.2", "1.1", 0.97),
    page._Match("2.1", None, None),
    page._Match("2.2", "1.1", -0.44),
]


def start(selected, rows=ROWS):
    return page._start(SimpleNamespace(one=SimpleNamespace(selected=selected)), rows)


def test_the_selected_head_gets_its_match():
    assert start("1.1") == ROWS[0]
    assert start("2.2") == ROWS[3]


def test_a_mean_or_a_head_without_a_match_gives_way_to_the_best_match():
    assert start("2.mean") == start("2.1") == ROWS[1]
    assert start("1.mean", ROWS[2:3]) is None

from __future__ import annotations

from dashboard.storage.seen import Chart, Group, Text, whole, widths


def test_every_chart_has_the_width_of_its_place():
    a, b, c, d = (Chart(name=name) for name in "abcd")
    row = Group(layout="row", weights=(3, 1), blocks=(Group(blocks=(a,)), b))
    grid = Group(layout="grid", blocks=(c, Text(kind="text", text="x")))
    uneven = Group(layout="row", weights=(1.0,), blocks=(grid, d))
    assert dict(widths(Group(blocks=(row, uneven)), 400)) == {"a": 300, "b": 100, "c": 100,
                                                              "d": 200}  # fmt: skip


def test_a_group_comes_before_what_is_in_it():
    inner = Group(blocks=(Chart(name="a"),))
    outer = Group(blocks=(inner,))
    assert list(whole((outer,))) == [outer, inner, Chart(name="a")]

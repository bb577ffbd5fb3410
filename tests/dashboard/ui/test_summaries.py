from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from dashboard.charts.summary import of_matrix
from dashboard.ui import page, shown

SPEC = {"mark": "point", "data": {"name": "x"}, "datasets": {"x": [{"a": 1}]}}
SUMMARY = of_matrix(np.array([[0.25, 0.75]]))


@pytest.fixture
def drawn(monkeypatch):
    calls = []
    for name in ("vega_lite_chart", "header", "text", "dataframe"):
        monkeypatch.setattr(f"streamlit.{name}", lambda *a, _n=name, **k: calls.append((_n, a, k)))
    return calls


def test_a_screen_reader_says_what_a_chart_shows_and_where_its_largest_weights_lie(drawn):
    with shown.recording() as record:
        shown.chart(SPEC, "Attention of panel a", summary=SUMMARY)
    (_, _, more), *_ = drawn
    said = f"Attention of panel a. {SUMMARY.words}"
    assert record.told == {more["alt"]: said}
    assert record.summaries == [("Attention of panel a", SUMMARY)]
    (noted,) = record.seen.blocks
    assert noted.alt == said
    assert noted.name == "attention-of-panel-a"


def test_a_chart_keeps_its_title_when_its_numbers_change(drawn):
    other = of_matrix(np.array([[0.5, 0.5]]))
    for summary in (SUMMARY, other):
        with shown.recording():
            shown.chart(SPEC, "Attention of panel a", summary=summary)
            shown.chart(SPEC, f"up to {summary.words}", title="Colours")
    one, two = drawn[:2], drawn[2:]
    assert one == two


def test_a_second_chart_of_a_title_is_told_whole(drawn):
    other = of_matrix(np.array([[0.5, 0.5]]))
    with shown.recording() as record:
        for summary in (SUMMARY, other):
            shown.chart(SPEC, "Attention", summary=summary)
    assert [more["alt"] for _, _, more in drawn] == ["Attention.", f"Attention. {other.words}"]
    assert record.told["Attention."] == f"Attention. {SUMMARY.words}"


def test_a_chart_of_a_part_that_is_drawn_alone_is_told_whole(drawn):
    shown.chart(SPEC, "Attention", summary=SUMMARY, title="Colours")
    assert drawn[-1][2]["alt"] == f"Attention. {SUMMARY.words}"


def test_a_table_is_named_as_its_chart_without_marks_of_markdown(drawn, monkeypatch):
    opened = nullcontext()
    opened.open = True  # type: ignore[attr-defined]
    monkeypatch.setattr("streamlit.expander", lambda *_, **__: opened)
    page.section.__wrapped__([("Maps of panels. Point at a row", SUMMARY)])
    assert drawn[-1][2]["alt"] == "Maps of panels. Point at a row"


def test_no_table_is_made_before_somebody_opens_them(drawn):
    def never():
        raise AssertionError("made")

    page.section([("Chart", type(SUMMARY)("words", never))])
    assert drawn == []

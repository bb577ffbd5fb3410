from __future__ import annotations

import numpy as np
import pytest

from dashboard.charts.summary import of_matrix
from dashboard.ui import noting, shown, summaries

SPEC = {"mark": "point", "data": {"name": "x"}, "datasets": {"x": [{"a": 1}]}}
SUMMARY = of_matrix(np.array([[0.25, 0.75]]))


@pytest.fixture
def drawn(monkeypatch):
    calls = []
    for name in ("vega_lite_chart", "header", "text", "dataframe"):
        monkeypatch.setattr(f"streamlit.{name}", lambda *a, _n=name, **k: calls.append((_n, a, k)))
    return calls


def test_a_screen_reader_says_what_a_chart_shows_and_where_its_largest_weights_lie(drawn):
    with noting.recording() as record:
        shown.chart(SPEC, "Attention of panel a", summary=SUMMARY)
    (_, _, more), *_ = drawn
    assert more["alt"] == f"Attention of panel a. {SUMMARY.words}"
    assert record.summaries == [("Attention of panel a", SUMMARY)]
    (noted,) = record.seen.blocks
    assert noted.alt == more["alt"]
    assert noted.name == "attention-of-panel-a"


def test_no_table_is_made_before_somebody_opens_them(drawn):
    def never():
        raise AssertionError("made")

    summaries.section([("Chart", type(SUMMARY)("words", never))])
    assert drawn == []

from __future__ import annotations

import pyarrow as pa
import pytest

from dashboard.records.request import Request, Result
from dashboard.storage.seen import Group
from dashboard.ui import shown

SPEC = {"mark": "point"}


@pytest.fixture
def record():
    with shown.recording() as made:
        yield made


def test_what_stayed_empty_is_not_there(record):
    with shown.container(), shown.grid(2):
        shown.columns(3)
    assert record.seen == Group()


def test_nothing_is_noted_where_no_whole_page_is_drawn():
    with shown.recording() as record:
        place = shown.container()
    with place:
        shown.caption("drawn again by itself")
        shown.chart(SPEC, "chart")
        shown.note_table(pa.table({"n": [1]}), alt="table")
        shown.title("title")
        shown.result(Request.make("regression"), Result())
        shown.incomplete()
    assert record.seen == Group()
    assert not any((record.charts, record.tables, record.results, record.incomplete))


def test_results_of_no_job_and_what_is_on_its_way_are_noted(record):
    request, result = Request.make("training"), Result()
    shown.result(request, result)
    shown.incomplete()
    assert record.results == [(request, result)]
    assert record.incomplete


def test_a_page_that_breaks_off_leaves_no_record_behind():
    with pytest.raises(ValueError, match="broken"), shown.recording() as broken:
        raise ValueError("broken")
    shown.incomplete()
    assert not broken.incomplete

from datetime import date

import pytest

from dashboard.storage.table_cells import Dates, days, find_dates, is_date


@pytest.mark.parametrize(
    ("cells", "order", "sure"),
    [
        (["2024-01-31", "2024-2-7"], "ymd", True),
        (["2024/02/01", "2024/02/02"], "ymd", True),
        (["31.01.2024", "1.2.2024"], "dmy", True),
        (["01.02.2024", "03.02.2024"], "dmy", True),
        (["31/01/2024", "01/02/2024"], "dmy", True),
        (["01/31/2024", "02/01/2024"], "mdy", True),
        (["01/02/2024", "03/02/2024"], "dmy", False),
        (["01-02-2024", "03-02-2024"], "dmy", False),
        (["2024-01-31 23:30", "2024-01-31T23:30:15Z"], "ymd", True),
        (["1/31/2024 11:30 PM", "2/1/2024 1:05 am"], "mdy", True),
        (["2024-01-31", "2024-02-01", "soon"], "ymd", True),
    ],
)
def test_the_order_of_a_column(cells, order, sure):
    found = find_dates(cells)
    assert found
    assert (found.order, found.sure) == (order, sure)


@pytest.mark.parametrize(
    "cells",
    [["2024-02-30"], ["31.01.24"], ["1.5", "2.5"], ["2024-01/31"], ["2024-01-31", "a", "b"],
     ["13/13/2024"], ["2024-01-31 25:00"], ["2024-01-31 13:00 pm"], []],
)  # fmt: skip
def test_what_is_no_date(cells):
    assert find_dates(cells) is None


def test_days_are_counted_from_the_first_date_whatever_its_time():
    dates = find_dates(["07.02.2024 06:00", "31.01.2024 18:00"])
    assert dates == Dates("dmy", date(2024, 1, 31), sure=True)
    cells = ["31.01.2024 18:00", " 7.2.2024 06:00 ", "30.01.2024", "02/2024"]
    assert [days(cell, dates) for cell in cells] == [0.75, 7.25, -1, None]
    assert days("31.01.2024 12:00 AM", dates) == 0
    assert days("31.01.2024 12:00 pm", dates) == 0.5


def test_a_cell_alone_may_be_a_date_in_any_order():
    assert [is_date(cell) for cell in ("12/31/2024", "31.12.2024", "day")] == [True, True, False]

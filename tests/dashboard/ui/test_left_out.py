"""Every column of a table that is not used is named."""

from dashboard.storage.table_format import find_format
from dashboard.ui.table_columns import left_out


def test_each_column_has_its_reason():
    table = "day;note;t;*price*;y\n1st;;1,5;12.5;3,5\n2nd;n/a;2,5;13.5;4,5\n"
    assert left_out(find_format(table.encode())) == (
        "Left out: *day* (text, such as “1st”: add it under *From* to use it), *note* (no value), "
        "*\\*price\\** (a decimal point, such as in 12\\.5)."
    )


def test_nothing_is_said_where_all_are_used():
    assert left_out(find_format(b"x,y\n1,2\n")) == left_out(None) == ""

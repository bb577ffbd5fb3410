import pytest

from dashboard.records.request import Columns


def test_a_choice_of_columns_is_written_as_it_is_read():
    chosen = Columns.read("2,4:5")
    assert chosen == Columns(inputs=(2, 4), target=5)
    assert chosen.write() == "2,4:5"
    assert chosen.all == (2, 4, 5)


@pytest.mark.parametrize(
    "text", ["", "1", ":2", "1:", "0:1", "1:1", "1,1:2", "-1:1", "1:2\n", "٣:1", "12345:1"]
)
def test_anything_else_is_none(text):
    assert Columns.read(text) is None

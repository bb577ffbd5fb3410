import re

import pytest

from dashboard.storage.table_cells import Unit, find_unit, pattern, split


@pytest.mark.parametrize(
    ("cell", "number", "unit"),
    [
        ("27 %", "27", Unit("%", before=False)),
        ("27\u00a0%", "27", Unit("%", before=False)),
        ("-2.5°C", "-2.5", Unit("°C", before=False)),
        ("12 km/h", "12", Unit("km/h", before=False)),
        ("7 m²", "7", Unit("m²", before=False)),
        ("12,50 €", "12,50", Unit("€", before=False)),
        ("12 岁", "12", Unit("岁", before=False)),
        ("€ 12.50", "12.50", Unit("€", before=True)),
        ("-$1,200", "-1,200", Unit("$", before=True)),
        ("US$ 3", "3", Unit("US$", before=True)),
        ("CHF 1'200", "1'200", Unit("CHF", before=True)),
    ],
)
def test_a_number_is_parted_from_its_unit(cell, number, unit):
    assert split(cell) == (number, unit)


@pytest.mark.parametrize("cell", ["27", "Q1", "B-7", "12 Main Street", "x", "", "1e5 7"])
def test_what_has_no_unit_stays_as_it_is(cell):
    assert split(cell) == (cell, None)


def test_a_column_has_one_unit_or_none():
    number = re.compile(r"-?\d+(\.\d+)?").fullmatch
    assert find_unit(["5 kg", "7 kg", "soon"], number) == Unit("kg", before=False)
    for cells in (["5 kg", "7 g", "8 kg"], ["5 kg", "7", "8 kg"], ["1st", "2nd"], ["a", "b"], []):
        assert find_unit(cells, number) is None


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_the_unit_is_taken_from_bytes(encoding):
    def bare(cell, unit):
        found = pattern(unit, encoding).encode()
        return re.sub(found, rb"\1", cell.encode(encoding))

    assert bare(" -€\u00a012.50", Unit("€", before=True)).strip() == b"-12.50"
    assert bare("12,50\u00a0€ ", Unit("€", before=False)) == b"12,50"
    assert bare("12 km/h", Unit("kg", before=False)) == b"12 km/h"

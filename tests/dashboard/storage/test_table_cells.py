import re

import pytest

from dashboard.storage import table_cells

NUMBERS = {
    ".": ["7", "-7.5", "+.5", "7.", "2e-3", "1,536", "1,536.25", "12,345,678", "1 536", "1'536.5"],
    ",": ["7", "-7,5", "+,5", "7,", "2E3", "1.536", "1.536,25", "12.345.678", "1\u202f536,5"],
}
OTHERS = ["", "x", "1,53.6", "1536,000,1", "01,536,000", "0,536.0", "1,5,3", "1.2.3", "1e", "--1"]


@pytest.mark.parametrize("encoding", ["", "utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_numbers_are_read_with_their_mark_alone(decimal, encoding):
    pattern = table_cells.number(decimal, encoding)
    coded = "latin-1" if encoding == "cp1252" else "utf-8"

    def fits(cell):
        if not encoding:
            return re.fullmatch(pattern, cell, re.ASCII)
        return re.fullmatch(pattern.encode(), cell.encode(coded))

    known = [cell for cell in NUMBERS[decimal] if encoding != "cp1252" or cell.isascii()]
    assert all(map(fits, known))
    assert not any(map(fits, OTHERS))
    assert not fits("7,5" if decimal == "." else "7.5")


@pytest.mark.parametrize("cell", ["", "n/a", "K.A.", "#N/A", "–", "无", "Keine Angabe"])
def test_signs_of_nothing(cell):
    assert table_cells.is_missing(cell)
    coded = table_cells.missing("utf-8").encode()
    assert re.match(coded, f" {cell} ".encode(), re.IGNORECASE)
    assert not re.match(coded, b"7")


def test_signs_that_an_encoding_lacks_are_left_out():
    assert not re.match(table_cells.missing("cp1252").encode(), "无".encode())
    assert re.match(table_cells.missing("cp1252").encode(), "–".encode("cp1252"))

from __future__ import annotations

import io
import random
import time
from contextlib import suppress

import pytest
import torch

from attention_plugins.datasets.table import ROW_LIMIT, TableError, as_regression, read_columns


def read_table(source):
    return as_regression(read_columns(source))


def rows(text):
    return read_columns(text.encode()).values.tolist()


def refusal(data):
    with pytest.raises(TableError) as caught:
        read_table(data if isinstance(data, bytes) else data.encode())
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "3,4.5\n1,-2e1\n",
        "3;4.5\n1;-2e1\n",
        "3;4,5\n1;-2e1\n",
        "3\t4.5\n1\t-2e1\n",
        "3\t4,5\n1\t-20\n",
        "\ufeff3,4.5\r\n1,-20\r\n",
        "3,4.5\r1,-20\r",
        "\n\n 3 , 4.5\n\n  \n,\n+1.,-20",
        '"3","4.5"\n"1","-20"',
        "speed,distance\n3,4.5\n1,-20",
        "\ufeff speed ; distance \n3;4,5\n1;-20",
    ],
)
def test_separators_decimal_commas_headers_and_blank_lines(text):
    assert rows(text) == [[3.0, 4.5], [1.0, -20.0]]


def test_a_single_x_is_sorted_and_asked_about_evenly():
    data = read_table(b"x,y\n5,1\n-1,2\n2,3\n")
    assert data.x.tolist() == [[-1.0], [2.0], [5.0]]
    assert data.y.tolist() == [2.0, 3.0, 1.0]
    assert data.truth is None
    assert data.queries.shape == (100, 1)
    torch.testing.assert_close(
        data.queries.diff(dim=0), torch.full((99, 1), 6 / 99, dtype=torch.float64)
    )
    assert (data.queries[0], data.queries[-1]) == (-1, 5)


def test_the_last_column_is_y_and_many_inputs_are_their_own_queries():
    data = read_table(b"1,2,3\n5,4,7\n11,13,17\n")
    assert data.x.tolist() == [[1, 2], [5, 4], [11, 13]]
    assert data.y.tolist() == [3, 7, 17]
    assert torch.equal(data.queries, data.x)
    long = read_table("\n".join(f"{i},{i % 7},1" for i in range(1501)).encode())
    assert long.queries.shape == (1000, 2)
    assert (long.queries[0, 0], long.queries[-1, 0]) == (0, 1500)


def test_columns_have_names():
    assert read_columns(b"a,,c\n1,2,3").names == ("a", "x2", "c")
    assert read_columns(b"1,2,3").names == ("x1", "x2", "y")
    assert read_columns(b"1,2").names == ("x", "y")


def test_a_path_is_read_like_bytes(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"1,2\n3,4\n")
    for source in (path, str(path)):
        assert torch.equal(read_table(source).x, read_table(b"1,2\n3,4\n").x)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("", "the table is empty; need at least two rows of numbers"),
        ("\n \n\n", "the table is empty; need at least two rows of numbers"),
        (b"\xef\xbb\xbf", "the table is empty; need at least two rows of numbers"),
        ("x,y\n", "need 2 <= rows of numbers, got 0"),
        ("x,y\n1,2\n", "need 2 <= rows of numbers, got 1"),
        ("1,2\n", "need 2 <= rows of numbers, got 1"),
        (
            "1\n2\n",
            "need 2 to 33 columns (x, then y) separated by comma, semicolon or tab, "
            "got 1 in row 1",
        ),
        (
            "\n" + ",".join("7" * 34),
            "need 2 to 33 columns (x, then y) separated by comma, semicolon or tab, "
            "got 34 in row 2",
        ),
        ("x,y\n1,2\n\n3,four\n", "row 4 column 2 is 'four'; need a number such as 1.5"),
        ("1,two\n3,4\n", "row 1 column 2 is 'two'; need a number such as 1.5"),
        ("1,2\n1_0,4\n", "row 2 column 1 is '1_0'; need a number such as 1.5"),
        ("1,2\n٣,4\n", "row 2 column 1 is '٣'; need a number such as 1.5"),
        (
            "1;2\n1,000,000;4\n",
            "row 2 column 1 is '1,000,000'; need a number such as 1.5",
        ),
        ("1,2\nNaN,4\n", "row 2 column 1 is NaN; need a finite number there, or remove the row"),
        ("1,2\n3,-inf\n", "row 2 column 2 is -inf; need a finite number there, or remove the row"),
        ("nan,2\n3,4\n", "row 1 column 1 is nan; need a finite number there, or remove the row"),
        ("1,2\n3,1e999\n", "row 2 column 2 is 1e999; need at most 1e+100 in size"),
        ("1,2\n3,\n", "row 2 column 2 is empty; need a number there, or remove the row"),
        ("1,2\n3,4,5\n", "row 2 has 3 columns, the first has 2; need 2"),
        ("1,2,3\n4,5\n", "row 2 has 2 columns, the first has 3; need 3"),
        (
            "x,y\n7,2\n7,4\n",
            "column 'x' is 7 in every row; an input needs at least two different values",
        ),
        (
            "a,b,y\n1,0.5,2\n2,0.5,4\n",
            "column 'b' is 0.5 in every row; an input needs at least two different values",
        ),
        (
            b"1,2\n3,\xe9\n",
            "row 2 is not UTF-8 text (byte 0xE9); save the table as CSV UTF-8",
        ),
        (
            "1,2\n3,4\n".encode("utf-16"),
            "row 1 is not UTF-8 text (byte 0xFF); save the table as CSV UTF-8",
        ),
        (b"1,2\n\0\0,4\n", "row 2 holds binary data; need a text file of numbers"),
        ("1," + "2" * 100_000, "row 1 is longer than 100,000 characters; need a CSV"),
        (
            '1,"' + "2\n" * 39_000 + "2" * 99_000 + '"',
            "row 39001 is no CSV (field larger than field limit (131072)); "
            "is a quotation mark left open?",
        ),
    ],
)
def test_every_fault_is_one_sentence_that_names_its_place(data, sentence):
    assert refusal(data) == sentence


def test_junk_of_every_kind_raises_nothing_else():
    draw, accepted = random.Random(0), 0
    for _ in range(499):
        junk = bytes(draw.choices(b'1;,\t"\n\r.-e\0\xff\xc3 ab', k=draw.randrange(60)))
        with suppress(TableError):
            data = read_table(junk)
            assert torch.isfinite(data.x).all()
            accepted += 1
    assert accepted < 20


def table(count):
    return "".join(f"{i},{i % 13}\n" for i in range(count)).encode()


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr("attention_plugins.datasets.table.ROW_LIMIT", 20_000)


@pytest.mark.parametrize("tail", [b"7,7\n", b"7,7", b'"7",7\n', b"\n7,7\n"])
def test_the_row_limit_is_exact_with_and_without_a_header(few_rows, tail):
    assert read_columns(table(19_999) + tail).values.shape == (20_000, 2)
    assert read_columns(b"x,y\n" + table(19_999) + tail).values.shape == (20_000, 2)
    sentence = "more than 20,000 rows; take a sample of at most that many"
    assert refusal(table(20_000) + tail) == sentence
    assert refusal(b"x,y\n" + table(20_000) + tail) == sentence


def test_a_million_rows_are_read():
    rows = b"".join(b"%d.5,%de-3\n" % (i, i % 13) for i in range(1000)) * 1000
    found = read_columns(rows).values
    assert found.shape == (ROW_LIMIT, 2)
    assert found[-1].tolist() == [999.5, 11e-3]


def test_reading_stops_at_the_limit_however_long_the_table_is(tmp_path, few_rows):
    path = tmp_path / "long.csv"
    path.write_bytes(b"1.5,2.5\n" * 1_000_000)
    started = time.perf_counter()
    with pytest.raises(TableError, match="more than 20,000 rows"):
        read_table(path)
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize("row", [1, 2, 3, 4_001, 15_000])
@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (b"1,x\n", "row {} column 2 is 'x'; need a number such as 1.5"),
        (b"1,2,3\n", "row {} has 3 columns, the first has 2; need 2"),
        (b"1,\n", "row {} column 2 is empty; need a number there, or remove the row"),
        (b"1,1e101\n", "row {} column 2 is 1e101; need at most 1e+100 in size"),
        (b"1,\xe9\n", "row {} is not UTF-8 text (byte 0xE9); save the table as CSV UTF-8"),
    ],
)
def test_the_first_fault_is_named_wherever_it_is(row, fault, sentence):
    lines = [b"x,y\n", *(b"%d,%d\n" % (i, i) for i in range(15_500))]
    lines[row] = fault
    lines[15_300] = b"\xff"  # another one, later
    assert refusal(b"".join(lines)) == sentence.format(row + 1)


@pytest.mark.parametrize("odd", ['"1.5","2"', "", " 1.5 , 2 ", "+1.5,2.", ".5,1E1"])
def test_plain_rows_and_others_are_read_alike(odd):
    rows = [f"{i},{i / 8}" for i in range(9_000)]
    rows[6_000] = odd
    expected = [[float(c.strip('" ')) for c in row.split(",")] for row in rows if row]
    assert read_columns("\n".join(rows).encode()).values.tolist() == expected


@pytest.mark.parametrize("line", [b"1.5,2.5\n", b"\n", b"7,7", b'"'])
def test_little_of_a_huge_file_is_read(monkeypatch, few_rows, line):
    taken = 0

    class Watched(io.BytesIO):
        def read1(self, size=-1):
            nonlocal taken
            part = super().read1(size)
            taken += len(part)
            return part

    monkeypatch.setattr("attention_plugins.datasets.table.io.BytesIO", Watched)
    with pytest.raises(TableError):
        read_table(line * (8_000_000 // len(line)))
    assert 0 < taken < 400_000

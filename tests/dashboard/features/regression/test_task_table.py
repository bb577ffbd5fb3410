import math
import random
import time
from contextlib import suppress
from datetime import datetime, timedelta

import pytest
import torch

from dashboard.features.regression import task_problem
from dashboard.features.regression.task_problem import (
    ROW_LIMIT,
    Skipped,
    TableError,
    as_regression,
    read_table,
)


@pytest.fixture
def read(tmp_path):
    made = 0

    def read(data, columns=""):
        nonlocal made
        made += 1  # a file's content never changes
        path = tmp_path / f"{made}.csv"
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return read_table(path, columns)

    return read


@pytest.mark.parametrize(
    "text",
    [
        "3,4.5\n1,-2e1\n",
        "3;4.5\n1;-2e1\n",
        "3;4,5\n1;-2e1\n",
        "3\t4,5\n1\t-20\n",
        "\ufeff3,4.5\r\n1,-20\r\n",
        "3,4.5\r1,-20\r",
        "\n\n 3 , 4.5\n\n+1.,-20",
        '"3","4.5"\n"1","-20"',
        "speed,distance\n3,4.5\n1,-20",
        "\ufeff speed ; distance \n3;4,5\n1;-2e+1",
        "speed;distance\n3;4,5\n1;-20\n".encode("utf-16"),
        "Größe;y\n3;4,5\n1;-20\n".encode("latin-1"),
    ],
)
def test_separators_decimals_headers_and_encodings(read, text):
    found = read(text)
    assert found.values.tolist() == [[3.0, 4.5], [1.0, -20.0]]
    assert found.skipped == Skipped()


MESSY = """day;city;t;n;y
2025-01-01;Paris;1,5;10;3
2025-01-02;"Rome; old";n/a;20;4
2025-01-03;"two
lines";2,5;thirty;5
2025-01-04;Oslo;3,5;-;6
2025-01-05;Bonn;4,5
2025-01-06;Bern;5,5;NaN;1e999
2025-01-07;Lima;6,5;70;7
"""


def test_rows_without_a_number_are_skipped_and_counted_by_reason(read):
    table = read(MESSY)
    assert table.names == ("t", "n", "y")
    assert table.values.tolist() == [[1.5, 10, 3], [6.5, 70, 7]]
    assert table.skipped == Skipped(ragged=1, missing=3, text=1)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize(
    "text",
    ["x;y\n1.536,0;-2,5\n12;1.234.567\nk.A.;3\n–;4\n",
     "x;y\n1,536.0;-2.5\n12;1,234,567\n#N/A;3\n…;4\n",
     "x,y\n\"1,536.0\",-2.5\n12,\"1,234,567\"\nn.a.,3\n—,4\n",
     "x;y\n1\u00a0536,0;-2,5\n12;1 234 567\n--;3\nNULL;4\n",
     "x;y\n1’536.0;-2.5\n12;1'234'567\n?;3\nnd;4\n"],
    ids=["points", "commas", "quoted", "spaces", "apostrophes"],
)  # fmt: skip
def test_thousands_are_read_and_signs_of_nothing_are_missing(read, text, encoding):
    found = read(text.encode(encoding))
    assert found.values.tolist() == [[1536.0, -2.5], [12.0, 1234567.0]]
    assert found.skipped == Skipped(missing=2)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_dates_and_units_are_read_as_numbers(read, encoding):
    text = (
        "day;share;price;t\n31.01.2024 06:00;27 %;€ 1.200,50;3\n"
        "01.02.2024;31\u00a0%;-€\u00a07;4\nsoon;little;free;5\n"
    )
    table = read(text.encode(encoding), "1,2,3:4")
    assert table.names == ("day", "share", "price", "t")
    assert table.titles == ("day, days since 2024-01-31", "share, %", "price, €", "t")
    assert table.values.tolist() == [[0.25, 27, 1200.5, 3], [1, 31, -7, 4]]
    assert table.skipped == Skipped(text=1)


def test_titles_above_the_header_and_units_below_it_are_no_rows(read):
    table = read("Sales;\nBerlin;\n;\nx;y\n°C;mm\n1;2\n3;4\n")
    assert (table.names, table.values.tolist()) == (("x", "y"), [[1, 2], [3, 4]])
    assert table.skipped == Skipped(text=1)


@pytest.mark.parametrize("header", [True, False])
def test_rows_have_the_numbers_that_they_have_below_the_header(read, header, monkeypatch):
    """Counted are rows that are skipped, and those with other columns; blank lines are not."""
    monkeypatch.setattr(task_problem, "_BLOCK", 512)  # many blocks
    random.seed(1)
    lines, expected = ["a title", "x,y"] * header, []
    for number in range(1, 1_010):
        kind = random.choice(["used", "used", "used", "ragged", "missing", "blank"])
        if kind == "blank":
            lines.append("")
        if kind in ("used", "blank"):
            expected.append(number)
        lines.append({"ragged": "1,2,3", "missing": f",{number}"}.get(kind, f"{-number},{number}"))
    table = read("\n".join(lines))
    assert table.rows.tolist() == table.values[:, 1].tolist() == expected
    assert table.skipped.ragged > 100
    sorted_ = task_problem.ordered(table)
    assert sorted_.rows.tolist() == sorted_.values[:, 1].tolist() == expected[::-1]


def test_only_the_chosen_columns_count(read):
    table = read(MESSY, "5:3")
    assert table.names == ("y", "t")
    assert table.values.tolist() == [[3, 1.5], [5, 2.5], [6, 3.5], [7, 6.5]]
    assert table.skipped == Skipped(ragged=1, missing=1, text=1)


def test_a_single_x_is_sorted_and_asked_about_evenly(read):
    data = as_regression(read("x,y\n5,1\n-1,2\n2,3\n"))
    assert data.x.tolist() == [[-1.0], [2.0], [5.0]]
    assert data.y.tolist() == [2.0, 3.0, 1.0]
    assert data.truth is None
    assert data.queries.shape == (100, 1)
    torch.testing.assert_close(
        data.queries.diff(dim=0), torch.full((99, 1), 6 / 99, dtype=torch.float64)
    )


def test_many_inputs_are_their_own_queries(read):
    data = as_regression(read("1,2,3\n5,4,7\n11,13,17\n"))
    assert torch.equal(data.queries, data.x)
    long = as_regression(read("\n".join(f"{i},{i % 7},1" for i in range(1501))))
    assert long.queries.shape == (1000, 2)
    assert (long.queries[0, 0], long.queries[-1, 0]) == (0, 1500)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("x,y\n1,2\n", "need 2 rows or more with a number in each chosen column, got 1; 0 rows"),
        ("x,y\n1,2\n,4\n5,\n", "got 1; 2 rows were skipped"),
        ("x,y\n7,2\n7,4\n", "column 'x' is 7 in every row; an input needs at least two"),
        ("1,2\n3,4\n1," + "2" * 3_000_000, "is a row longer than 1,048,576 bytes"),
        ("1,2\n" * 9 + '1,"' + "2\n" * 1_500_000, "or a quotation mark left open"),
    ],
    ids=["one row", "skipped", "constant", "long row", "open quote"],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(read, data, sentence):
    with pytest.raises(TableError) as caught:
        as_regression(read(data))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_junk_of_every_kind_raises_nothing_else(read):
    draw, accepted = random.Random(0), 0
    for _ in range(199):
        junk = bytes(draw.choices(b'1;,\t"\n\r.-e\0\xff\xc3 ab', k=draw.randrange(60)))
        with suppress(TableError):
            data = as_regression(read(junk))
            assert torch.isfinite(data.x).all()
            accepted += 1
    assert accepted < 20


def test_the_row_limit_is_exact(read, monkeypatch):
    monkeypatch.setattr(task_problem, "ROW_LIMIT", 2_000)
    rows = "".join(f"{i},{i % 13}\n" for i in range(2_000))
    assert read("x,y\n" + rows).values.shape == (2_000, 2)
    with pytest.raises(TableError, match="more than 2,000 rows"):
        read(rows + "7,7\n")


def test_a_million_rows_are_read(read):
    rows = b"".join(b"%d.5,%de-3\n" % (i, i % 13) for i in range(1000)) * 1000
    started = time.perf_counter()
    found = read(rows).values
    assert time.perf_counter() - started < 60
    assert found.shape == (ROW_LIMIT, 2)
    assert found[-1].tolist() == [999.5, 11e-3]


CITIES = "t;city;y\n" + "".join(
    f"{n};{'ABBCCCDDDDEEEEEFFFFFFGGGGGGGHHHHHHHHIIIIIIIII'[n]};{n * n}\n" for n in range(45)
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_the_most_frequent_texts_are_columns_of_0_and_1(read, encoding):
    text = CITIES.replace("H", "Köln").replace("A", "rare").replace("B", " B ") + "9;–;8\n9;B\n"
    table = read(text.encode(encoding), "1,2:3")
    assert table.names == (
        "t", *(f"city = {one}" for one in ["I", "Köln", "G", "F", "E", "D", "C", "B"]), "y",
    )  # fmt: skip
    assert table.titles == table.names
    assert table.values[:, 1:-1].sum(dim=0).tolist() == [9, 8, 7, 6, 5, 4, 3, 2]
    assert table.values[:, 1:-1].sum(dim=1).tolist() == [0, *[1] * 44], "the rarest is in none"
    assert table.values[:, [0, -1]].tolist() == [[n, n * n] for n in range(45)]
    assert table.skipped == Skipped(ragged=1, missing=1)
    assert as_regression(table).x.shape == (45, 9)


def test_text_is_no_target(read):
    with pytest.raises(TableError, match="column 2 of the table is not one of numbers"):
        read(CITIES, "1:2")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_parts_of_dates_are_numbers_and_cycles(read, encoding):
    """Against the standard library's calendar; what never changes is left out."""
    start = datetime(2023, 11, 5, 6)
    moments = [start + timedelta(days=13 * n, hours=5 * n) for n in range(31)]
    text = "when;y\n" + "".join(f"{one:%d.%m.%Y %H:%M};{n}\n" for n, one in enumerate(moments))
    table = read((text + "soon;3\n").encode(encoding), "-1:2")
    expected = {"year": [one.year for one in moments]}
    for name, share in {
        "month": lambda one: (one.month - 1) / 12, "day of week": lambda one: one.weekday() / 7,
        "hour": lambda one: (one.hour + one.minute / 60) / 24,
    }.items():  # fmt: skip
        for word, wave in {"sine": math.sin, "cosine": math.cos}.items():
            expected[f"{name}, {word}"] = [wave(2 * math.pi * share(one)) for one in moments]
    assert table.names == (*(f"when: {name}" for name in expected), "y")
    found = dict(zip(expected, table.values.T.tolist(), strict=False))
    assert found == {name: pytest.approx(values, abs=1e-9) for name, values in expected.items()}
    assert table.skipped == Skipped(text=1)
    few = read("day;t;y\n2024-05-06;5;3\n2024-05-13;6;5\n2024-06-03;8;2\n", "1,-1,2:3")
    assert few.names == ("day", "day: month, sine", "day: month, cosine", "t", "y")
    assert few.values[:, 0].tolist() == [0, 7, 28]
    with pytest.raises(TableError, match="column -2 of the table is not one of numbers"):
        read("day;t;y\n2024-05-06;5;3\n2024-05-13;6;5\n", "-2:3")


NEW = "city,extra,day,share,t\n" + "".join(
    f"{city},x,0{n}/02/2024,{n} %,{n}\n" for n, city in enumerate("BZAB", 1)
)


@pytest.fixture
def read_new(tmp_path):
    def read_new(table, new, columns=""):
        paths = tmp_path / "table.csv", tmp_path / f"{len(new)}.csv"
        for path, text in zip(paths, (table, new), strict=True):
            path.write_text(text)
        return task_problem.read_rows(paths[1], paths[0], columns)

    return read_new


OLD = "t;city;share;day;y\n" + "".join(
    f"{n},5;{city};{n} %;2024-01-{n:02};{n}\n" for n, city in enumerate("AABBBCC", 1)
)


def test_new_rows_are_read_as_the_table_by_the_names_of_its_columns(read_new):
    """Other order, separator, decimals and way of dates; a text that is not known is none."""
    table, unknown = read_new(OLD, NEW + "C,x,05/02/2024,,5\n", "1,2,3,4,-4:5")
    assert table.names == (
        "t", "city = B", "city = A", "city = C", "share", "day", "day: day of week, sine",
        "day: day of week, cosine",
    )  # fmt: skip
    assert table.values[:, :6].tolist() == [
        [1, 1, 0, 0, 1, 31], [2, 0, 0, 0, 2, 32], [3, 0, 1, 0, 3, 33], [4, 1, 0, 0, 4, 34],
    ]  # fmt: skip
    assert table.values[0, 6].item() == pytest.approx(math.sin(2 * math.pi * 3 / 7)), "Thursday"
    assert (unknown, table.skipped) == ({"city": 1}, Skipped(missing=1))
    assert table.rows.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("new", "columns", "sentence"),
    [
        ("t;day\n1;2024-01-01\n", "1,3:5", "table; missing: share; found: t, day"),
        ("city\nA\n", "1,2,3,4,-4:5", "table; missing: t, share, day; found: city"),
        ("t\nmany\nfew\n", "1:5", "column 't' of the new rows cannot be read as in the table"),
        ("share\n1\n2\n", "3:5", "as in the table: need share, %"),
        ("day\n1\n2\n", "-4:5", "need day, days since 2024-01-01"),
        ("t\n1\n\n", "5:1", "missing: y; found: t"),
        ("t;city\n1;–\n2;\n", "1,2:5", "no row has a value in each column; 2 were skipped"),
        ("t", "1:5", "cannot be read as in the table"),
        ("", "1:5", "the table is empty"),
    ],
)
def test_new_rows_that_cannot_be_read_name_the_column(read_new, new, columns, sentence):
    with pytest.raises(TableError) as caught:
        read_new(OLD, new, columns)
    assert sentence in str(caught.value)


def test_new_rows_may_have_a_single_column(read_new):
    table, unknown = read_new(OLD, "t\n7\n8.5\n", "1:5")
    assert (table.values.tolist(), unknown) == ([[7], [8.5]], {})

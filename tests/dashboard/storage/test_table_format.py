import pytest

from dashboard.storage.table_format import MOST_INPUTS, LeftOut, TableError, find_format


def found(text, encoding="utf-8"):
    return find_format(text.encode(encoding))


@pytest.mark.parametrize(
    ("text", "delimiter", "decimal"),
    [
        ("3,4.5\n1,-2e1\n", ",", "."),
        ("3;4.5\n1;-2e1\n", ";", "."),
        ("3;4,5\n1;-2e1\n", ";", ","),
        ("3\t4,5\n1\t-20\n", "\t", ","),
        ("3|4.5\n1|-20\n", "|", "."),
        ("1,5;2,5\n3,5;4,5\n", ";", ","),
        ('a,b,note\n1,2,"x; y"\n3,4,"z; z"\n', ",", "."),
        ("name\tx\ty\nSmith, J.\t1,5\t2\nJones, K.\t2,5\t3\n", "\t", ","),
        ("sep=;\nx;y\n1,5;2\n2,5;3\n", ";", ","),
        ("x;y\r1;2\r3;4\r", ";", "."),
        ("1.536,0;3\n2.480,5;4\n", ";", ","),
        ("1,536.0;3\n2,480.5;4\n", ";", "."),
        ('"1,536.0",3\n"2,480.5",4\n', ",", "."),
        ('"1.536,0",3\n"2.480,5",4\n', ",", ","),
        ("1 536,0\t3\n2\u202f480,5\t4\n", "\t", ","),
        ("1'536.0;3\n2'480.5;4\n", ";", "."),
        ("1,536;3\n2,480;4\n", ";", ","),
        ('"1,536",3\n"2,480",4\n', ",", "."),
        ("1,536;2.5\n2,480;3.5\n", ";", "."),
        ("0,536;2\n0,480;3\n", ";", ","),
    ],
)
def test_separators_and_decimals_are_found(text, delimiter, decimal):
    form = found(text)
    assert (form.delimiter, form.decimal) == (delimiter, decimal)


@pytest.mark.parametrize(
    ("text", "header", "names"),
    [
        ("a,,c\n1,2,3\n", True, ("a", "column 2", "c")),
        ("1,2,3\n4,5,6\n", False, ("column 1", "column 2", "column 3")),
        ('"speed, km/h"," y "\n1,2\n', True, ("speed, km/h", "y")),
        ("x,x,y\n1,2,3\n", True, ("x, column 1", "x, column 2", "y")),
        ("name,1,2\nBob,3,4\n", False, ("column 1", "column 2", "column 3")),
        ("a" * 99 + ",b\n1,2\n", True, ("a" * 40, "b")),
        ("Sales of 2025\n\nx,y\n1,2\n3,4\n", 1, ("x", "y")),
        ("Sales;\nBerlin;\n;\nx;y\n1;2\n3;4\n", 4, ("x", "y")),
        ("x;y\n°C;mm\n1;2\n3;4\n", 1, ("x", "y")),
        ("2024-01-31,a,1\n2024-02-01,b,2\n", 0, ("column 1", "column 2", "column 3")),
        ("a,b,c\n" + "x,y,z\n" * 9 + "1,2,3\n" * 10, 1, ("a", "b", "c")),
    ],
)
def test_a_header_names_the_columns(text, header, names):
    form = found(text)
    assert (form.header, form.names) == (header, names)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"])
def test_names_are_read_in_the_encodings_of_spreadsheets(encoding):
    assert found("Größe;Höhe\n1;2\n3;4\n", encoding).names == ("Größe", "Höhe")


def test_columns_of_numbers_are_those_where_most_values_are_numbers():
    rows = ["1st,Paris,12.5,n/a,1", "2nd,Rome,NA,3,x", "3rd,7,-,4,y"]
    form = found("\n".join(["day,city,t,n,code", *rows]))
    assert form.numeric == (3, 4)
    assert form.usual().write() == "3:4"


def test_a_column_half_of_numbers_is_none_and_its_example_is_short():
    form = found("x;y;z\n1;1;1\n2;2;" + "a" * 99 + "\n3;3;b\n4;4;4\n5;5;5\n6;c;d\n")
    assert form.numeric == (1, 2)
    assert form.left_out == (LeftOut(3, "text", "a" * 20),)


def test_every_other_column_is_named_with_its_reason():
    rows = ["1st;;1,5;12.5;k.A.;10,5", "2nd;n/a;2,5;13.5;3;11"]
    form = found("\n".join(["day;note;t;price;n;y", *rows]))
    assert form.numeric == (3, 5, 6)
    assert form.left_out == ((1, "text", "1st"), (2, "empty", ""), (4, "point", "12.5"))
    (left,) = found("x;city;y\n1;Llanfairpwllgwyngyllgogerych;2\n").left_out
    assert left == (2, "text", "Llanfairpwllgwyngyll")
    (left,) = found("x;a;y\n1.5;2,5;2\n").left_out
    assert left == (2, "comma", "2,5")
    (left,) = found(f"x;a;y\n1.5;2,{'5' * 30};2\n").left_out
    assert left == (2, "comma", f"2,{'5' * 18}")


UNITS = "day;share;price;t\n31.01.2024;27 %;€ 1.200,50;3\n01.02.2024;31 %;-€ 7;4\n"


def test_dates_and_numbers_with_a_unit_are_numbers_and_their_titles_say_so():
    form = found(UNITS)
    assert (form.decimal, form.numeric, form.left_out) == (",", (1, 2, 3, 4), ())
    titles = [form.title(column) for column in form.numeric]
    assert titles == ["day, days since 2024-01-31", "share, %", "price, €", "t"]
    assert form.name(1) == "day"


def test_a_link_without_columns_means_those_of_plain_numbers_as_it_did():
    assert found("day,x,y\n2024-01-31,1,2\n2024-02-01,3,4\n").usual().write() == "2:3"
    assert found(UNITS).usual().write() == "1,2,3:4"


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (["x,y,z", "5,1,7", "6,9,8"], "1:3"),
        (["n,x,y,k", "1,5,1,7", "2,6,9,7"], "2:3"),
        (["day,x,n", "2024-01-31,5,1", "2024-02-01,6,2"], "1:2"),
        (["x,day", "5,2024-01-31", "6,2024-02-01"], "2:1"),
        (["n,y", "0,5", "1,9"], "1:2"),
        (["k,y", "7,5", "7,9"], "1:2"),
        (["year,y", "2023,5", "2024,9"], "1:2"),
        (["a,b", "1,1", "2,2"], "1:2"),
        (["a,b", "7,7", "7,7"], "1:2"),
    ],
)
def test_columns_that_make_sense_together_are_suggested(rows, columns):
    assert found("\n".join(rows)).suggested.write() == columns


def test_the_last_column_of_numbers_is_predicted_from_at_most_so_many():
    row = ",".join(map(str, range(50)))
    usual = found(f"{row}\n{row}\n").usual()
    assert (usual.inputs, usual.target) == (tuple(range(1, MOST_INPUTS + 1)), 50)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the table is empty"),
        (b"\xef\xbb\xbf \n\n", "the table is empty"),
        (b"1\n2\n", "need two columns of numbers, dates .* found 0"),
        (b"a,b\nc,d\n", "need two columns of numbers, dates .* found 0"),
        (b"name,x\nBob,1\n", "found 1 in the first lines"),
        (b"x,y\n", "found 0 in the first lines"),
        (b"\x89PNG\r\n\x1a\n\0\0", "binary data"),
        (b"1,2,3\n".join([b""] * 9) + b"1," * 70_000, None),
        (b"1," * 70_000, "the first line is longer than 65,536 bytes"),
    ],
)
def test_what_cannot_be_a_table_is_refused_in_a_sentence(data, sentence):
    if sentence is None:
        assert find_format(data).numeric == (1, 2, 3)
        return
    with pytest.raises(TableError, match=sentence) as caught:
        find_format(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [("1:9", "column 9 of the table is not one of numbers"), ("1,2:2", "need numbers of columns")],
)
def test_columns_that_the_table_does_not_have_are_named(columns, sentence):
    with pytest.raises(TableError, match=sentence):
        found("1,2\n3,4\n").choose(columns)


def test_as_many_inputs_may_be_chosen_as_are_taken():
    form = found("\n".join(",".join(f"{n + row}" for n in range(40)) for row in range(3)))
    for most in (MOST_INPUTS, MOST_INPUTS + 1):
        text = f"{','.join(map(str, range(1, most + 1)))}:40"
        if most == MOST_INPUTS:
            assert len(form.choose(text).inputs) == most
        else:
            with pytest.raises(TableError, match="need at most 32 inputs, got 33"):
                form.choose(text)

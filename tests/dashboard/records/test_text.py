import pytest

from dashboard.records.text import (
    LONGEST_FORMULA,
    LONGEST_LINE,
    can_be_set,
    lines,
    not_installed,
    one_line,
    plain,
    shown,
    told_apart,
    with_unit,
    without_folders,
)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("", ""), (" a \r\nb\n\n", "a \nb"), ("a\tb\x00c\u202ed", "a b c d"), ("a\u2028b", "a\nb"),
        ("\ud800x", "x"), ("é œ", "é œ"),
    ],
)  # fmt: skip
def test_lines_hold_nothing_invisible_but_their_breaks(text, seen):
    assert lines(text) == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("cannot write /srv/my.data-1/runs/a.db: full", "cannot write …/a.db: full"),
        ("File \"/home/ada/lab/kernel.py\", line 7", "File \"…/kernel.py\", line 7"),
        ("[Errno 2] No such file: '/data/blobs/00ff'", "[Errno 2] No such file: '…/00ff'"),
        (r"no C:\Users\ada\lab\a.csv here", "no …/a.csv here"),
        ("1/2 of a/b/c at https://lab.example/a/b/c", "1/2 of a/b/c at https://lab.example/a/b/c"),
        ("", ""),
    ],
)  # fmt: skip
def test_of_a_path_on_this_machine_only_the_files_name_stays(text, seen):
    assert without_folders(text) == seen


def test_a_value_that_is_shown_is_short_and_says_where_it_was_cut():
    assert shown("a" * 40) == f"‘{'a' * 40}’"
    assert shown("a" * 41) == f"‘{'a' * 40}…’"
    assert shown("a\u202eb") == "‘a·b’"


def test_one_line_is_cut_and_has_nothing_invisible():
    assert one_line(" a\nb\u202e ") == "a b"
    assert one_line("x" * (LONGEST_LINE + 1)) == "x" * LONGEST_LINE
    assert lines("ab\ncd", 4) == "ab\nc"
    assert lines("a\r\nb", 3) == "a"  # as long as a link has it


@pytest.mark.parametrize(
    "latex", ["q^\\top k", "\\rule{9em}{1em}", "x" * LONGEST_FORMULA, "10", "99 pt"]
)
def test_a_usual_formula_can_be_set(latex):
    assert can_be_set(latex)


@pytest.mark.parametrize(
    "latex",
    ["a$b", "a`b", "\\def\\x{}", "\\xdef\\x{}", "\\renewcommand{}", "\\newcommand{}", "\\let\\a",
     "\\rule{10em}{1em}", "\\hskip 100px", "\\kern100.5pt", "x" * (LONGEST_FORMULA + 1)],
)  # fmt: skip
def test_a_formula_that_would_leave_its_place_cannot(latex):
    assert not can_be_set(latex)


def test_titles_that_several_have_are_told_apart_by_the_name():
    assert told_apart({"a": "One", "b": "Two", "c": "One"}) == {
        "a": "One (a)", "b": "Two", "c": "One (c)"
    }  # fmt: skip


def test_words_for_markdown_stand_in_one_line_and_link_nowhere():
    assert plain("a\n *b*  c") == "a \\*b\\* c"
    for address in ("https://a.b", "www.a.b", "WWW.a.b", "a@b.c"):
        assert "\u2060" in plain(address)


@pytest.mark.parametrize(
    ("unit", "said"), [("words", "90 words"), ("%", "90%"), ("", "90")], ids=["word", "%", "none"]
)
def test_a_number_has_its_unit(unit: str, said: str) -> None:
    assert with_unit("90", unit) == said


@pytest.mark.usefixtures("chinese")
def test_what_is_not_installed_is_said_in_the_language_of_the_page():
    assert "Normaliser" not in not_installed("Normaliser", "entmax")

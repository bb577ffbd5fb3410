"""Finished texts put together."""

import pytest

from dashboard.language import called, ended, gettext_noop, listed, together, translated


def test_english_has_commas_and_spaces():
    assert listed(each for each in "abc") == "a, b, c"
    assert listed(["a, b", "c"], clauses=True) == "a, b; c"
    assert listed([]) == ""
    assert together(["One.", "", "Two."]) == "One. Two."
    assert together([]) == together([""]) == ""
    assert ended("so it is") == "so it is."
    assert ended("So it is.") == "So it is."


@pytest.mark.usefixtures("chinese")
def test_chinese_has_signs_of_its_own():
    assert listed(["a", "b", "c"]) == "a、b、c"
    assert listed(["a、b", "c"], clauses=True) == "a、b；c"
    assert together(["一。", "", "二。"]) == "一。二。"
    assert ended("是") == "是。"
    assert ended("是。") == "是。"


@pytest.mark.usefixtures("chinese")
def test_a_name_of_a_visitor_is_no_word_of_ours():
    assert translated("target") == "目标句"
    assert called("target") == "target"
    assert called(gettext_noop("column {place}", place=3)) == "第 3 列"


def test_braces_in_what_is_joined_stay():
    assert listed(["{a}", "b"]) == "{a}, b"

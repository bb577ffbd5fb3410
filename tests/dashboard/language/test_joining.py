"""Texts in a row."""

from dashboard import language
from dashboard.language.joining import listed, sentences


def test_texts_are_listed_with_commas():
    assert listed(name for name in ("a", "b", "c")) == "a, b, c"
    assert listed(["a"]) == "a"
    assert listed([]) == ""


def test_sentences_follow_each_other_and_empty_ones_are_left_out():
    assert sentences("One.", "", "Two.", "Three.") == "One. Two. Three."
    assert sentences("", "") == ""


def test_chinese_has_its_own_comma_and_no_space(monkeypatch):
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    assert listed(["甲", "乙", "丙"]) == "甲，乙，丙"
    assert sentences("一。", "二。") == "一。二。"

"""Lists and sentences, joined as a language joins them."""

import pytest

from dashboard import language
from dashboard.language.joining import listed, sentences


@pytest.fixture
def chinese(monkeypatch):
    monkeypatch.setattr(language, "_spoken", lambda: "zh")


def test_english_puts_a_space_between():
    assert listed(["4 done", "1 running", "1 missing"]) == "4 done, 1 running, 1 missing"
    assert sentences(["One.", "Two."]) == "One. Two."
    assert listed([]) == sentences([]) == ""
    assert listed(["one"]) == sentences(["one"]) == "one"


@pytest.mark.usefixtures("chinese")
def test_chinese_puts_none():
    assert listed(["甲", "乙", "丙"]) == "甲，乙，丙"
    assert sentences(["甲。", "乙。"]) == "甲。乙。"

"""Translations that plugins bring of their own texts."""

import pytest

from attention_plugins import ContractError, TranslationSpec
from attention_plugins.checking import check
from attention_plugins.contract.records import LONGEST_TEXT, MOST_TEXTS


def made(**changed):
    given = {"name": "mine_zh", "title": "Mine, 中文", "language": "zh", "texts": {"Mine": "我的"}}
    return TranslationSpec(**{**given, **changed})


def test_a_record_that_is_right_passes_every_rule():
    assert [found for found in check("translations", made()) if not found.passed] == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": "Mine"}, "name"),
        ({"title": 3}, "title"),
        ({"language": "Chinese"}, "need language to be a code of ISO 639 such as 'zh'"),
        ({"language": ""}, "need language to be a code"),
        ({"language": "zh-TW"}, "need language to be a code"),
        ({"texts": [("Mine", "我的")]}, "texts is a mapping of at most 2,000"),
        ({"texts": {str(n): "x" for n in range(MOST_TEXTS + 1)}}, "at most 2,000"),
        ({"texts": {"Mine": 3}}, "str of 1 to 2,000 characters, got 3"),
        ({"texts": {"Mine": ""}}, "str of 1 to 2,000 characters, got ''"),
        ({"texts": {"": "我的"}}, "str of 1 to 2,000 characters, got ''"),
        ({"texts": {"Mine": "x" * (LONGEST_TEXT + 1)}}, "str of 1 to 2,000 characters"),
    ],
)
def test_what_is_wrong_is_said_when_it_is_made(changed, message):
    with pytest.raises(ContractError, match=message):
        made(**changed)


def test_as_many_and_as_long_as_allowed():
    texts = {str(n): "x" for n in range(MOST_TEXTS - 1)} | {"long": "x" * LONGEST_TEXT}
    assert made(texts=texts).texts == texts
    assert made(language="yue").language == "yue"


@pytest.mark.parametrize(
    ("changed", "rule", "said"),
    [
        ({"title": " "}, "check_there_are_texts", "the title is blank"),
        ({"texts": {}}, "check_there_are_texts", "there is no text"),
        ({"texts": {"Mine": " "}}, "check_every_text_says_something", "'Mine' is blank"),
        ({"texts": {"Mine": "我的 "}}, "check_every_text_says_something", "has spaces around it"),
    ],
)
def test_each_rule_finds_its_fault(changed, rule, said):
    (fault,) = [found for found in check("translations", made(**changed)) if not found.passed]
    assert said in fault.message
    assert fault.rule == rule.removeprefix("check_")

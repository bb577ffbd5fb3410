"""Values in a Chinese sentence stand apart from it where they are not Chinese."""

import pytest

from dashboard.language.message import filled


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("{what}有问题", "高斯核", "高斯核有问题"),
        ("{what} 有问题", "高斯核", "高斯核有问题"),
        ("{what}有问题", "alibi", "alibi 有问题"),
        ("{what} 有问题", "alibi", "alibi 有问题"),
        ("没有{what}", "alibi", "没有 alibi"),
        ("没有 {what}", "头", "没有头"),
        ("没有“{what}”", "alibi", "没有“alibi”"),
        ("第{what:,}步", 1200, "第 1,200 步"),
        ("得到 {what}", "（无）", "得到 （无）"),
        ("得到 {what}", "我 是", "得到我 是"),
        ("得到 {what}", "", "得到 "),
        ("{{{what}}} 的{what}", "头", "{头} 的头"),
        ("没有 {what}", " x", "没有  x"),
    ],
)
def test_a_space_stands_between_chinese_and_other_words_alone(text, value, said):
    assert filled(text, {"what": value}) == said


def test_values_that_meet_keep_the_space_that_they_need():
    assert filled("{one}{two}", {"one": "第 2 头", "two": "alibi"}) == "第 2 头 alibi"
    assert filled("{one} {two}", {"one": "头", "two": "键"}) == "头键"

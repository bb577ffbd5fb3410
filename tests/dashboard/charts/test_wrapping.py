"""Paragraphs broken into lines."""

from dashboard.charts.labels import wrapped


def test_words_stay_whole_and_addresses_do_not():
    assert wrapped("one two three", 8, 40) == ["one two", "three"]
    assert wrapped("see http://one.example/two", 40, 10) == ["see http://one .example/t wo"]


def test_chinese_characters_take_the_room_of_two_letters():
    lines = wrapped("注意力汇聚 attention 的权重之和为一。再见。", 12, 40)
    assert lines == ["注意力汇聚", "attention 的", "权重之和为", "一。再见。"]


def test_no_line_begins_with_a_sign_that_closes():
    assert wrapped("一二三，四", 6, 40) == ["一二", "三，四"]
    assert wrapped("", 6, 40) == []


def test_only_an_address_is_broken_within_a_word_and_no_line_is_empty():
    assert wrapped("ä" * 30, 40, 10) == ["ä" * 30]
    assert wrapped("x" * 30, 40, 10) == [" ".join(["x" * 10] * 3)]
    assert wrapped("中文", 1, 10) == ["中", "文"]

"""Beginnings: Phrasebook's English sentences in two parts."""

from collections import defaultdict

from attention_plugins.datasets.parallel import whole
from attention_plugins.datasets.phrasebook import BEGINNINGS, beginnings, phrasebook
from attention_plugins.text import tokenise_clitics


def test_every_sentence_of_two_words_is_cut_after_the_first_and_twice_more():
    cuts = defaultdict(list)
    for pair in beginnings():
        cuts[whole(pair)].append(len(pair.source.split(" ")))
    sentences = [pair.source for pair in phrasebook() if " " in pair.source]
    assert list(cuts) == sentences
    for sentence, places in cuts.items():
        words = len(sentence.split(" "))
        assert places[0] == 1
        assert len(places) == min(3, words - 1)
        assert places == sorted(set(places))
        assert places[-1] < words


def test_the_places_are_always_the_same_and_not_all_alike():
    first = [pair.source for pair in beginnings()[:6]]
    assert first == [
        "It's", "It's possible to buy this", "It's possible to buy this old",
        "His", "His gift", "His gift is",
    ]  # fmt: skip


def test_a_cut_falls_between_tokens():
    for pair in beginnings()[:3000]:
        parts = tokenise_clitics(pair.source), tokenise_clitics(pair.target)
        assert [*parts[0], *parts[1]] == tokenise_clitics(whole(pair))


def test_so_many_come_as_were_asked_for():
    (count,) = BEGINNINGS.parameters
    assert len(BEGINNINGS.load({"pairs": 500}, 0)) == 500
    assert len(beginnings()) >= count.bounds[1]
    assert BEGINNINGS.load({"pairs": 500}, 1) == BEGINNINGS.load({"pairs": 500}, 0)

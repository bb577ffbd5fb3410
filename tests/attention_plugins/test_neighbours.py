import functools
import itertools
import random

import pytest

from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.evaluation import Neighbour, apart, edit_distance, nearest

LETTERS = "abcd"


def edits(tokens):
    """Every sentence that one token inserted, deleted or replaced makes of this one."""
    for place in range(len(tokens) + 1):
        before, after = tokens[:place], tokens[place:]
        yield from ((*before, letter, *after) for letter in LETTERS)
        if after:
            yield (*before, *after[1:])
            yield from ((*before, letter, *after[1:]) for letter in LETTERS)


@functools.cache
def recursive_distance(one, other):
    """By the definition: the last tokens are matched, or one of them is inserted or deleted."""
    if not one or not other:
        return len(one) + len(other)
    return min(
        recursive_distance(one[:-1], other[:-1]) + (one[-1] != other[-1]),
        recursive_distance(one[:-1], other) + 1,
        recursive_distance(one, other[:-1]) + 1,
    )


def sentences(count, seed, longest=7):
    draw = random.Random(seed)
    return [tuple(draw.choices(LETTERS, k=draw.randint(1, longest))) for _ in range(count)]


def pairs(rows):
    return [SentencePair(" ".join(row), f"translation {n}") for n, row in enumerate(rows)]


def test_the_edit_distance_is_that_of_its_definition():
    for one, other in itertools.product(sentences(37, 1), sentences(29, 2)):
        assert edit_distance(one, other) == recursive_distance(one, other)
    assert edit_distance((), ("a", "b", "c")) == 3
    assert edit_distance("i see a cat".split(), "i saw a black cat".split()) == 2


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_is_found_by_looking_at_few(seed):
    learned, asked = sentences(211, seed), sentences(53, seed + 100, 11)
    found = nearest([" ".join(one) for one in asked], pairs(learned), str.split)
    assert len(found) == len(set(asked))
    for one in asked:
        pair, distance = found[" ".join(one)]
        assert distance == min(recursive_distance(one, other) for other in learned)
        assert recursive_distance(one, tuple(pair.source.split())) == distance


@pytest.mark.parametrize("seed", range(3))
def test_near_is_one_token_inserted_deleted_or_replaced(seed):
    learned, asked = sentences(97, seed, 6), sentences(83, seed + 50, 6)
    found = nearest([" ".join(one) for one in asked], pairs(learned), str.split)
    near = {one for one in asked if found[" ".join(one)].is_near}
    known = set(learned)
    assert near == {one for one in asked if one in known or not known.isdisjoint(edits(one))}
    assert 0 < len(near) < len(set(asked))


def test_of_equally_near_ones_the_one_that_shares_more_then_the_first_counts():
    def translation(sentence, *learned):
        found = nearest([sentence], [SentencePair(*pair) for pair in learned], str.split)
        return found[sentence].pair.target

    assert edit_distance("ab", "xy") == edit_distance("ab", "ba") == 2
    assert translation("a b", ("x y", "replaced"), ("b a", "turned round")) == "turned round"
    assert edit_distance("abc", "cba") == edit_distance("abc", "acx") == 2
    assert translation("a b c", ("a c x", "shares two"), ("c b a", "all three")) == "all three"
    assert edit_distance("aacd", "axcy") == edit_distance("aacd", "aazc") == 2
    assert translation("a a c d", ("a x c y", "two"), ("a a z c", "a twice")) == "a twice"
    assert edit_distance("abc", "abx") == edit_distance("abc", "ybc") == 1
    assert translation("a b c", ("a b x", "first"), ("y b c", "second")) == "first"
    assert translation("a b c", ("y b c", "second"), ("a b x", "first")) == "second"
    assert translation("a", ("a", "its first"), ("a", "its second")) == "its first"


def test_nothing_learned_is_refused():
    with pytest.raises(ContractError, match="need at least one training pair to be near to"):
        nearest(["a"], [], str.split)


def test_scores_apart_are_of_the_sentences_that_they_name():
    near, far = (Neighbour(SentencePair("x", f"copy {d}"), d) for d in (1, 2))
    neighbours = {"a": near, "b": far, "c": near, "d": far._replace(distance=0)}
    translations, wanted = ["A", "B", "C", "D"], [["1"], ["2", "3"], ["4"], ["5"]]

    def seen(said, right):
        return {"said": said, "right": right}

    found = apart("abcd", translations, wanted, neighbours, seen)
    assert found == {
        "near": seen(["A", "C", "D"], [["1"], ["4"], ["5"]]),
        "far": seen(["B"], [["2", "3"]]),
        "copied": seen(["copy 1", "copy 2", "copy 1", "copy 2"], wanted),
    }
    assert list(apart("ac", ["A", "C"], [["1"], ["4"]], neighbours, seen)) == ["near", "copied"]

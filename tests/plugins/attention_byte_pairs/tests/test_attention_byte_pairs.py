"""Merges by hand, and every rule of the conformance kit."""

import attention_byte_pairs
import pytest
from attention_byte_pairs import BytePairs, learn

from attention_plugins.checking.pytest import cases

(SPEC,) = attention_byte_pairs.attention_tokenisers()


@pytest.mark.parametrize("rule", cases("tokenisers", SPEC))
def test_it_holds_everywhere(rule):
    rule()


def test_the_most_frequent_pair_is_merged_first():
    """Counts: b c 3, ▁a b 2, ▁b c 1 and so on."""
    assert learn(["abc abc xbc"]).splitlines()[:2] == ["b c", "▁a bc"]
    assert BytePairs("b c\n▁a bc").tokenise("ABC xbcd") == ["▁abc", "▁x", "bc", "d"]

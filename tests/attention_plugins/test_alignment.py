"""Alignment error rate by a case worked out by hand, and links read off weights."""

from math import isnan

import pytest
import torch

from attention_plugins.gold import Agreement, compare, strongest_links


def test_the_error_rate_of_a_case_by_hand():
    """Four links found; of three sure ones two are found, one more is possible, one is wrong."""
    sure, possible = {(0, 0), (1, 1), (2, 3)}, {(2, 2)}
    agreement = compare({(0, 0), (1, 1), (2, 2), (4, 4)}, sure, possible)
    assert agreement == Agreement(found=4, sure=3, found_sure=2, found_possible=3)
    assert agreement.error_rate == pytest.approx(1 - (2 + 3) / (4 + 3))
    assert agreement.precision == pytest.approx(3 / 4)
    assert agreement.recall == pytest.approx(2 / 3)


def test_a_perfect_alignment_has_no_error_and_a_wrong_one_nothing_else():
    links = {(0, 1), (2, 0)}
    assert compare(links, links).error_rate == 0
    assert compare({(5, 5)}, links).error_rate == 1
    assert compare((), ()).error_rate == 0
    assert isnan(compare((), links).precision)
    assert isnan(compare(links, ()).recall)


def test_sentences_are_counted_together_not_averaged():
    long = compare({(i, i) for i in range(7)}, {(i, i) for i in range(7)})
    short = compare({(0, 1)}, {(0, 0)})
    assert sum((long, short), Agreement()).error_rate == pytest.approx(1 - 14 / 16)


def test_links_are_the_largest_weights_on_words():
    weights = torch.tensor(
        [[0.1, 0.7, 0.1, 0.1], [0.6, 0.1, 0.2, 0.1], [0.1, 0.1, 0.1, 0.7], [0.0, 0.0, 1.0, 0.0]]
    )
    # Three source words and <eos>; the third target word looks at <eos>, the fourth row is <eos>.
    assert strongest_links(weights, range(3), 3) == {(1, 0), (0, 1)}

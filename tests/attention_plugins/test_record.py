from __future__ import annotations

import dataclasses
import math

import pytest
import torch

from attention_plugins import AttentionMap, Site
from attention_plugins.record import kept, start_of

QUERIES, KEYS = ("je", "suis", "là"), ("i", "am", "here", ".", "<eos>")


def weights(heads=2, *, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(heads, 3, 5, generator=generator).softmax(dim=-1).to(dtype)


def make(given=None, **fields):
    fields = {"query_labels": QUERIES, "key_labels": KEYS, **fields}
    return AttentionMap(
        site=Site("cross", 1), weights=weights() if given is None else given, **fields
    )


def changed(value, at=(1, 2, 3)):
    given = weights()
    given[at] = value
    return given


def test_a_map_keeps_what_it_was_given():
    given = weights()
    assert make(given).weights is given
    assert make(given).site == ("cross", 1)


def test_a_map_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        make().normalised = False


def test_a_row_may_be_fully_masked():
    given = weights()
    given[0, 1] = 0.0
    assert not make(given).weights[0, 1].any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_rounded_weights_still_sum_to_one(dtype):
    generator = torch.Generator().manual_seed(0)
    for keys in (2, 3, 101):
        many = torch.randn(3, 997, keys, generator=generator).softmax(dim=-1).to(dtype)
        labels = {"query_labels": ("q",) * 997, "key_labels": ("k",) * keys}
        assert make(many, **labels).weights.dtype == dtype


@pytest.mark.parametrize(
    ("given", "fields", "message"),
    [
        (weights()[0], {}, r"need weights \(heads, queries, keys\), got \(3, 5\)"),
        (weights(), {"query_labels": KEYS}, r"5 query and 5 key labels do not fit .*\(2, 3, 5\)"),
        (weights(), {"key_labels": QUERIES}, r"3 query and 3 key labels do not fit"),
        (changed(math.nan), {}, "weights are not finite; the scoring gave NaN or infinity"),
        (changed(math.inf), {"normalised": False}, "weights are not finite"),
        (changed(-0.5), {"normalised": False}, "some weights are below 0, and nothing"),
        (changed(1.5), {}, "rows sum to .*, need 1 or 0"),
        (weights() * 0.5, {}, "rows sum to 0.500…0.500, need 1 or 0"),
        (weights() * 1.01, {}, "rows sum to 1.010…1.010, need 1 or 0"),
    ],
)
def test_a_map_that_cannot_be_is_refused_by_site(given, fields, message):
    with pytest.raises(ValueError, match=f"map of cross layer 2: {message}"):
        make(given, **fields)


def test_weights_after_an_intervention_may_have_other_sums():
    halved = weights() * 0.5
    assert make(halved, normalised=False).weights is halved


def test_what_is_kept_of_a_side_is_each_part_without_its_padding():
    parts, sizes = ("null", "source", "target"), {"source": (2, 5), "target": (3, 4)}
    assert kept(parts, sizes) == [0, 1, 2, 6, 7, 8]
    assert start_of("target", parts, {"source": 5, "target": 4}) == 6
    assert start_of("null", parts, {"source": 5}) == 0
    assert start_of("memory", parts, {}) is None

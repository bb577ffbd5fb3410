"""Maps in blocks, against the whole map pooled by hand."""

import pytest
import torch

from attention_plugins.overview import BlockRecorder
from attention_plugins.tap import Site

LENGTH, MOST, HEADS = 17, 7, 3  # the first token, then blocks of three, the last of one
SITES = [Site("decoder", 0), Site("decoder", 1)]


def whole(site):
    draw = torch.Generator().manual_seed(site.layer)
    weights = torch.rand(1, HEADS, LENGTH, LENGTH, generator=draw, dtype=torch.float64).tril()
    return weights / weights.sum(dim=-1, keepdim=True)


def by_hand(weights):
    members = [[0], *([*range(start, min(start + 3, LENGTH))] for start in range(1, LENGTH, 3))]
    rows = [weights[..., rows, :].mean(dim=-2) for rows in members]
    columns = [[row[..., keys].sum(dim=-1) for keys in members] for row in rows]
    return torch.stack([torch.stack(row, dim=-1) for row in columns], dim=-2)


def test_blocks_are_as_large_as_they_must_be():
    sizes = {(17, 7): 3, (7, 7): 1, (8, 7): 2, (1024, 64): 17, (1, 7): 1}
    for (length, most), block in sizes.items():
        recorder = BlockRecorder(length, most)
        assert recorder.block == block
        assert len(recorder.labels(["w"] * length)) <= most


@pytest.mark.parametrize("part", [1, 5, LENGTH])
def test_blocks_are_the_whole_map_pooled_however_many_rows_come_at_once(part):
    recorder = BlockRecorder(LENGTH, MOST)
    for start in range(0, LENGTH, part):
        for site in SITES:
            end = min(start + part, LENGTH)
            recorder.add(site, whole(site)[..., start:end, :end])
    found = recorder.weights()
    assert [*found] == SITES
    for site, weights in found.items():
        torch.testing.assert_close(weights, by_hand(whole(site)))
        torch.testing.assert_close(
            weights.sum(dim=-1), torch.ones(1, HEADS, MOST, dtype=torch.float64)
        )


def test_one_site_may_be_wanted_alone_and_short_texts_stay_whole():
    recorder = BlockRecorder(LENGTH, LENGTH, SITES[1])
    assert [recorder.wants(site) for site in SITES] == [False, True]
    recorder.add(SITES[1], whole(SITES[1]))
    torch.testing.assert_close(recorder.weights(), {SITES[1]: whole(SITES[1])})


def test_a_block_is_called_by_its_first_and_its_last_token():
    tokens = [f"w{place}" for place in range(LENGTH)]
    assert BlockRecorder(LENGTH, MOST).labels(tokens) == (
        "w0", "w1 … w3", "w4 … w6", "w7 … w9", "w10 … w12", "w13 … w15", "w16",
    )  # fmt: skip
    assert BlockRecorder(3, MOST).labels(tokens[:3]) == ("w0", "w1", "w2")

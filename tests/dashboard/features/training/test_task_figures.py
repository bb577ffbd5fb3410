"""What is measured at the end of a training, on weights that are written down."""

import math
import mmap
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import torch

from attention_plugins.contract import SentencePair
from attention_plugins.tap import Site
from dashboard.features.training.task_figures import (
    final_figures,
    totals,
    with_alignments,
)
from dashboard.features.training.task_offer import METRICS
from dashboard.features.training.task_order import PeakMemory
from dashboard.records.training import PARTS, Epoch

PAIRS = [SentencePair("a b c", "x y", ((0, 0), (2, 1))), SentencePair("d e", "too long", ())]


def translator(sites, tokeniser="clitics"):
    """Reads all but one sentence; looks at the first pair with these weights."""

    def look(pairs):
        assert list(pairs) == [("a b c", "x y")]
        yield sites

    return SimpleNamespace(
        card={"tokeniser": tokeniser},
        reads=lambda text, target=False: text != "too long",
        look=look,
        source_keys=lambda site, queries, keys: range(keys - 1),
    )


# Rows: x, y, <eos>; columns: a, b, c, <eos>.
RIGHT = torch.eye(4)[[0, 2, 3]]
WRONG = torch.eye(4)[[1, 0, 3]]
EVEN = torch.full((3, 4), 0.25)


def test_the_best_layer_counts_and_entropy_is_that_of_all_heads():
    halves = torch.tensor([[0.5, 0.5, 0.0, 0.0]]).expand(3, 4)
    found = final_figures(
        translator({
            Site("encoder", 0): torch.full((1, 4, 4), 0.25),
            Site("cross", 0): torch.stack([EVEN, halves]),
            Site("cross", 1): torch.stack([RIGHT, RIGHT]),
        }),
        PAIRS,
    )  # fmt: skip
    assert found["alignment_error"] == 0.0
    half = math.log(2) / math.log(4)
    assert found["relative_entropy"] == pytest.approx((1 + half + 0 + 0) / 4)


def test_every_row_counts_alike_in_the_entropy_however_long_its_sentence_is():
    """Three rows of entropy 1 and one of entropy 0 make three quarters, not a half."""
    sharp = torch.eye(4)[[2]]
    pairs = [SentencePair("a b c", "x y"), SentencePair("a b c", "")]
    seen = [{Site("cross", 0): EVEN[None]}, {Site("cross", 0): sharp[None]}]
    model = SimpleNamespace(
        card={"tokeniser": "clitics"}, reads=lambda text, target=False: True,
        look=lambda pairs: iter(seen), source_keys=lambda site, queries, keys: range(keys - 1),
    )  # fmt: skip
    assert final_figures(model, pairs)["relative_entropy"] == pytest.approx(0.75)


def test_a_layers_alignment_is_that_of_the_mean_of_its_heads():
    """One head in three is right; together they look where the other two do."""
    sites = {Site("cross", 0): torch.stack([RIGHT, WRONG, WRONG])}
    assert final_figures(translator(sites), PAIRS)["alignment_error"] == 1.0
    sites = {Site("cross", 0): torch.stack([WRONG, RIGHT, RIGHT])}
    assert final_figures(translator(sites), PAIRS)["alignment_error"] == 0.0


def test_what_cannot_be_measured_is_none():
    words = final_figures(translator({Site("cross", 0): EVEN[None]}, "words"), PAIRS)
    assert words == {"alignment_error": None, "relative_entropy": pytest.approx(1.0)}
    blind = final_figures(translator({Site("encoder", 0): EVEN[None]}), PAIRS)
    assert blind == {"alignment_error": None, "relative_entropy": None}


def epoch(number, seconds, speed):
    return Epoch(
        epoch=number, loss=1.0, seconds=seconds, tokens_per_second=speed, bleu=None, probe=""
    )


def test_speed_is_that_of_all_tokens_over_all_seconds():
    """3 s at 100 and 1 s at 500 tokens a second are 800 tokens in 4 s."""
    found = totals([epoch(1, 3.0, 100.0), epoch(2, 1.0, 500.0)])
    assert found == {"seconds": 4.0, "tokens_per_second": 200.0}
    assert totals([epoch(1, 0.0, 0.0)]) == {"seconds": 0.0, "tokens_per_second": None}


def test_every_figure_of_a_whole_training_is_a_metric():
    found = final_figures(translator({Site("cross", 0): EVEN[None]}), PAIRS)
    names = {*found, *totals([]), *PARTS, "loss", "bleu", "peak_memory"}
    assert names == {metric.name for metric in METRICS}


def test_the_sources_that_were_drawn_are_found_with_their_alignments():
    held_out = [SentencePair("A  b", "x", ((0, 0),)), SentencePair("c", "y"),
                SentencePair("a b", "z")]  # fmt: skip
    assert with_alignments([SentencePair("a b", "x")], held_out) == [held_out[0], held_out[2]]


@contextmanager
def held(megabytes):
    """So much memory from the system itself.

    An allocator may serve it from what it kept of earlier tests, and keep it afterwards.
    """
    with mmap.mmap(-1, megabytes * 2**20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as block:
        block[:: mmap.PAGESIZE] = b"x" * (len(block) // mmap.PAGESIZE)
        yield


@pytest.mark.skipif(sys.platform != "linux", reason="no other system can begin a new peak")
def test_a_peak_is_that_of_the_job_and_of_what_came_before():
    with held(64):  # gone before the count begins
        before = PeakMemory(torch.device("cpu")).megabytes()
    peak = PeakMemory(torch.device("cpu"))
    began = peak.megabytes()
    assert began < before - 50
    with held(64):
        pass
    assert peak.megabytes() > began + 50
    assert PeakMemory(torch.device("cpu"), before=1e6).megabytes() == 1e6

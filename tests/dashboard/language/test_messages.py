"""Failures that really happen, told in Chinese."""

from __future__ import annotations

import re

import pytest
import torch

from attention_plugins.contract import Parameter
from attention_plugins.datasets.parallel import aligned_pair, read_pairs
from attention_plugins.formula import spec_of
from attention_plugins.record import AttentionMap
from attention_plugins.registry import installed
from attention_plugins.tap import Site
from dashboard import language
from dashboard.jobs import errors
from dashboard.language import translated
from dashboard.links.fields import SEED
from dashboard.links.link import Reader
from dashboard.records.interventions import read_change
from dashboard.records.request import Request
from dashboard.storage.bundle import pack, unpack
from dashboard.storage.table_format import find_format

ENGLISH = re.compile(r"(?:\b[a-z]+ ){2,}[a-z]+\b")
CHINESE = re.compile("[一-鿿]")
REQUEST = Request.make("translation", model="bahdanau", scoring="additive")
WIDTH = Parameter(name="width", title="Width h", default=1.0, low=0.01, high=3.0)
MASKED = torch.full((1, 2, 2), 0.7)


def raise_from_a_worker():
    note, _ = errors.raised(REQUEST, MemoryError(), memory=2048)
    raise ValueError(note)


def end_a_worker():
    stack = 'Fatal (most recent call first):\n  File "/p/kernel.py", line 7 in forward'
    note, _ = errors.died(REQUEST, -11, stack, {"my-plugin": ["/p"]})
    raise ValueError(note)


def run_out_of_time():
    raise ValueError(errors.timed_out(REQUEST, 60.0)[0])


@pytest.mark.parametrize(
    "failing",
    [
        pytest.param(lambda: WIDTH.check(7.0), id="bounds"),
        pytest.param(lambda: installed().scoring("addtive"), id="typing error"),
        pytest.param(lambda: spec_of("=q.k / sqr(d)"), id="unknown function"),
        pytest.param(lambda: spec_of("=q.k, 1"), id="syntax"),
        pytest.param(lambda: spec_of("=abs(q - k"), id="open bracket"),
        pytest.param(lambda: spec_of("=sum(q, k, 1, 2)"), id="arguments"),
        pytest.param(lambda: read_pairs(b"go .\tva !\nhi .\n"), id="one column"),
        pytest.param(lambda: read_pairs(b"go .\tva !\n"), id="one pair"),
        pytest.param(lambda: aligned_pair("go .", "va !", "0-0 1-7"), id="link"),
        pytest.param(
            lambda: AttentionMap(
                site=Site("cross", 1),
                weights=MASKED,
                query_labels=("a", "b"),
                key_labels=("c", "d"),
            ),
            id="weights",
        ),
        pytest.param(lambda: read_change("of", "cross.2.3"), id="intervention"),
        pytest.param(lambda: unpack(pack({"x": b""}), lambda _: False), id="bundle"),
        pytest.param(lambda: find_format(b"a,b\nx,y\n"), id="table"),
        pytest.param(raise_from_a_worker, id="memory"),
        pytest.param(end_a_worker, id="crash"),
        pytest.param(run_out_of_time, id="time"),
    ],
)
def test_a_failure_is_told_in_chinese(failing, monkeypatch):
    with pytest.raises(ValueError, match=r"[a-z] [a-z]") as caught:
        failing()
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    said = translated(str(caught.value))
    assert CHINESE.search(said)
    assert not ENGLISH.search(said), said


def test_what_a_link_got_wrong_is_told_in_chinese(monkeypatch):
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    reader = Reader({"seed": "x", "text": ["a", "b"], "z": "1", "text2": "y" * 300})
    reader.parameter(SEED, "seed")
    reader.text("text2", "")
    problems = reader.finish()
    assert len(problems) == 4
    assert all(CHINESE.search(each) and not ENGLISH.search(each) for each in problems), problems

"""Decoding beside the textbook's loop, beams beside greedy search, one pass beside steps.

Models are untrained and of the textbook's size. Where they are compared with the textbook's, none
can write ``<eos>``, so that every sentence is written to the limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from attention_plugins.contract import ModelSizes
from attention_plugins.decoding import beam, force, greedy
from attention_plugins.models.protocols import Batch
from attention_plugins.registry import load
from attention_plugins.text import EOS_ID
from tests.benchmarks import textbook
from tests.benchmarks.rows import Row, interleaved

WORDS, SIZE, LIMIT, TOKENS = 400, 32, textbook.STEPS, 9
REGISTRY = load(allow=[])
SCORINGS = {"bahdanau": "additive", "transformer": "scaled_dot"}


def _model(name: str, **values: object) -> Any:
    torch.manual_seed(0)
    factory = REGISTRY.scorings[SCORINGS[name]].factory()
    return REGISTRY.models[name].create(factory, ModelSizes(WORDS, WORDS), values).eval()


def _sentences(count: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    source = torch.randint(4, WORDS, (count, TOKENS), generator=generator)
    return source, torch.full((count,), TOKENS)


def rows(quick: bool) -> Iterator[Row]:
    """Greedy search, what a beam costs, forced words, and masks of dropout."""
    count = 30 if quick else 100
    for name in SCORINGS:
        yield _greedy(name, 30 if quick else 200)
    for name in SCORINGS:
        yield _beam(name, count)
        yield _forced(name)
    yield _dropout()


def _greedy(name: str, count: int) -> Row:
    model, given = _model(name), _sentences(count)
    net = getattr(textbook, name)((WORDS, WORDS), SIZE)
    for output in (model.output, net.decoder.dense):
        _never_end(output)
    sentences = given[0].tolist()
    return interleaved(
        f"greedy search, {count} sentences, {name}", "the textbook, one by one",
        lambda: greedy(model, *given, limit=LIMIT),
        lambda: [textbook.predict(net, source) for source in sentences],
    )  # fmt: skip


@torch.no_grad()
def _never_end(output: nn.Linear) -> None:
    output.bias[EOS_ID] = -1e6


def _beam(name: str, count: int) -> Row:
    model, given = _model(name), _sentences(count)
    return interleaved(
        f"beam of 5, {count} sentences, {name}", "our greedy search",
        lambda: beam(model, *given, width=5, limit=LIMIT),
        lambda: greedy(model, *given, limit=LIMIT),
    )  # fmt: skip


def _forced(name: str) -> Row:
    model, (source, lengths) = _model(name), _sentences(1)
    target = source.clone()
    return interleaved(
        f"a forced sentence with its maps, 20 times, {name}", "word by word",
        lambda: [force(model, source, lengths, target) for _ in range(20)],
        lambda: [force(model, source, lengths, target, by_steps=True) for _ in range(20)],
    )  # fmt: skip


def _dropout() -> Row:
    model = _model("transformer", hidden=128, ffn=256).train()
    source, lengths = _sentences(64)
    batch = Batch(source, lengths, source, lengths)

    def learn(pooled: bool) -> None:
        # Without a pool every place draws by itself, as torch's dropout does.
        off = patch("attention_plugins.randomness._Pool", lambda: None)
        with nullcontext() if pooled else off:
            model.loss(batch).backward()

    return interleaved(
        "a step of a Transformer with dropout, masks from one draw", "a draw for each place",
        lambda: learn(True), lambda: learn(False),
    )  # fmt: skip

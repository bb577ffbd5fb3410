"""Decoding beside the textbook's loop, beams beside greedy search, one pass beside steps.

Models are untrained and of the textbook's size, so every sentence is written to the limit.
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
from attention_plugins.text import BOS_ID
from tests.benchmarks.attention import TextbookAdditive
from tests.benchmarks.rows import Row, interleaved

WORDS, SIZE, LIMIT, TOKENS = 400, 32, 10, 9
REGISTRY = load(allow=[])
SCORINGS = {"bahdanau": "additive", "transformer": "scaled_dot"}


class TextbookBahdanau(nn.Module):
    """d2l.ai, section 11.4, one sentence at a time; keys are projected at every step."""

    def __init__(self) -> None:
        super().__init__()
        self.read, self.written = nn.Embedding(WORDS, SIZE), nn.Embedding(WORDS, SIZE)
        self.encoder = nn.GRU(SIZE, SIZE, 2)
        self.attention = TextbookAdditive(SIZE)
        self.rnn = nn.GRU(2 * SIZE, SIZE, 2)
        self.dense = nn.Linear(SIZE, WORDS)

    @torch.no_grad()
    def predict(self, source: Tensor) -> list[int]:
        """The likeliest words after ``source (n,)``, up to the limit."""
        outputs, hidden = self.encoder(self.read(source)[:, None])
        outputs = outputs.permute(1, 0, 2)
        word, words = torch.full((1, 1), BOS_ID), []
        for _ in range(LIMIT):
            query = torch.unsqueeze(hidden[-1], dim=1)
            context = self.attention(query, outputs, outputs)
            x = torch.cat((context, self.written(word)), dim=-1)
            out, hidden = self.rnn(x.permute(1, 0, 2), hidden)
            word = self.dense(out).argmax(dim=2)
            words.append(word.squeeze().item())
        return words


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
    yield _greedy(count)
    for name in ("bahdanau", "transformer"):
        yield _beam(name, count)
        yield _forced(name)
    yield _dropout()


def _greedy(count: int) -> Row:
    model, textbook, given = _model("bahdanau"), TextbookBahdanau().eval(), _sentences(count)
    return interleaved(
        f"greedy search, {count} sentences, Bahdanau", "the textbook, one by one",
        lambda: greedy(model, *given, limit=LIMIT),
        lambda: [textbook.predict(source) for source in given[0]],
    )  # fmt: skip


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
        off = patch("attention_plugins.dropping._Pool", lambda: None)
        with nullcontext() if pooled else off:
            model.loss(batch).backward()

    return interleaved(
        "a step of a Transformer with dropout, masks from one draw", "a draw for each place",
        lambda: learn(True), lambda: learn(False),
    )  # fmt: skip

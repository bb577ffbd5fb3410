"""Decoding beside the textbook's loop, beams beside greedy search, one pass beside steps.

``python -m tests.benchmarks.decoding`` prints all of it; each function measures one comparison.
Models are untrained and of the textbook's size, so every sentence is written to the limit.
"""

from __future__ import annotations

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
from tests.benchmarks.measuring import interleaved

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


def greedy_search() -> dict[str, Any]:
    """Greedy search of 100 sentences in a batch against the textbook's, sentence by sentence."""
    model, textbook, given = _model("bahdanau"), TextbookBahdanau().eval(), _sentences(100)
    return interleaved(
        "greedy, bahdanau, 100 sentences",
        lambda: greedy(model, *given, limit=LIMIT),
        lambda: [textbook.predict(source) for source in given[0]],
    )


def _beam(name: str) -> dict[str, Any]:
    model, given = _model(name), _sentences(100)
    return interleaved(
        f"beam of 5 against our own greedy search, {name}, 100 sentences",
        lambda: beam(model, *given, width=5, limit=LIMIT),
        lambda: greedy(model, *given, limit=LIMIT),
    )


def beam_bahdanau() -> dict[str, Any]:
    """What a beam costs: the inverse of the ratio is how many greedy searches."""
    return _beam("bahdanau")


def beam_transformer() -> dict[str, Any]:
    """The same for the Transformer."""
    return _beam("transformer")


def _forced(name: str) -> dict[str, Any]:
    model, (source, lengths) = _model(name), _sentences(1)
    target = source.clone()
    return interleaved(
        f"one recorded sentence at once against steps, {name}",
        lambda: [force(model, source, lengths, target) for _ in range(20)],
        lambda: [force(model, source, lengths, target, by_steps=True) for _ in range(20)],
    )


def forced_bahdanau() -> dict[str, Any]:
    """Forced words, recorded."""
    return _forced("bahdanau")


def forced_transformer() -> dict[str, Any]:
    """Forced words, recorded."""
    return _forced("transformer")


def dropout_masks() -> dict[str, Any]:
    """A Transformer's loss and gradients with masks from one draw, and with torch's dropout."""
    model = _model("transformer", hidden=128, ffn=256).train()
    source, lengths = _sentences(64)
    batch = Batch(source, lengths, source, lengths)

    def learn(pooled: bool) -> None:
        # Without a pool every place draws by itself, as torch's dropout does.
        off = patch("attention_plugins.dropping._Pool", lambda: None)
        with nullcontext() if pooled else off:
            model.loss(batch).backward()

    return interleaved("dropout, transformer", lambda: learn(True), lambda: learn(False))


ALL = (
    greedy_search, beam_bahdanau, beam_transformer, forced_bahdanau, forced_transformer,
    dropout_masks,
)  # fmt: skip

if __name__ == "__main__":
    for measure in ALL:
        print(measure())

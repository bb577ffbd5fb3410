"""Two tasks that a small causal model learns in seconds, and the model, for what papers claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from attention_plugins.contract import ScoringFactory
from attention_plugins.models.transformer_layers import EncoderLayer, Hyperparameters
from attention_plugins.registry import load
from attention_plugins.tap import Recorder, Site, Tap

_SITE = Site("encoder", 0)
IGNORED = -100


class Examples(NamedTuple):
    """Streams of tokens, each ``(B, n)``, embedded and added; what to say, or IGNORED."""

    streams: tuple[Tensor, ...]
    labels: Tensor


class Small(nn.Module):
    """One pre-norm layer in which a token sees itself and those before it."""

    def __init__(
        self, make_scoring: ScoringFactory, sizes: Sequence[int], *, heads: int, places: int = 0
    ) -> None:
        """``sizes`` of the streams, then of what is said; ``places``: learned ones, if any."""
        super().__init__()
        values = Hyperparameters(
            hidden=32, heads=heads, layers=1, ffn=64, dropout=0.0, pre_norm=True, tied=False
        )
        self.embed = nn.ModuleList(nn.Embedding(size, 32) for size in sizes[:-1])
        self.places = nn.Embedding(places, 32) if places else None
        self.layer = EncoderLayer(make_scoring, values)
        self.norm, self.output = nn.LayerNorm(32), nn.Linear(32, sizes[-1])

    def forward(self, streams: Sequence[Tensor], tap: Tap | None = None) -> Tensor:
        """Logits ``(B, n, said)``."""
        inputs = sum(one(part) for one, part in zip(self.embed, streams, strict=True))
        n = streams[0].shape[1]
        if self.places is not None:
            inputs = inputs + self.places.weight[:n]
        causal = torch.ones(n, n, dtype=torch.bool).tril()
        return self.output(self.norm(self.layer(inputs, causal, tap or Tap(), _SITE)))

    @torch.no_grad()
    def weights(self, streams: Sequence[Tensor]) -> Tensor:
        """``(B, heads, n, n)``."""
        recorder = Recorder()
        self(streams, Tap(recorder))
        found = recorder.weights()[_SITE]
        return found if found.dim() == 4 else found.unsqueeze(1)


def factory(scoring: str = "scaled_dot", normaliser: str = "", **values: float) -> ScoringFactory:
    """A built-in scoring with values of its parameters, and a normaliser."""
    registry = load(allow=[])
    chosen = registry.normaliser(normaliser).factory() if normaliser else None
    return registry.scoring(scoring).factory(values, chosen)


def learn(
    model: Small, draw: Callable[[int, int, int], Examples], n: int, steps: int, rate: float
) -> Small:
    """Adam on ``steps`` batches of 32 new sequences of length ``n``; the rate rises and falls."""
    drawn = draw(32 * steps, n, 0)
    optimiser = torch.optim.AdamW(model.parameters(), rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps)
    for rows in torch.arange(32 * steps).split(32):
        logits = model([stream[rows] for stream in drawn.streams])
        optimiser.zero_grad()
        wanted = drawn.labels[rows].flatten()
        cross_entropy(logits.flatten(0, 1), wanted, ignore_index=IGNORED).backward()
        optimiser.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def accuracy(model: Small, examples: Examples) -> float:
    """Of what there is to say."""
    found, counted = model(examples.streams).argmax(-1), examples.labels != IGNORED
    return float((found == examples.labels)[counted].float().mean())


KEYS = VALUES = 6


def repeated_recall(count: int, n: int, seed: int) -> Examples:
    """Half the steps write a value to a key, the others ask for what was written to it last.

    Tan et al. 2025 learn multi-query repeated associative recall; here key and value come in one
    step, so that one layer will do.
    """
    generator = torch.Generator().manual_seed(seed)
    keys, values = (torch.randint(6, (count, n), generator=generator) for _ in range(2))
    writes = torch.rand(count, n, generator=generator) < 0.5
    held, rows = torch.full((count, KEYS), IGNORED), torch.arange(count)
    labels = torch.full((count, n), IGNORED)
    for step in range(n):
        before = held[rows, keys[:, step]]
        labels[:, step] = torch.where(writes[:, step], IGNORED, before)
        held[rows, keys[:, step]] = torch.where(writes[:, step], values[:, step], before)
    return Examples((keys, torch.where(writes, values, VALUES)), labels)


WORDS, TRIGGERS = 16, (1, 2, 3)


@cache
def _bigrams() -> Tensor:
    generator = torch.Generator().manual_seed(5)
    found = (2.0 * torch.randn(WORDS, WORDS, generator=generator)).softmax(-1)
    found[:, 0] = 0.0  # it only begins
    return found / found.sum(-1, keepdim=True)


def backcopy(count: int, n: int, seed: int) -> Examples:
    """Words follow each other by a table; behind a trigger comes the word that stood before it.

    Only a query at a trigger has anything to look for. Guo et al. 2024, Active-dormant attention
    heads, section 2: the softmax then gives the weight to the first word, which means nothing.
    """
    generator, words = torch.Generator().manual_seed(seed), torch.zeros(count, n + 1).long()
    for step in range(1, n + 1):
        drawn = torch.multinomial(_bigrams()[words[:, step - 1]], 1, generator=generator)[:, 0]
        if step > 1:
            drawn = torch.where(is_trigger(words[:, step - 1]), words[:, step - 2], drawn)
        words[:, step] = drawn
    return Examples((words[:, :-1],), words[:, 1:])


def is_trigger(words: Tensor) -> Tensor:
    """Which of them are triggers."""
    return torch.isin(words, torch.tensor(TRIGGERS))

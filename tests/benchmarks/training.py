"""An epoch of training beside the textbook's, with the same sentences in the same batches."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

from attention_plugins.contract import ModelSizes
from attention_plugins.datasets.phrasebook import phrasebook
from attention_plugins.encoding import Encoded, encode, grouped
from attention_plugins.race.field.model import SHAPES, FieldModel
from attention_plugins.race.field.tasks import IGNORED, TASKS
from attention_plugins.race.field.training import stepping
from attention_plugins.recipe import Recipe
from attention_plugins.registry import load
from attention_plugins.training import Trainer
from tests.benchmarks import textbook
from tests.benchmarks.rows import Row, interleaved

REGISTRY = load(allow=[])
SCORINGS = {"bahdanau": "additive", "transformer": "scaled_dot"}
RECIPE = Recipe(epochs=10_000)


def short(pairs: int) -> Encoded:
    """The shortest pairs, as the textbook trains on the first pairs of a file in that order."""
    return encode(sorted(phrasebook(), key=lambda pair: len(pair.source))[:pairs], RECIPE)


def sample(corpus: Encoded, pairs: int) -> Encoded:
    """Some pairs of a corpus, with all of its vocabularies."""
    drawn = random.Random(0).sample(range(len(corpus.source)), pairs)
    source, target = ([side[i] for i in drawn] for side in (corpus.source, corpus.target))
    links = corpus.links and [corpus.links[i] for i in drawn]
    return replace(corpus, source=source, target=target, links=links)


def compared(name: str, corpus: Encoded, size: int, rounds: int) -> Row:
    """An epoch of the model by that name, ours and the textbook's."""
    torch.manual_seed(0)
    words = len(corpus.source_vocabulary), len(corpus.target_vocabulary)
    values = {"hidden": size, **({"embed": size} if name == "bahdanau" else {"ffn": 2 * size})}
    factory = REGISTRY.scorings[SCORINGS[name]].factory()
    model: Any = REGISTRY.models[name].create(factory, ModelSizes(*words), values)
    epochs = Trainer(model, corpus, RECIPE).epochs()
    net = getattr(textbook, name)(words, size)
    training = textbook.Training(net, corpus.source, corpus.target)
    order = random.Random(RECIPE.seed)
    losses: dict[str, list[float]] = {"ours": [], "theirs": []}

    def theirs() -> None:
        batches = grouped(corpus, RECIPE.batch_size, order)
        losses["theirs"].append(training.epoch(batches))

    row = interleaved(
        f"an epoch of {len(corpus.source):,} pairs, hidden {size}, {name}", "the textbook",
        lambda: losses["ours"].append(next(epochs).loss), theirs, rounds=rounds,
    )  # fmt: skip
    tokens = sum(map(len, corpus.target))
    found = "; ".join(
        f"{who} {seen[0]:.2f} to {seen[-1]:.2f} nats per token" for who, seen in losses.items()
    )
    assert row.theirs is not None
    speeds = f"{tokens / row.ours:,.0f} against {tokens / row.theirs:,.0f} tokens/s"
    return replace(row, note=f"{speeds}; loss of {found}")


class Zoology(nn.Module):
    """MQAR's model in plain torch, as its authors write it."""

    def __init__(self, words: int, length: int, size: int) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(words, size), nn.Embedding(length, size)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(5))
        self.inwards = nn.ModuleList(nn.Linear(size, 3 * size) for _ in range(2))
        self.outwards = nn.ModuleList(nn.Linear(size, size) for _ in range(2))
        self.head = nn.Linear(size, words, bias=False)
        for part in self.modules():
            if isinstance(part, nn.Linear | nn.Embedding):
                nn.init.normal_(part.weight, std=0.02)
        self.head.weight = self.tokens.weight
        self.dropout = nn.Dropout(0.1)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits at all places."""
        hidden = self.dropout(self.tokens(ids) + self.places(torch.arange(ids.shape[1])))
        residual: Tensor | float = 0.0
        future = torch.triu(torch.full((ids.shape[1],) * 2, -10_000.0), 1)
        for layer in range(2):
            residual = hidden + residual
            normed = self.norms[2 * layer](residual)
            queries, keys, values = self.inwards[layer](normed).chunk(3, dim=-1)
            scores = torch.einsum("btd,bsd->bts", queries, keys / keys.shape[-1] ** 0.5)
            weights = self.dropout((scores + future).softmax(dim=-1))
            mixed = self.outwards[layer](torch.einsum("bts,bsd->btd", weights, values))
            residual = residual + mixed
            hidden = self.norms[2 * layer + 1](residual)
        return self.head(self.norms[4](hidden + residual))


def recalled(size: int, rounds: int) -> Row:
    """A step of MQAR at (64, 4), ours and that of plain torch."""
    task = TASKS["mqar_64_4"]
    batch = task.drawn(task.budget.batch_size * (rounds + 1), 0, learned=True)
    wanted = torch.full_like(batch.inputs, IGNORED).long().scatter_(1, batch.places, batch.labels)
    loader = iter(DataLoader(
        TensorDataset(batch.inputs.long(), wanted), task.budget.batch_size, shuffle=True
    ))  # fmt: skip
    torch.manual_seed(0)
    model = FieldModel(REGISTRY.scorings["scaled_dot"].factory(), SHAPES[f"zoology_{size}"], task)
    step = stepping(model.train(), task, 1e-3)
    plain = Zoology(task.vocabulary, task.length, size)
    optimiser = torch.optim.AdamW(plain.parameters(), lr=1e-3, weight_decay=0.1)
    numbers = iter(range(rounds + 1))
    losses: dict[str, float] = {}

    def ours() -> None:
        start = next(numbers) * task.budget.batch_size
        part = batch.rows(slice(start, start + task.budget.batch_size))
        losses["ours"] = step(part, 1e-3).item()

    def theirs() -> None:
        ids, labels = next(loader)
        optimiser.zero_grad()
        loss = cross_entropy(plain(ids).flatten(0, 1), labels.flatten())
        loss.backward()
        optimiser.step()
        losses["theirs"] = loss.item()

    row = interleaved(
        f"a step of MQAR, 512 sequences of 64, hidden {size}", "plain torch, as its authors do",
        ours, theirs, rounds=rounds,
    )  # fmt: skip
    return replace(row, note=f"loss {losses['ours']:.2f} and {losses['theirs']:.2f} nats")


def rows(quick: bool) -> Iterator[Row]:
    """Both models as the textbook sets them up, and eight times as wide with more words; MQAR.

    The 6,000 shortest pairs have 6 target tokens on average, the 600 shortest 5.
    """
    small, large = short(600), sample(short(6000), 640 if quick else 1280)
    for name in SCORINGS:
        yield compared(name, small, 32, 5 if quick else 25)
    for name in SCORINGS:
        yield compared(name, large, 256, 1 if quick else 5)
    yield recalled(64, 2 if quick else 8)

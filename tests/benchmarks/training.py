"""An epoch of training beside the textbook's, with the same sentences in the same batches."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from attention_plugins.contract import ModelSizes
from attention_plugins.datasets.phrasebook import phrasebook
from attention_plugins.encoding import Encoded, encode, grouped
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


def rows(quick: bool) -> Iterator[Row]:
    """Both models as the textbook sets them up, and eight times as wide with more words.

    The 6,000 shortest pairs have 6 target tokens on average, the 600 shortest 5.
    """
    small, large = short(600), sample(short(6000), 640 if quick else 1280)
    for name in SCORINGS:
        yield compared(name, small, 32, 5 if quick else 25)
    for name in SCORINGS:
        yield compared(name, large, 256, 1 if quick else 5)

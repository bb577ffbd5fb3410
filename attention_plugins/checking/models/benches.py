"""A tiny task for a model of each kind, so that one rule can ask all of them, and models to ask.

A bench has ``outputs`` of a model, rows first and 0 on padding; a ``loss`` that training would
lower; ``parts``, how long those are that axes may name, padding included; one ``row`` alone,
without any padding; and the same rows ``wider``, with more padding. Each row must come out the
same alone, among others and beside padding.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from attention_plugins.attention import Scoring
from attention_plugins.checking.findings import draw
from attention_plugins.checkpoints import stored
from attention_plugins.contract import ModelSizes, ModelSpec, ScoringFactory, Sizes, Task
from attention_plugins.models.protocols import Batch, as_translation_model
from attention_plugins.randomness import seed_all
from attention_plugins.record import TEXT
from attention_plugins.scorings.additive import ADDITIVE
from attention_plugins.tap import Tap
from attention_plugins.text import BOS_ID, EOS_ID, PAD_ID

SOURCE_WORDS, TARGET_WORDS = 19, 13
# Every source word but the reserved ones is some target word, none the one of its own number.
_COPIES = (*range(4), *(4 + (7 * id) % 9 for id in range(SOURCE_WORDS - 4)))


class Translating(NamedTuple):
    """Three pairs of 19 source and 13 target words, padded on both sides."""

    batch: Batch
    sizes: ModelSizes = ModelSizes(SOURCE_WORDS, TARGET_WORDS, _COPIES)

    def outputs(self, model: nn.Module, tap: Tap) -> Tensor:
        """Log-probabilities ``(rows, m, 13)`` of a target that is forced word by word."""
        batch, translator = self.batch, as_translation_model(model)
        state = translator.start(batch.source, batch.source_lengths, tap)
        begin = torch.full_like(batch.target[:, :1], BOS_ID)
        found = []
        for tokens in torch.cat([begin, batch.target[:, :-1]], dim=1).T:
            scores, state = translator.step(state, tokens, tap)
            found.append(scores)
        stacked = torch.stack(found, dim=1)
        places = torch.arange(stacked.shape[1])
        return stacked * (places < batch.target_lengths[:, None])[..., None]

    def loss(self, model: nn.Module) -> Tensor:
        """The model's own, in nats per target token."""
        return as_translation_model(model).loss(self.batch)

    @property
    def parts(self) -> Mapping[str, int]:
        """Source and target, in tokens, and both as one text."""
        source, target = self.batch.source.shape[1], self.batch.target.shape[1]
        return {"source": source, "target": target, TEXT: source + target - 1}

    def row(self, number: int) -> "Translating":
        """One pair."""
        source, n, target, m = (part[number : number + 1] for part in self.batch)
        return Translating(Batch(source[:, : int(n)], n, target[:, : int(m)], m))

    def wider(self) -> "Translating":
        """Four more places in the sources, two in the targets."""
        source, n, target, m = self.batch
        return Translating(
            Batch(pad(source, (0, 4), value=PAD_ID), n, pad(target, (0, 2), value=PAD_ID), m)
        )


class Predicting(NamedTuple):
    """Seven queries and thirteen training points in three dimensions, some of them hidden."""

    queries: Tensor
    keys: Tensor
    values: Tensor
    mask: Tensor
    sizes: ModelSizes = ModelSizes(3, 3)

    def outputs(self, model: nn.Module, tap: Tap) -> Tensor:
        """Predictions ``(7,)``."""
        dtype = next((weight.dtype for weight in model.parameters()), torch.float64)
        parts = (part.to(dtype) for part in (self.queries, self.keys, self.values))
        return model(*parts, self.mask, tap)

    def loss(self, model: nn.Module) -> Tensor:
        """Mean squared distance from numbers that no model knows."""
        found = self.outputs(model, Tap())
        return (found - draw(len(found), seed=9).to(found.dtype)).square().mean()

    @property
    def parts(self) -> Mapping[str, int]:
        """Queries and training points."""
        return {"queries": len(self.queries), "points": len(self.keys)}

    def row(self, number: int) -> "Predicting":
        """One query with the points that it may see."""
        seen = self.mask[number]
        return Predicting(
            self.queries[number : number + 1], self.keys[seen], self.values[seen],
            torch.ones(1, int(seen.sum()), dtype=torch.bool),
        )  # fmt: skip

    def wider(self) -> "Predicting":
        """Five more points that no query may see."""
        hidden = torch.zeros(len(self.queries), 5, dtype=torch.bool)
        return Predicting(
            self.queries, torch.cat([self.keys, draw(5, 3, seed=7)]),
            torch.cat([self.values, draw(5, seed=8)]), torch.cat([self.mask, hidden], dim=1),
        )  # fmt: skip


class Encoding(NamedTuple):
    """Three sequences of five numbers an item, padded with junk."""

    sequence: Tensor
    lengths: Tensor
    sizes: ModelSizes = ModelSizes(5, 11)

    def outputs(self, model: nn.Module, tap: Tap) -> Tensor:
        """What the model makes of the items, ``(3, n, 11)``."""
        dtype = next((weight.dtype for weight in model.parameters()), torch.float64)
        found = model(self.sequence.to(dtype), self.lengths, tap)
        return found * (torch.arange(found.shape[1]) < self.lengths[:, None])[..., None]

    def loss(self, model: nn.Module) -> Tensor:
        """Mean square of the outputs, weighted at random."""
        found = self.outputs(model, Tap())
        wanted = draw(*self.sequence.shape[:1], 1, found.shape[-1], seed=9).to(found.dtype)
        return (found * wanted).sum() / self.lengths.sum()

    @property
    def parts(self) -> Mapping[str, int]:
        """The sequences, in items."""
        return {"source": self.sequence.shape[1]}

    def row(self, number: int) -> "Encoding":
        """One sequence."""
        length = self.lengths[number : number + 1]
        return Encoding(self.sequence[number : number + 1, : int(length)], length)

    def wider(self) -> "Encoding":
        """Four more places of junk."""
        return Encoding(
            torch.cat([self.sequence, draw(len(self.sequence), 4, 5, seed=7)], dim=1), self.lengths
        )


Bench = Translating | Predicting | Encoding


def bench(spec: ModelSpec) -> Bench:
    """The bench of the model's task."""
    return _BENCHES[spec.task]()


def translating() -> Translating:
    """The bench of translation models."""
    generator = torch.Generator().manual_seed(7)
    first = EOS_ID + 1  # words that are not reserved
    source = torch.randint(first, SOURCE_WORDS, (3, 7), generator=generator)
    target = torch.randint(first, TARGET_WORDS, (3, 5), generator=generator)
    source_lengths, target_lengths = torch.tensor([7, 3, 2]), torch.tensor([2, 5, 3])
    for tokens, lengths in ((source, source_lengths), (target, target_lengths)):
        for row, length in zip(tokens, lengths.tolist(), strict=True):
            row[length - 1] = EOS_ID
            row[length:] = PAD_ID
    return Translating(Batch(source, source_lengths, target, target_lengths))


def predicting() -> Predicting:
    """The bench of regression models."""
    mask = draw(7, 13, seed=3) > -0.5
    mask[:, 0] = True
    return Predicting(draw(7, 3), draw(13, 3, seed=1), draw(13, seed=2), mask)


_BENCHES: Mapping[Task, Callable[[], Bench]] = {
    "translation": translating, "regression": predicting,
    "encoding": lambda: Encoding(draw(3, 7, 5), torch.tensor([7, 3, 2])),
}  # fmt: skip


def make(
    spec: ModelSpec, *, factory: ScoringFactory | None = None, seed: int = 5,
    dtype: torch.dtype = torch.float64, values: Mapping[str, object] | None = None,
) -> nn.Module:  # fmt: skip
    """A model in evaluation mode, the same at every call with equal arguments.

    Its scoring has weights of its own and projects, unless another one is given.
    """
    seed_all(seed)
    random.seed(seed)
    return spec.create(factory or ADDITIVE.factory(), bench(spec).sizes, values).to(dtype).eval()


def hollow(spec: ModelSpec, values: Mapping[str, object] | None = None) -> dict[str, torch.Size]:
    """Names and shapes of a model's weights, without making any."""
    sizes = bench(spec).sizes
    with torch.device("meta"):
        model = spec.create(ADDITIVE.factory(), sizes, values)
    return {name: tensor.shape for name, tensor in stored(model).items()}


def counted(sizes: Sizes, calls: dict[int, int]) -> Scoring:
    """A scoring that counts in a mapping of its maker's how often it was asked."""
    scoring: Any = ADDITIVE.create(sizes)
    forward, calls[id(scoring)] = scoring.forward, 0

    def count(queries: Tensor, keys: Tensor) -> Tensor:
        calls[id(scoring)] += 1
        return forward(queries, keys)

    scoring.forward = count
    return scoring

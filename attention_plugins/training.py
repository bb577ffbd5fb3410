"""Teaching a translation model: sentences to batches, batches to steps, steps to a history."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.models.protocols import Batch, TranslationModel
from attention_plugins.text import TOKENISERS, Vocabulary, pad, truncate

# Batches whose sentences are sorted together: long enough to sort well, short enough to shuffle.
_POOL = 50


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to train; the defaults are those of d2l.ai's section 11.4, but for two faults mended.

    Args:
        tokeniser: a name of :data:`~attention_plugins.text.TOKENISERS`.
        min_frequency: tokens seen less often are ``<unk>``.
        max_tokens: longer sentences are cut; counts ``<eos>``.
        epochs, batch_size, seed: as named.
        learning_rate: of Adam, the highest of the schedule.
        schedule: ``"constant"``, or ``"cosine"``: a linear rise, then half a cosine down to 0.
        warmup: steps of the rise.
        weight_decay: of AdamW, on matrices only.
        clip: the gradient's greatest norm.
        label_smoothing: see :func:`~attention_plugins.models.losses.masked_cross_entropy`.
    """

    tokeniser: str = "words"
    min_frequency: int = 2
    max_tokens: int = 10
    epochs: int = 250
    batch_size: int = 64
    learning_rate: float = 0.005
    schedule: str = "constant"
    warmup: int = 0
    weight_decay: float = 0.0
    clip: float = 1.0
    label_smoothing: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        bounds = {
            "min_frequency": (1, 1000), "max_tokens": (2, 500), "epochs": (1, 10_000),
            "batch_size": (1, 10_000), "learning_rate": (1e-7, 10.0), "warmup": (0, 10**6),
            "weight_decay": (0.0, 1.0), "clip": (1e-3, 1e3), "label_smoothing": (0.0, 0.9),
        }  # fmt: skip
        for name, (low, high) in bounds.items():
            if not low <= getattr(self, name) <= high:
                raise ContractError(
                    f"need {low:g} <= {name} <= {high:g}, got {getattr(self, name):g}"
                )
        for name, offered in (("tokeniser", TOKENISERS), ("schedule", ("constant", "cosine"))):
            if getattr(self, name) not in offered:
                raise ContractError(
                    f"need {name} to be one of {', '.join(offered)}, got {getattr(self, name)!r}"
                )


@dataclass(frozen=True)
class Encoded:
    """A corpus as token ids, with the vocabularies that number them."""

    source: list[list[int]]
    target: list[list[int]]
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary


def encode(pairs: Sequence[SentencePair], recipe: Recipe) -> Encoded:
    """Tokenise the pairs, count both vocabularies, number and cut every sentence.

    Raises:
        ContractError: no pairs.
    """
    if not pairs:
        raise ContractError("need at least one sentence pair to train on, got none")
    tokenise = TOKENISERS[recipe.tokeniser]
    sides = ([tokenise(p.source) for p in pairs], [tokenise(p.target) for p in pairs])
    vocabularies = [Vocabulary.count(side, min_frequency=recipe.min_frequency) for side in sides]
    ids = [
        [truncate(vocabulary.ids(tokens), recipe.max_tokens) for tokens in side]
        for side, vocabulary in zip(sides, vocabularies, strict=True)
    ]
    return Encoded(*ids, *vocabularies)


def collate(rows: Sequence[Sequence[int]], device: torch.device | str) -> tuple[Tensor, Tensor]:
    """Token ids padded to the longest row ``(B, n)``, and lengths ``(B,)``."""
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return torch.tensor(pad(rows), device=device), lengths


def batches(
    corpus: Encoded, size: int, generator: random.Random, device: torch.device
) -> Iterator[Batch]:
    """One epoch: every pair once, in random order, sentences of like length together."""
    order = list(range(len(corpus.source)))
    generator.shuffle(order)
    groups = []
    for start in range(0, len(order), size * _POOL):
        pool = order[start : start + size * _POOL]
        pool.sort(key=lambda i: (len(corpus.target[i]), len(corpus.source[i])))
        groups += [pool[i : i + size] for i in range(0, len(pool), size)]
    generator.shuffle(groups)
    for group in groups:
        source = collate([corpus.source[i] for i in group], device)
        target = collate([corpus.target[i] for i in group], device)
        yield Batch(*source, *target)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a training stands after a step; ``loss`` is the epoch's mean so far.

    Units: nats per target token, tokens per second, seconds since the start.
    """

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    tokens_per_second: float
    seconds: float


def train(
    model: TranslationModel,
    corpus: Encoded,
    recipe: Recipe,
    *,
    device: torch.device | str = "cpu",
    on_step: Callable[[Progress], None] = lambda progress: None,
    on_epoch: Callable[[Progress], None] = lambda progress: None,
) -> list[Progress]:
    """Train in place; the last :class:`Progress` of every epoch.

    ``on_step`` may raise to stop; the model then keeps what it has learned so far. The caller
    seeds torch before building the model, the order of the sentences follows ``recipe.seed``.

    Raises:
        FloatingPointError: the loss is not finite.
    """
    device = torch.device(device)
    model.to(device).train()
    optimiser = _optimiser(model, recipe)
    steps = math.ceil(len(corpus.source) / recipe.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, _schedule(recipe, steps))
    generator = random.Random(recipe.seed)
    began, history = time.perf_counter(), []
    for epoch in range(1, recipe.epochs + 1):
        total, tokens, epoch_began = 0.0, 0, time.perf_counter()
        epoch_batches = batches(corpus, recipe.batch_size, generator, device)
        for step, batch in enumerate(epoch_batches, start=1):
            loss = _step(model, batch, optimiser, recipe)
            schedule.step()
            count = int(batch.target_lengths.sum())
            total, tokens = total + loss * count, tokens + count
            now = time.perf_counter()
            progress = Progress(
                epoch=epoch, epochs=recipe.epochs, step=step, steps=steps, loss=total / tokens,
                tokens_per_second=tokens / (now - epoch_began), seconds=now - began,
            )  # fmt: skip
            on_step(progress)
        history.append(progress)
        on_epoch(progress)
    model.eval()
    return history


def _step(
    model: TranslationModel, batch: Batch, optimiser: torch.optim.Optimizer, recipe: Recipe
) -> float:
    optimiser.zero_grad(set_to_none=True)
    loss = model.loss(batch, recipe.label_smoothing)
    loss.backward()
    clip_grad_norm_(model.parameters(), recipe.clip, foreach=True)
    value = loss.item()
    if not math.isfinite(value):
        raise FloatingPointError(
            f"the loss became {value} at learning rate {recipe.learning_rate:g}; try a lower one"
        )
    optimiser.step()
    return value


def _optimiser(model: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    matrices = [p for p in model.parameters() if p.requires_grad and p.dim() > 1]
    others = [p for p in model.parameters() if p.requires_grad and p.dim() <= 1]
    groups = [
        {"params": matrices, "weight_decay": recipe.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=True)


def _schedule(recipe: Recipe, steps_per_epoch: int) -> Callable[[int], float]:
    total = recipe.epochs * steps_per_epoch

    def factor(step: int) -> float:
        rise = min(1.0, (step + 1) / (recipe.warmup + 1))
        if recipe.schedule == "constant":
            return rise
        done = max(0.0, (step - recipe.warmup) / max(1, total - recipe.warmup))
        return rise * 0.5 * (1.0 + math.cos(math.pi * min(1.0, done)))

    return factor

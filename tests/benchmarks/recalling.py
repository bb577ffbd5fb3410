"""A step of MQAR's model beside plain torch's, on the CPU and on a GPU where there is one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.flop_counter import FlopCounterMode

from attention_plugins.race.field.model import SHAPES, FieldModel
from attention_plugins.race.field.tasks import IGNORED, TASKS, Labelled
from attention_plugins.race.field.training import optimiser_of, stepping
from attention_plugins.registry import load
from tests.benchmarks.rows import Row, interleaved

_SIDE = 8192  # of the square matrices whose product says how fast a device multiplies


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
        hidden = self.dropout(
            self.tokens(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        )
        residual: Tensor | float = 0.0
        lowest = torch.full((ids.shape[1],) * 2, -10_000.0, device=ids.device)
        for layer in range(2):
            residual = hidden + residual
            normed = self.norms[2 * layer](residual)
            queries, keys, values = self.inwards[layer](normed).chunk(3, dim=-1)
            scores = torch.einsum("btd,bsd->bts", queries, keys / keys.shape[-1] ** 0.5)
            weights = self.dropout((scores + lowest.triu(1)).softmax(dim=-1))
            mixed = self.outwards[layer](torch.einsum("bts,bsd->btd", weights, values))
            residual = residual + mixed
            hidden = self.norms[2 * layer + 1](residual)
        return self.head(self.norms[4](hidden + residual))


def recalled(size: int, rounds: int, device: str = "cpu", steps: int = 1) -> Row:
    """Steps of MQAR at (64, 4), ours and those of plain torch."""
    task = TASKS["mqar_64_4"]
    count = steps * (rounds + 1)
    batch = task.drawn(task.budget.batch_size * count, 0, learned=True)
    wanted = torch.full_like(batch.inputs, IGNORED).long().scatter_(1, batch.places, batch.labels)
    loader = iter(DataLoader(
        TensorDataset(batch.inputs.long(), wanted), task.budget.batch_size, shuffle=True
    ))  # fmt: skip
    torch.manual_seed(0)
    scoring = load(allow=[]).scorings["scaled_dot"].factory()
    model = FieldModel(scoring, SHAPES[f"zoology_{size}"], task).to(device).train()
    step = stepping(model, optimiser_of(model, task, 1e-3))
    drawn = batch.to(device)
    parts = iter(torch.arange(len(batch.inputs), device=device).split(task.budget.batch_size))
    plain = Zoology(task.vocabulary, task.length, size).to(device)
    optimiser = torch.optim.AdamW(plain.parameters(), lr=1e-3, weight_decay=0.1)
    losses: dict[str, Tensor] = {}

    def ours() -> None:
        for _ in range(steps):
            losses["ours"] = step(drawn.rows(next(parts)), 1e-3)
        losses["ours"].item()

    def theirs() -> None:
        for _ in range(steps):
            ids, labels = (part.to(device) for part in next(loader))
            optimiser.zero_grad()
            loss = cross_entropy(plain(ids).flatten(0, 1), labels.flatten())
            loss.backward()
            optimiser.step()
            losses["theirs"] = loss.detach()
        losses["theirs"].item()

    row = interleaved(
        f"steps of MQAR ({steps}), 512 sequences of 64, hidden {size}, on {device}",
        "plain torch, as its authors do", ours, theirs, rounds=rounds,
    )  # fmt: skip
    note = f"loss {losses['ours']:.2f} and {losses['theirs']:.2f} nats"
    if device != "cpu":
        first = drawn.rows(slice(task.budget.batch_size))
        note += (
            f"; {100 * steps * _bound(model, first) / row.ours:.0f}% of the time is its products"
        )
    return replace(row, note=note)


def _bound(model: FieldModel, batch: Labelled) -> float:
    """Seconds of a step's matrix products at the rate of one large product."""
    with FlopCounterMode(display=False) as counter:
        model.loss(batch).backward()
    square = torch.randn(_SIDE, _SIDE, device=batch.inputs.device)
    taken = []
    for _ in range(4):
        torch.cuda.synchronize()
        began = time.perf_counter()
        square @ square
        torch.cuda.synchronize()
        taken.append(time.perf_counter() - began)
    return counter.get_total_flops() * min(taken) / (2 * _SIDE**3)


def rows(quick: bool) -> Iterator[Row]:
    """On the CPU, and 20 steps at a time on a GPU."""
    yield recalled(64, 2 if quick else 8)
    if torch.cuda.is_available():
        for size in (64, 512):
            yield recalled(size, 3 if quick else 10, "cuda", 20)

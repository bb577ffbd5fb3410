"""Teaching a translation model: batches to steps, steps to a history; stopping and going on."""

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from attention_plugins.checkpoints import stored
from attention_plugins.contract import ContractError
from attention_plugins.encoding import Encoded, batches
from attention_plugins.models.protocols import Batch, Module, TranslationModel
from attention_plugins.randomness import restore, states
from attention_plugins.recipe import Recipe


def state_of(model: Module, optimiser: Optimizer, device: torch.device) -> dict[str, Tensor]:
    """Tensors from which :func:`go_on` continues; on the CPU with the very same numbers."""
    tensors = {f"model.{name}": tensor for name, tensor in stored(model).items()}
    for index, values in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{index}.{name}": tensor for name, tensor in values.items()}
    return tensors | {f"random.{kind}": state for kind, state in states(device).items()}


def go_on(
    tensors: Mapping[str, Tensor], model: Module, optimiser: Optimizer, device: torch.device
) -> None:
    """Set a model, its optimiser and random draws to what :func:`state_of` gave for equal ones.

    ContractError: the state is that of another model; nothing is changed then.
    """
    weights = _below("model.", tensors)
    wanted = {name: tensor.shape for name, tensor in stored(model).items()}
    if {name: tensor.shape for name, tensor in weights.items()} != wanted:
        raise ContractError(
            "the state of this training is that of another model; start a new training"
        )
    model.load_state_dict(weights, strict=False)  # a tied weight stands for two
    values: dict[int, dict[str, Tensor]] = {}
    for name, tensor in _below("optimiser.", tensors).items():
        index, _, part = name.partition(".")
        values.setdefault(int(index), {})[part] = tensor
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": values, "param_groups": groups})
    restore(_below("random.", tensors), device)


def _below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a training stands after a step; ``loss`` is the epoch's mean so far.

    Losses are in nats per target token, ``step_loss`` of the last step alone; ``seconds`` of work
    on batches since the start of the training, ``epoch_seconds`` since that of the epoch.
    """

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    step_loss: float
    tokens_per_second: float
    seconds: float
    epoch_seconds: float


class Trainer:
    """A training that may stop after any step, and go on from its :meth:`state` elsewhere.

    The model is trained in place. The caller seeds torch before building it; the order of the
    sentences follows ``recipe.seed``.
    """

    def __init__(
        self, model: TranslationModel, corpus: Encoded, recipe: Recipe,
        device: torch.device | str = "cpu",
    ) -> None:  # fmt: skip
        self.model, self.device = model, torch.device(device)
        self._corpus, self._recipe = corpus, recipe
        model.to(self.device).train()
        self._optimiser = _optimiser(model, recipe)
        self.steps = math.ceil(len(corpus.source) / recipe.batch_size)  # of an epoch
        self._factor = _schedule(recipe, self.steps)
        self._generator = random.Random(recipe.seed)
        self._order = self._generator.getstate()  # at the beginning of the epoch
        self._epoch, self._step, self._seconds = 1, 0, 0.0
        self._loss, self._tokens, self._epoch_seconds = 0.0, 0, 0.0
        self._step_loss = math.nan

    def epochs(
        self, on_step: Callable[[Progress], None] = lambda progress: None
    ) -> Iterator[Progress]:
        """Train to the recipe's last epoch; the :class:`Progress` of each epoch at its end.

        ``on_step`` may raise to stop; what was learned stays. FloatingPointError: loss not finite.
        """
        while self._epoch <= self._recipe.epochs:
            self._generator.setstate(self._order)
            left = batches(
                self._corpus, self._recipe.batch_size, self._generator, self.device, self._step
            )
            began = time.perf_counter()
            for batch in left:
                self._learn(batch)
                now = time.perf_counter()
                self._seconds += now - began
                self._epoch_seconds += now - began
                on_step(self.progress())
                began = time.perf_counter()
            ended = self.progress()
            self._order = self._generator.getstate()
            self._epoch, self._step = self._epoch + 1, 0
            self._loss, self._tokens, self._epoch_seconds = 0.0, 0, 0.0
            yield ended
        self.model.eval()  # as all its users expect it

    def progress(self) -> Progress:
        """Where the training stands within its epoch, after at least one step of it."""
        return Progress(
            epoch=self._epoch, epochs=self._recipe.epochs, step=self._step, steps=self.steps,
            loss=self._loss / self._tokens, step_loss=self._step_loss, seconds=self._seconds,
            tokens_per_second=self._tokens / self._epoch_seconds,
            epoch_seconds=self._epoch_seconds,
        )  # fmt: skip

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and JSON from which :meth:`restore` goes on: weights, optimiser, random draws.

        On the CPU the restored training gives the very numbers of an uninterrupted one.
        """
        version, order, extra = self._order
        return state_of(self.model, self._optimiser, self.device), {
            **{name: getattr(self, f"_{name}") for name in _COUNTS},
            "order": [version, list(order), extra],
        }

    def restore(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Go on where :meth:`state` was taken, of a trainer of equal model, corpus and recipe.

        ContractError: the state is that of another model.
        """
        go_on(tensors, self.model, self._optimiser, self.device)
        for name in _COUNTS:
            setattr(self, f"_{name}", facts[name])
        version, order, extra = facts["order"]
        self._order = (version, tuple(order), extra)

    def _learn(self, batch: Batch) -> None:
        done = (self._epoch - 1) * self.steps + self._step
        for group in self._optimiser.param_groups:
            group["lr"] = self._recipe.learning_rate * self._factor(done)
        self._optimiser.zero_grad(set_to_none=True)
        loss = self.model.loss(batch, self._recipe.label_smoothing)
        loss.backward()
        clip_grad_norm_(self.model.parameters(), self._recipe.clip, foreach=True)
        value = loss.item()
        if not math.isfinite(value):
            learning_rate = self._recipe.learning_rate
            raise FloatingPointError(
                f"the loss became {value} at learning rate {learning_rate:g}; try a lower one, "
                "or look for a scoring or normaliser that gives NaN or infinity: check names it"
            )
        self._optimiser.step()
        self._step_loss = value
        count = int(batch.target_lengths.sum())
        self._loss, self._tokens = self._loss + value * count, self._tokens + count
        self._step += 1


_COUNTS = ("epoch", "step", "seconds", "loss", "tokens", "epoch_seconds")


def train(
    model: TranslationModel, corpus: Encoded, recipe: Recipe, *,
    device: torch.device | str = "cpu",
    on_step: Callable[[Progress], None] = lambda progress: None,
    on_epoch: Callable[[Progress], None] = lambda progress: None,
) -> list[Progress]:  # fmt: skip
    """Train in place, see :class:`Trainer`; the last :class:`Progress` of every epoch."""
    history = []
    for progress in Trainer(model, corpus, recipe, device).epochs(on_step):
        history.append(progress)
        on_epoch(progress)
    return history


def _optimiser(model: Module, recipe: Recipe) -> torch.optim.Optimizer:
    learning = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in learning if p.dim() > 1], "weight_decay": recipe.weight_decay},
        {"params": [p for p in learning if p.dim() <= 1], "weight_decay": 0.0},
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

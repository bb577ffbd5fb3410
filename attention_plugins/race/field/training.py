"""One training on a task of the field, until it is solved, flat, or out of budget."""

import functools
import logging
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from attention_plugins.devices import clock_of
from attention_plugins.race.field.model import SHAPES, FieldModel
from attention_plugins.race.field.tasks import IGNORED, TASKS, FieldTask, Labelled
from attention_plugins.race.records import FLAT, SOLVED, SPENT, Budget, Outcome, Trial
from attention_plugins.race.translating import share_weights
from attention_plugins.randomness import seeded
from attention_plugins.registry import installed

_PLAIN = "uniform"  # a scoring without weights
_USUAL = 3  # steps before one is recorded
_RISE, _FALL = 0.01, 0.99  # of accuracy and of the loss, without which a training is flat
_LOGGER = logging.getLogger(__name__)


def learn(
    trial: Trial, budget: Budget, device: torch.device | str = "cpu",
    beat: Callable[[], object] = lambda: None,
) -> Outcome:  # fmt: skip
    """Train a contestant on a task of the field; test it, and call ``beat``, after every epoch.

    ``validation`` is the accuracy at the end, on the test part by which authors choose rates.
    ContractError: an unknown scoring. FloatingPointError: the loss is not finite.
    """
    task = TASKS[trial.task]
    learned, tested = _drawn(trial.task, budget.examples, trial.seed, str(device))
    model = _model(trial, task).to(device)
    torch.manual_seed(trial.seed)  # dropout and batches are the same for all
    course: list[tuple[float, float, float]] = []
    clock = clock_of(device)
    began = clock()
    for loss in epochs(model, learned, task, budget, trial.rate):
        step = budget.steps / budget.epochs * (len(course) + 1)
        course.append((step, round(accuracy(model, tested, task), 5), float(f"{loss:.5g}")))
        beat()
        _LOGGER.info("%s: step %d, accuracy %.4f, loss %.4f", trial.id, *course[-1])
        if ended := _ended(course, task):
            break
    else:
        ended = SPENT
    seconds = clock() - began
    last = course[-1][1]
    return Outcome(
        trial=trial, validation=last, quality=math.nan if trial.tuning else last,
        course=course, ended=ended, parameters=sum(w.numel() for w in model.parameters()),
        operations=_operations(model, tested.rows(slice(2))),
        milliseconds=round(1e3 * seconds / course[-1][0], 3),
    )  # fmt: skip


def epochs(
    model: FieldModel, learned: Labelled, task: FieldTask, budget: Budget, rate: float
) -> Iterator[float]:
    """Train a model in place; the mean loss of each epoch, in nats, at its end."""
    step = stepping(model, task, rate)
    for epoch in range(budget.epochs):
        share = (1 + math.cos(math.pi * epoch / budget.epochs)) / 2
        model.train()
        total = torch.zeros((), device=learned.inputs.device)
        now = task.last_rate + (rate - task.last_rate) * share
        order = torch.randperm(len(learned.inputs), device=learned.inputs.device)
        for rows in order.split(budget.batch_size):
            total += step(learned.rows(rows), now)
        loss = total.item() / math.ceil(len(order) / budget.batch_size)
        if not math.isfinite(loss):
            raise FloatingPointError(f"the loss became {loss} in epoch {epoch + 1} at {rate:g}")
        yield loss


def stepping(
    model: FieldModel, task: FieldTask, rate: float
) -> Callable[[Labelled, float], Tensor]:
    """A function that learns from a batch at a rate, and gives its loss without gradient.

    On a CUDA device the loss is overwritten by the next step.
    """
    device = next(model.parameters()).device
    on_cuda = device.type == "cuda"
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=torch.tensor(rate, device=device) if on_cuda else rate,
        weight_decay=task.decay, fused=True, capturable=on_cuda,
    )  # fmt: skip
    group = optimiser.param_groups[0]

    def learn_from(batch: Labelled) -> Tensor:
        optimiser.zero_grad()
        loss = model.loss(batch)
        loss.backward()
        optimiser.step()
        return loss.detach()

    repeated = Repeated(learn_from, device) if on_cuda else learn_from

    def step(batch: Labelled, rate: float) -> Tensor:
        group["lr"] = group["lr"].fill_(rate) if on_cuda else rate
        return repeated(batch)

    return step


class Repeated:
    """A step that a CUDA device repeats as one graph, without Python between its kernels.

    Batches of a shape take a few steps as usual, in which libraries make what they need once; the
    next one is recorded. A scoring that waits for the device cannot be recorded: ``problem`` then
    says so, and steps go on as usual.
    """

    def __init__(self, step: Callable[[Labelled], Tensor], device: torch.device) -> None:
        self._step, self._stream = step, torch.cuda.Stream(device)
        self._seen: Counter[torch.Size] = Counter()
        self._graphs: dict[torch.Size, tuple[torch.cuda.CUDAGraph, Labelled, Tensor]] = {}
        self.problem = ""

    def __call__(self, batch: Labelled) -> Tensor:
        """Step with a batch; the loss, which the next step of its shape overwrites."""
        shape = batch.inputs.shape
        if shape in self._graphs:
            graph, read, loss = self._graphs[shape]
            for ours, theirs in zip(read, batch, strict=True):
                ours.copy_(theirs)
            graph.replay()
            return loss
        self._seen[shape] += 1
        if self.problem or self._seen[shape] < _USUAL:
            return self._as_usual(batch)
        return self._watched(batch) if self._seen[shape] == _USUAL else self._recorded(batch)

    def _as_usual(self, batch: Labelled) -> Tensor:
        current = torch.cuda.current_stream()
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            loss = self._step(batch)
        current.wait_stream(self._stream)
        return loss

    def _watched(self, batch: Labelled) -> Tensor:
        """A step as usual that says whether it waits: torch is then told to refuse."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch calls this watch a prototype
                torch.cuda.set_sync_debug_mode("error")
            return self._as_usual(batch)
        except RuntimeError as error:
            self.problem = str(error).partition("\n")[0]
            _LOGGER.warning("steps are not recorded: %s", self.problem)
        finally:
            torch.cuda.set_sync_debug_mode("default")
        return self._as_usual(batch)

    def _recorded(self, batch: Labelled) -> Tensor:
        graph, read = torch.cuda.CUDAGraph(), Labelled(*(part.clone() for part in batch))
        with torch.cuda.graph(graph, stream=self._stream):
            loss = self._step(read)
        self._graphs[batch.inputs.shape] = graph, read, loss
        graph.replay()
        return loss


@torch.no_grad()
def accuracy(model: FieldModel, tested: Labelled, task: FieldTask) -> float:
    """The share of what was asked that a model finds; see :attr:`.FieldTask.macro`."""
    model.eval()
    labels = tested.labels.cpu()
    asked = labels != IGNORED
    found = torch.cat(
        [
            model(tested.rows(slice(start, start + task.budget.batch_size))).argmax(dim=-1)
            for start in range(0, len(asked), task.budget.batch_size)
        ]
    ).cpu()
    right = (found == labels)[asked].double()
    if not task.macro:
        return right.mean().item()
    labels = labels[asked]
    counts = labels.bincount(minlength=task.vocabulary)
    hits = labels.bincount(right, minlength=task.vocabulary)
    return (hits[counts > 0] / counts[counts > 0]).mean().item()


def _ended(course: Sequence[tuple[float, float, float]], task: FieldTask) -> str:
    if task.solved is not None and course[-1][1] > task.solved:
        return SOLVED
    if len(course) <= task.flat:
        return ""
    before, since = course[: -task.flat], course[-task.flat :]
    rose = max(value for _, value, _ in since) >= max(value for _, value, _ in before) + _RISE
    fell = min(loss for *_, loss in since) <= _FALL * min(loss for *_, loss in before)
    return "" if rose or fell else FLAT


@functools.lru_cache(maxsize=1)
def _drawn(name: str, examples: int, seed: int, device: str) -> tuple[Labelled, Labelled]:
    task = TASKS[name]
    learned = task.drawn(examples, seed, learned=True)
    return learned.to(device), task.drawn(task.reported, seed, learned=False).to(device)


def _model(trial: Trial, task: FieldTask) -> FieldModel:
    who, registry = trial.contestant, installed()
    made = []
    for factory in (
        registry.scoring_factory(who.scoring, normaliser=who.normaliser),
        registry.scoring_factory(_PLAIN),
    ):
        with seeded(trial.seed):
            made.append(FieldModel(factory, SHAPES[who.model], task))
    model, plain = made
    share_weights(model, plain)
    return model


def _operations(model: FieldModel, batch: Labelled) -> int:
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(batch)
    return round(counter.get_total_flops() / len(batch.inputs))

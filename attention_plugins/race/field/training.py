"""One training on a task of the field, until it is solved, flat, or out of budget."""

import functools
import json
import logging
import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.optim import AdamW

from attention_plugins.contract import ContractError
from attention_plugins.devices import clock_of
from attention_plugins.race.field.model import SHAPES, FieldModel
from attention_plugins.race.field.tasks import IGNORED, TASKS, FieldTask, Labelled
from attention_plugins.race.records import FLAT, SOLVED, SPENT, Budget, Outcome, Trial
from attention_plugins.race.translating import PLAIN, operations, share_weights
from attention_plugins.randomness import seeded
from attention_plugins.registry import installed
from attention_plugins.training import go_on, state_of

_USUAL = 3  # steps before one is recorded
_RISE, _FALL = 0.01, 0.99  # of accuracy and of the loss, without which a training is flat
_KEPT_EVERY = 60.0  # seconds
_LOGGER = logging.getLogger(__name__)

Course = list[tuple[float, float, float]]  # steps, accuracy, and the loss of the epoch


def learn(
    trial: Trial, budget: Budget, device: torch.device | str = "cpu",
    beat: Callable[[], object] = lambda: None, rest: Path | None = None,
) -> Outcome:  # fmt: skip
    """Train a contestant on a task of the field; test it, and call ``beat``, after every epoch.

    ``validation`` is the accuracy at the end, on the test part by which authors choose rates.
    ``rest``: a file that is written now and then, from which a training that was stopped goes on;
    ``seconds`` are those that it took before. ContractError: an unknown scoring.
    FloatingPointError: the loss is not finite.
    """
    task = TASKS[trial.task]
    learned, tested = _drawn(trial.task, budget.examples, trial.seed, str(device))
    model = _model(trial, task).to(device)
    optimiser = optimiser_of(model, task, trial.rate)
    torch.manual_seed(trial.seed)  # dropout and batches are the same for all
    resting = Resting(rest, trial, budget, model, optimiser)
    course, before = resting.awake()
    clock = clock_of(device)
    began = clock()
    for loss in epochs(model, optimiser, learned, task, budget, len(course)):
        step = budget.steps / budget.epochs * (len(course) + 1)
        course.append((step, round(accuracy(model, tested, task), 5), float(f"{loss:.5g}")))
        beat()
        _LOGGER.info("%s: step %d, accuracy %.4f, loss %.4f", trial.id, *course[-1])
        if ended := _ended(course, task):
            break
        resting.keep(course, before + clock() - began)
    else:
        ended = SPENT
    seconds = before + clock() - began
    last, part = course[-1][1], tested.rows(slice(2))
    return Outcome(
        trial=trial, validation=last, quality=math.nan if trial.tuning else last,
        course=course, ended=ended, parameters=sum(w.numel() for w in model.parameters()),
        operations=operations(lambda: model(part), len(part.inputs)),
        milliseconds=round(1e3 * seconds / course[-1][0], 3), seconds=before,
    )  # fmt: skip


def optimiser_of(model: FieldModel, task: FieldTask, rate: float) -> AdamW:
    """AdamW with the task's decay; on a CUDA device as one that can be recorded."""
    device = next(model.parameters()).device
    on_cuda = device.type == "cuda"
    return AdamW(
        model.parameters(), lr=torch.tensor(rate, device=device) if on_cuda else rate,
        weight_decay=task.decay, fused=True, capturable=on_cuda,
    )  # fmt: skip


def epochs(
    model: FieldModel, optimiser: AdamW, learned: Labelled, task: FieldTask, budget: Budget,
    done: int = 0,
) -> Iterator[float]:  # fmt: skip
    """Train a model in place, after ``done`` epochs; the mean loss of each, in nats, at its end.

    The rate falls from the optimiser's to the task's last one.
    """
    rate = float(optimiser.defaults["lr"])
    step = stepping(model, optimiser)
    for epoch in range(done, budget.epochs):
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


def stepping(model: FieldModel, optimiser: AdamW) -> Callable[[Labelled, float], Tensor]:
    """A function that learns from a batch at a rate, and gives its loss without gradient.

    On a CUDA device the loss is overwritten by the next step.
    """
    device = next(model.parameters()).device
    on_cuda = device.type == "cuda"
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


class Resting:
    """A file from which one trial's training goes on at one budget on one kind of device."""

    def __init__(
        self, path: Path | None, trial: Trial, budget: Budget, model: FieldModel, optimiser: AdamW
    ) -> None:
        self._path, self._model, self._optimiser = path, model, optimiser
        self._device = next(model.parameters()).device
        sizes = (budget.examples, budget.epochs, budget.batch_size)
        self._of = json.dumps([trial.id, *sizes, self._device.type])
        self._kept = time.monotonic()

    def awake(self) -> tuple[Course, float]:
        """Go on from the file: its course, and the seconds it took; from the start without one."""
        if self._path is None or not self._path.exists():
            return [], 0.0
        try:
            with safe_open(self._path, "pt") as file:
                facts = file.metadata() or {}
                if facts.get("of") != self._of:
                    return [], 0.0
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            go_on(tensors, self._model, self._optimiser, self._device)
            return [tuple(one) for one in json.loads(facts["course"])], float(facts["seconds"])
        except (OSError, SafetensorError, ContractError) as error:
            _LOGGER.warning("%s: it starts anew: %s", self._path, error)
            return [], 0.0

    def keep(self, course: Course, seconds: float) -> None:
        """Write the file, once a minute at most."""
        if self._path is None or time.monotonic() - self._kept < _KEPT_EVERY:
            return
        facts = {"of": self._of, "course": json.dumps(course), "seconds": str(seconds)}
        tensors = state_of(self._model, self._optimiser, self._device)
        scratch = self._path.with_suffix(".new")
        save_file(tensors, scratch, facts)
        scratch.replace(self._path)
        self._kept = time.monotonic()


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
        registry.scoring_factory(PLAIN),
    ):
        with seeded(trial.seed):
            made.append(FieldModel(factory, SHAPES[who.model], task))
    model, plain = made
    share_weights(model, plain)
    return model

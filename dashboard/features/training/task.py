"""Training: from a corpus to a model that is kept after every epoch, with stops in between.

What comes of it lies in the training's folder; the events carry the live figures alone.
"""

import json
import math
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from attention_plugins import checkpoints, experiment
from attention_plugins.contract import ContractError
from attention_plugins.datasets.parallel import references
from attention_plugins.devices import resolve
from attention_plugins.evaluation import evaluate, neighbours_of
from attention_plugins.models.protocols import TranslationModel
from attention_plugins.registry import installed
from attention_plugins.training import Progress, Trainer
from attention_plugins.translator import Translator
from dashboard.features.training import task_figures
from dashboard.features.training import task_order as training_order
from dashboard.jobs.task_tables import maps_table
from dashboard.jobs.tasks import Cancelled, Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result
from dashboard.records.training import FOLDER, MOST_PARAMETERS, MOST_SECONDS, Epoch, parts_of
from dashboard.settings import variable
from dashboard.storage.training_folder import TrainingFolder

_MOST_SCORED = 200  # held-out sources: greedy, so that scoring costs little beside an epoch
_SECONDS_BETWEEN_SNAPSHOTS = 60.0
_SECONDS_FOR_LOCK = 10.0  # a worker that was just stopped may still be ending
_SNAPSHOT = "training"
_LIVE = ("epoch", "epochs", "step", "steps", "loss", "tokens_per_second")


def perform(request: Request, context: Context) -> Result:
    """Train, or go on with a training, in the folder that the option ``training`` names.

    It stops after any step, with a snapshot; ValueError for a bad option, corpus or folder, or a
    loss that is not finite.
    """
    registry, given = installed(), dict(request.options)
    order = training_order.read(request, registry)
    device = resolve(request.device)
    folder = TrainingFolder(str(given.get(FOLDER, "")))
    with folder.locked(_SECONDS_FOR_LOCK) as free:
        if not free:
            raise ContractError("another process works on this training; stop it there first")
        folder.note_state("running")
        context.report(0.0, gettext_noop("Reading the corpus."))
        pairs = training_order.load(request, order, registry)
        context.report(0.0, gettext_noop("Building the model."))
        ready = experiment.prepare(order.experiment, pairs, registry)
        most = float(given.get(MOST_PARAMETERS, math.inf))
        found = ready.card["training"]["parameters"]
        if found > most:
            raise ContractError(
                f"need a model of at most {most:,.0f} weights "
                f"({variable('training_parameters')}), got {found:,}; make it narrower or give "
                "it fewer layers"
            )
        seconds = float(given.get(MOST_SECONDS, math.inf))
        with suppress(_TimeUp):
            _Work(folder, context, order, ready, device, seconds).run()
    return Result(facts={"cacheable": False})


class _TimeUp(Exception):
    """The training has run as long as this server allows at a time."""


@dataclass
class _Work:
    folder: TrainingFolder
    context: Context
    order: training_order.Order
    ready: experiment.Prepared
    device: torch.device
    seconds: float

    def __post_init__(self) -> None:
        ready = self.ready
        # What a plugin builds for translation is one by its contract.
        model = cast("TranslationModel", ready.model)
        self._trainer = Trainer(model, ready.encoded, ready.recipe, self.device)
        self._held_out = experiment.sample(ready.held_out, _MOST_SCORED)
        # What a card calls the score after an epoch: of held-out sentences, or of a sample.
        self._score_name = gettext_noop("held out, greedy")
        if len(references(ready.held_out)) > _MOST_SCORED:
            self._score_name = gettext_noop("held-out sample, greedy")
        self._counted = experiment.counted_by(
            installed().datasets.get(self.order.experiment.dataset)
        )
        self._neighbours = neighbours_of(self._held_out, ready.learned, installed(), self._counted)
        self._saved = self._began = time.monotonic()
        self._memory = training_order.PeakMemory(self.device)
        self._code = task_figures.code_of(self.order.experiment)
        self._losses = task_figures.Losses(self.folder.note_losses)
        self._left = task_figures.TimeLeft()

    def run(self) -> None:
        with experiment.at_rest(self.ready, self.device) as translator:
            if self.order.probe:
                translator.explain(self.order.probe)  # refused now, not after an epoch
        if snapshot := self.folder.snapshot():
            self._restore(snapshot)
        self.folder.note_facts(
            {**task_figures.facts_of(self.ready), "steps": self._trainer.steps, "code": self._code}
        )
        try:
            for progress in self._trainer.epochs(self._after_step):
                if progress.epoch in (1, progress.epochs):
                    experiment.guard(self.ready, installed())
                self._after_epoch(progress)
                self._save()
        except FloatingPointError as error:
            raise ContractError(str(error)) from error
        *_, last = epochs = self.folder.history().epochs
        note = gettext_noop(
            "Trained to the end of epoch {epoch}; loss {loss:.3f}.",
            epoch=last.epoch, loss=last.loss,
        )  # fmt: skip
        self.folder.note_state("done", note, {**task_figures.totals(epochs), **self._figures()})
        self.folder.forget_snapshot()

    def _after_step(self, now: Progress) -> None:
        fraction = (now.epoch - 1 + now.step / now.steps) / now.epochs
        self._losses.add(now)
        figures = {name: v for name, v in asdict(now).items() if name in _LIVE}
        figures |= self._left.after(now)
        note = gettext_noop(
            "Epoch {epoch} of {epochs}, loss {loss:.3f}.",
            epoch=now.epoch, epochs=now.epochs, loss=now.loss,
        )  # fmt: skip
        try:
            self.context.report(fraction, note, {**figures, "fraction": fraction})
        except Cancelled:
            self._save()
            raise
        if time.monotonic() - self._began > self.seconds:
            self._save()
            self.folder.note_state("paused", task_figures.time_up(now.epoch, self.seconds))
            raise _TimeUp
        if time.monotonic() - self._saved > _SECONDS_BETWEEN_SNAPSHOTS:
            self._save()

    def _after_epoch(self, progress: Progress) -> None:
        self._losses.flush()
        began = time.monotonic()
        with experiment.at_rest(self.ready, self.device) as translator:
            score, said = self._score(translator), None
            if self.order.probe:
                said = translator.explain(self.order.probe)
        card = experiment.card_after(self.ready, progress, self.device)
        if score:
            card["scores"] = {self._score_name: score}
        with self.folder.new_epoch(progress.epoch) as place:
            checkpoints.write(place, self.ready.model, card)
            if said:
                self.folder.write_probe(place, maps_table(said.maps))
        self.folder.note_epoch(Epoch(
            epoch=progress.epoch, loss=progress.loss, seconds=progress.epoch_seconds,
            tokens_per_second=progress.tokens_per_second, bleu=score["bleu"] if score else None,
            score=score["metric"]["value"] if score and "metric" in score else None,
            probe=said.text if said else "", parts=parts_of(score) if score else {},
            evaluation_seconds=time.monotonic() - began,
        ))  # fmt: skip

    def _score(self, translator: Translator) -> dict[str, Any] | None:
        readable = [pair for pair in self._held_out if translator.reads(pair.source)]
        if not readable:
            return None
        metric, neighbours = self.ready.metric, self._neighbours
        return evaluate(translator, readable, metric=metric, neighbours=neighbours)

    def _figures(self) -> dict[str, Any]:
        memory = {"peak_memory": self._memory.megabytes(), "memory_of": self._memory.meaning}
        pairs = task_figures.with_alignments(self._held_out, self.ready.held_out)
        with experiment.at_rest(self.ready, self.device) as translator:
            return {**memory, **task_figures.final_figures(translator, pairs, self._counted)}

    def _save(self) -> None:
        self._losses.flush()
        tensors, facts = self._trainer.state()
        copies = {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}
        facts |= {
            "corpus": self.ready.card["corpus"]["sha256"], "code": self._code,
            "peak_memory": self._memory.megabytes(),
        }  # fmt: skip
        self.folder.write_snapshot(save(copies, {_SNAPSHOT: json.dumps(facts)}))
        self._saved = time.monotonic()

    def _restore(self, snapshot: Path) -> None:
        try:
            with safe_open(snapshot, framework="pt") as file:
                facts = json.loads(file.metadata()[_SNAPSHOT])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError, TypeError, KeyError, ValueError) as error:
            raise ContractError(
                f"the snapshot of this training cannot be read ({error}); start a new training"
            ) from error
        if facts.pop("corpus", "") != self.ready.card["corpus"]["sha256"]:
            raise ContractError(
                "the corpus has changed since this training began; start a new training"
            )
        if changed := [one[1] for one in facts.pop("code", ()) if one not in self._code]:
            raise ContractError(
                f"the code of {' and '.join(changed)} has changed since this training began; "
                "start a new training"
            )
        self._memory.before = facts.pop("peak_memory", None) or 0.0
        self._trainer.restore(tensors, facts)

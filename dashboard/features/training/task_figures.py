"""What is measured of a training once it has ended.

Loss and the held-out score are measured after every epoch, in the task itself.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import torch

from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.encoding import GOLD_TOKENISER
from attention_plugins.experiment import BLEU, Experiment, Prepared, layer_of
from attention_plugins.gold import alignment_error
from attention_plugins.health import relative_entropy
from attention_plugins.registry import installed
from attention_plugins.text import normalise
from attention_plugins.training import Progress
from attention_plugins.translator import Translator
from dashboard.language import gettext_noop
from dashboard.records.training import Epoch
from dashboard.settings import variable

_POINTS = 400  # of a whole training
_SECONDS_BETWEEN = 1.0  # pages look once a second

Keep = Callable[[Sequence[tuple[int, float]]], None]


class Losses:
    """Hands on the first step's loss, and after that the mean of every few steps.

    ``keep`` takes steps, counted from 1 over all epochs, with their losses in nats per token.
    """

    def __init__(self, keep: Keep, clock: Callable[[], float] = time.monotonic) -> None:
        self._keep, self._clock = keep, clock
        self._points: list[tuple[int, float]] = []
        self._since: list[float] = []  # the losses of the steps since the last point
        self._kept = -math.inf

    def add(self, now: Progress) -> None:
        """Note a step."""
        self._since.append(now.step_loss)
        step, total = (now.epoch - 1) * now.steps + now.step, now.epochs * now.steps
        if step % math.ceil(total / _POINTS) == 0 or step in (1, total):
            self._points.append((step, fmean(self._since)))
            self._since = []
        if self._clock() - self._kept >= _SECONDS_BETWEEN:
            self.flush()

    def flush(self) -> None:
        """Hand on what was not yet."""
        if self._points:
            self._keep(self._points)
            self._points, self._kept = [], self._clock()


_CHANGE = 0.1  # of the time left: a smaller correction is not worth a jump of the figure


@dataclass
class _Mean:
    value: float = 0.0
    count: int = 0

    def add(self, value: float) -> None:
        self.count += 1
        self.value += (value - self.value) / self.count


class TimeLeft:
    """Times steps from the end of one to the end of the next, so that the first is warm-up.

    What comes between the last step of an epoch and the first of the next is timed apart: the
    scoring of held-out sentences, and the storing of the model. Before the first epoch has ended
    it is not known, and left out.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._step, self._evaluation = _Mean(), _Mean()
        self._before: tuple[float, bool] | None = None  # when a step ended, and an epoch with it
        self._end: float | None = None  # of the training, as it was last estimated

    def after(self, now: Progress) -> dict[str, float | None]:
        """Note a step that has just ended.

        Returns:
            ``seconds_left`` until the end of the training, steady from step to step, and
            ``seconds_whole`` of the training; None after a single step.
        """
        at = self._clock()
        if self._before:
            began, crossed = self._before
            if not crossed:
                self._step.add(at - began)
            elif self._step.count:
                self._evaluation.add(max(0.0, at - began - self._step.value))
        self._before = at, now.step == now.steps
        if not self._step.count:
            return {"seconds_left": None, "seconds_whole": None}
        epoch = now.steps * self._step.value + self._evaluation.value
        done = (now.epoch - 1) * epoch + now.step * self._step.value
        whole = now.epochs * epoch
        return {"seconds_left": self._steady(whole - done, at), "seconds_whole": whole}

    def _steady(self, left: float, at: float) -> float:
        end = at + left
        if self._end is None or abs(end - self._end) > _CHANGE * max(left, 1.0):
            self._end = end
        return max(0.0, self._end - at)


def facts_of(ready: Prepared) -> dict[str, Any]:
    """What pages show of a training, see :class:`~dashboard.records.training.Training`."""
    card = ready.card
    names = ("name", "title", "unit", "higher_is_better")
    metric = {name: getattr(ready.metric, name) for name in names}
    return {
        "title": card["title"],
        "corpus": card["corpus"]["name"],
        "parameters": card["training"]["parameters"],
        "source_words": len(card["source_vocabulary"]),
        "target_words": len(card["target_vocabulary"]),
        **{name: card["corpus"][name] for name in ("pairs", "trained_on", "held_out_sources")},
        **({"metric": metric} if ready.metric.name != BLEU else {}),  # its own, as pages show it
    }


def code_of(experiment: Experiment) -> list[list[str]]:
    """Kind, name and fingerprint of every plugin that the model is made of."""
    registry = installed()
    layer = layer_of(registry, experiment)
    names = experiment.model, experiment.scoring, experiment.normaliser, layer
    named = zip(("models", "scorings", "normalisers", "layers"), names, strict=True)
    return [[kind, name, registry.provider(kind, name).code] for kind, name in named if name]


def time_up(epoch: int, seconds: float) -> str:
    """Why a training was paused that has run for as long as this server allows."""
    return gettext_noop(
        "Paused in epoch {epoch:,}: it has run for {hours:.3g} hours, as long as a training may "
        "at a time ({setting}); resume to go on.",
        epoch=epoch, hours=seconds / 3600, setting=variable("training_hours"),
    )  # fmt: skip


def with_alignments(
    sample: Sequence[SentencePair], held_out: Sequence[SentencePair]
) -> list[SentencePair]:
    """The held-out pairs, as the corpus has them, of the sources that were drawn."""
    drawn = {normalise(pair.source) for pair in sample}
    return [pair for pair in held_out if normalise(pair.source) in drawn]


def totals(epochs: Sequence[Epoch]) -> dict[str, float | None]:
    """``seconds`` of all epochs' steps, and ``tokens_per_second`` over that time."""
    seconds = sum(epoch.seconds for epoch in epochs)
    tokens = sum(epoch.tokens_per_second * epoch.seconds for epoch in epochs)
    return {"seconds": seconds, "tokens_per_second": tokens / seconds if seconds else None}


def final_figures(
    translator: Translator, pairs: Sequence[SentencePair], counted: str = GOLD_TOKENISER
) -> dict[str, float | None]:
    """Figures of the cross-attention while the pairs' targets are forced; None without any data.

    ``alignment_error``: of the best layer's mean of heads, 0 to 1, against the gold alignments of
    the pairs. ``relative_entropy``: the mean over all rows, heads and layers of the entropy over
    the logarithm of the source's length. ``counted``: the tokeniser that the alignments count.
    """
    rates: Mapping[Any, Sequence[float]] = {}
    with suppress(ContractError):  # no gold here, or gold for another tokeniser
        rates = alignment_error(translator, pairs, counted)
    return {
        "alignment_error": min((heads[-1] for heads in rates.values()), default=None),
        "relative_entropy": _relative_entropy(translator, pairs),
    }


def _relative_entropy(translator: Translator, pairs: Sequence[SentencePair]) -> float | None:
    reads = translator.reads
    readable = [(pair.source, pair.target) for pair in pairs
                if reads(pair.source) and reads(pair.target, target=True)]  # fmt: skip
    total, rows = 0.0, 0
    for sites in translator.look(readable):
        for site, weights in sites.items():
            if site.kind == "cross":
                allowed = weights.new_ones(weights.shape[1:], dtype=torch.bool)
                total += float(relative_entropy(weights, allowed).mean()) * len(allowed)
                rows += len(allowed)
    return total / rows if rows and math.isfinite(total) else None

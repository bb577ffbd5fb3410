"""What is known of a training from its first step, and what is said when its time is up."""

from __future__ import annotations

from typing import Any

from attention_plugins.experiment import BLEU, Experiment, Prepared
from attention_plugins.registry import installed
from dashboard.language import gettext_noop
from dashboard.settings import variable


def facts_of(ready: Prepared) -> dict[str, Any]:
    """What pages show of a training, see :class:`~dashboard.records.training.Training`."""
    card = ready.card
    return {
        "title": card["title"],
        "corpus": card["corpus"]["name"],
        "parameters": card["training"]["parameters"],
        "source_words": len(card["source_vocabulary"]),
        "target_words": len(card["target_vocabulary"]),
        "pairs": card["corpus"]["pairs"],
        "trained_on": card["corpus"]["trained_on"],
        "held_out_sources": card["corpus"]["held_out_sources"],
        **_metric(ready),
    }


def code_of(experiment: Experiment) -> list[list[str]]:
    """Kind, name and fingerprint of every plugin that the model is made of."""
    registry = installed()
    named = {
        "models": experiment.model,
        "scorings": experiment.scoring,
        "normalisers": experiment.normaliser,
    }
    return [
        [kind, name, registry.provider(kind, name).code] for kind, name in named.items() if name
    ]


def score_name(sampled: bool) -> str:
    """What a card calls the score after an epoch: of held-out sentences, or of a sample."""
    return gettext_noop("held-out sample, greedy") if sampled else gettext_noop("held out, greedy")


def time_up(epoch: int, seconds: float) -> str:
    """Why a training was paused that has run for as long as this server allows."""
    return gettext_noop(
        "Paused in epoch {epoch:,}: it has run for {hours:.3g} hours, as long as a training may "
        "at a time ({setting}); resume to go on.",
        epoch=epoch, hours=seconds / 3600, setting=variable("training_hours"),
    )  # fmt: skip


def _metric(ready: Prepared) -> dict[str, Any]:
    """The data set's own metric as pages show it; nothing where that is BLEU."""
    if ready.metric.name == BLEU:
        return {}
    names = ("name", "title", "unit", "higher_is_better")
    return {"metric": {name: getattr(ready.metric, name) for name in names}}

"""What the catalogue says of this task: options, metrics, and the ways to train with a name."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from attention_plugins.contract import Parameter, Scalar, settle
from attention_plugins.datasets.parallel import MOST_LINES
from attention_plugins.recipe import PRESETS, Preset, parameters
from attention_plugins.registry import Registry
from dashboard.jobs.task_offers import offered
from dashboard.language import gettext_noop
from dashboard.records.parameter import Metric
from dashboard.records.training import COPIED, FAR, NEAR, PARTS

_PROBE = "I am not tired."
QUICK = PRESETS["quick"]  # what a request leaves out is as here
RECIPE, MODEL = "recipe.", "model."  # before the names of the parameters of each
CORPUS = (
    Parameter(
        name="pairs", title="Sentence pairs", default=QUICK.pairs, low=0, high=MOST_LINES,
        step=100, help="Only the first so many of the corpus; 0 is all.",
    ),
    Parameter(
        name="held_out", title="Held-out sentences", default=QUICK.held_out, low=0, high=10_000,
        step=10, help="Kept away from training; up to 200 of them are translated and scored.",
    ),
)  # fmt: skip
_PARTS = {NEAR: gettext_noop("Near"), FAR: gettext_noop("Far"), COPIED: gettext_noop("Copied")}
# The last epoch has the first two; the facts of a training that is done have the others.
_LOSS, _BLEU, *_LATER = offered(__file__).METRICS
METRICS = (
    _LOSS, _BLEU,
    *(Metric(name=name, title=_PARTS[name], help=words) for name, words in PARTS.items()), *_LATER,
)  # fmt: skip


def options(registry: Registry) -> list[dict[str, Any]]:
    """The parameters of every training, named as in a request's options, with the quick defaults.

    A model's own parameters are ``model.`` and their name; ``probe`` is a sentence, or empty.
    """
    quick = [
        replace(p, default=getattr(QUICK.recipe, p.name)).described()
        for p in parameters(registry.tokenisers)
    ]
    return [
        *(parameter.described() for parameter in CORPUS),
        *({**described, "name": RECIPE + described["name"]} for described in quick),
    ]


def presets(registry: Registry) -> dict[str, dict[str, dict[str, Scalar]]]:
    """For each preset and each translation model the value of every option."""
    models = [one for one in registry.models.values() if one.task == "translation"]
    return {
        name: {one.name: values_of(preset, one.name, one.parameters) for one in models}
        for name, preset in PRESETS.items()
    }


def values_of(preset: Preset, model: str, parameters: Sequence[Parameter]) -> dict[str, Scalar]:
    """The value of every option of a training of that model, as the preset has it."""
    chosen = settle(parameters, preset.model_parameters.get(model, {}))
    return {
        "pairs": preset.pairs, "held_out": preset.held_out, "probe": _PROBE,
        **{RECIPE + n: value for n, value in vars(preset.recipe).items() if n != "seed"},
        **{MODEL + name: value for name, value in chosen.items()},
    }  # fmt: skip

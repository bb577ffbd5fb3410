"""How to train a translation model: every hyperparameter, with its bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attention_plugins.contract import ContractError, Parameter
from attention_plugins.registry import Registry


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to train; the defaults are those of d2l.ai, section 10.4, but for two faults mended.

    Args:
        tokeniser: the name of one that is installed.
        min_frequency: tokens seen less often are ``<unk>``.
        max_tokens: longer sentences are cut; counts ``<eos>``.
        epochs, batch_size, seed: as named.
        learning_rate: of Adam, the highest of the schedule.
        schedule: ``"constant"``, or ``"cosine"``: a linear rise, then half a cosine down to 0.
        warmup: steps of the rise.
        weight_decay: of AdamW, on matrices only.
        clip: the gradient's greatest norm.
        label_smoothing: see :func:`~attention_plugins.models.losses.projected_cross_entropy`.

    Raises:
        ContractError: a value outside the bounds of :func:`parameters`, but for the tokeniser,
            which is looked up when it is needed.
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
        for parameter in _BOUNDED:
            parameter.check(getattr(self, parameter.name))
        if not isinstance(self.tokeniser, str):
            raise ContractError(f"need tokeniser to be a name, got {self.tokeniser!r}")


_SHAPES: dict[str, dict[str, Any]] = {
    "epochs": {"title": "Epochs", "low": 1, "high": 10_000, "help": "Passes over the corpus."},
    "batch_size": {
        "title": "Batch size", "low": 1, "high": 10_000, "help": "Sentence pairs per step.",
    },
    "learning_rate": {
        "title": "Learning rate", "low": 1e-7, "high": 10.0, "step": 0.001,
        "help": "Of Adam: the highest of the schedule.",
    },
    "schedule": {
        "title": "Schedule", "choices": ("constant", "cosine"),
        "help": "Cosine: the learning rate falls to 0 towards the last epoch.",
    },
    "warmup": {
        "title": "Warm-up steps", "low": 0, "high": 10**6,
        "help": "Steps in which the learning rate rises from 0.",
    },
    "weight_decay": {
        "title": "Weight decay", "low": 0.0, "high": 1.0, "step": 0.01,
        "help": "Of AdamW, on matrices only.",
    },
    "clip": {
        "title": "Gradient clipping", "low": 1e-3, "high": 1e3, "step": 0.1,
        "help": "The gradient's greatest norm.",
    },
    "label_smoothing": {
        "title": "Label smoothing", "low": 0.0, "high": 0.9, "step": 0.05,
        "help": "Share of the target that is spread over all other words.",
    },
    "tokeniser": {
        "title": "Tokeniser",
        "help": "How a sentence is cut into tokens; the page Plugins describes each way.",
    },
    "min_frequency": {
        "title": "Rare words", "low": 1, "high": 1000,
        "help": "Words seen less often than this are unknown.",
    },
    "max_tokens": {
        "title": "Longest sentence", "low": 2, "high": 500, "unit": "tokens",
        "help": "Longer sentences are cut; counts the sign of the end.",
    },
}  # fmt: skip
_BOUNDED = tuple(
    Parameter(name=name, default=getattr(Recipe, name), **shape)
    for name, shape in _SHAPES.items()
    if name != "tokeniser"
)


def parameters(registry: Registry) -> tuple[Parameter, ...]:
    """Every hyperparameter but the seed, in the order in which a page shows them.

    Args:
        registry: holds the tokenisers to choose from.
    """
    known = {parameter.name: parameter for parameter in _BOUNDED}
    known["tokeniser"] = Parameter(
        name="tokeniser",
        default=Recipe.tokeniser,
        choices=tuple(registry.tokenisers),
        **_SHAPES["tokeniser"],
    )
    return tuple(known[name] for name in _SHAPES)

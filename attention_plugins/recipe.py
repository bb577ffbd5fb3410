"""How to train a translation model: every hyperparameter, with its bounds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from attention_plugins.beside import beside
from attention_plugins.contract import ContractError, Parameter, Scalar


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to train; the defaults are those of d2l.ai, section 10.4, but for two faults mended.

    Args:
        min_frequency: tokens seen less often are ``<unk>``.
        max_tokens: longer sentences are cut; counts ``<eos>``.
        learning_rate: of Adam, the highest of the schedule.
        schedule: ``"constant"``, or ``"cosine"``: a linear rise, then half a cosine down to 0.
        warmup: steps of the rise.
        weight_decay: of AdamW, on matrices only.
        clip: the gradient's greatest norm.
        label_smoothing: see :func:`~attention_plugins.models.losses.projected_cross_entropy`.

    Raises:
        ContractError: a value outside the bounds of :func:`parameters`.
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


_SHAPES = beside(__file__, "recipe.toml")
_SHAPES["schedule"]["choices"] = tuple(_SHAPES["schedule"]["choices"])
_BOUNDED = tuple(Parameter(name=name, default=getattr(Recipe, name), **shape)
                 for name, shape in _SHAPES.items() if name != "tokeniser")  # fmt: skip


def parameters(tokenisers: Iterable[str]) -> tuple[Parameter, ...]:
    """Every hyperparameter but the seed, in a page's order, with the tokenisers to choose from."""
    offered: dict[str, Any] = {"tokeniser": {"choices": tuple(tokenisers)}}
    return tuple(
        Parameter(name=name, default=getattr(Recipe, name), **shape, **offered.get(name, {}))
        for name, shape in _SHAPES.items()
    )


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A recipe and the model parameters that go with it, by model name.

    Only the first ``pairs`` of a corpus count, all for 0; ``held_out`` sources score the model.
    """

    recipe: Recipe
    model_parameters: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)
    pairs: int = 0
    held_out: int


PRESETS = {
    name: Preset(**{**facts, "recipe": Recipe(**facts["recipe"])})
    for name, facts in beside(__file__, "presets.toml").items()
}

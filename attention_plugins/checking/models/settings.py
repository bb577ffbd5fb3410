"""What the record says and what its parameters do."""

from __future__ import annotations

import torch

from attention_plugins.checking.findings import Broken, attempt, equal, move, rule
from attention_plugins.checking.models.benches import bench
from attention_plugins.checking.models.common import hollow, make
from attention_plugins.checking.records import require_explained, values_of
from attention_plugins.contract import ContractError, ModelSpec, Parameter, Scalar

Shapes = dict[str, torch.Size]


@rule("models")
def check_the_record_explains_itself(spec: ModelSpec) -> None:
    """A title, and where the model comes from."""
    require_explained(spec)


@rule("models")
def check_every_parameter_is_used(spec: ModelSpec) -> None:
    """It builds at both bounds, and shapes or the loss while training follow the value.

    A value that does not go with the others' defaults may be refused by a ``ContractError``.
    """
    for parameter in spec.parameters:
        if not _changes_something(spec, parameter):
            name = parameter.name
            raise Broken(
                f"the parameter {name} changes nothing; read parameters[{name!r}] in build, or "
                "take it away"
            )


def _changes_something(spec: ModelSpec, parameter: Parameter) -> bool:
    shapes = {
        value: _shapes(spec, parameter, value) for value in values_of(parameter, on_step=True)
    }
    built = {value: found for value, found in shapes.items() if found is not None}
    if len(built) < 2:
        return True  # others' defaults leave no choice
    if len({tuple(found.items()) for found in built.values()}) > 1:
        return True
    for moved in (False, True):
        losses = [_loss(spec, parameter, value, moved=moved) for value in built]
        if not all(equal(loss, losses[0]) for loss in losses):
            return True
    return False


def _shapes(spec: ModelSpec, parameter: Parameter, value: Scalar) -> Shapes | None:
    """Names and shapes of the weights, or None where the value is refused with a sentence."""
    advice = (
        "let it take every value that the parameter allows, allow less, or raise ContractError "
        "with what would be right"
    )
    with attempt(f"with {parameter.name}={value!r}", advice):
        try:
            return hollow(spec, {parameter.name: value})
        except ContractError:
            return None


def _loss(spec: ModelSpec, parameter: Parameter, value: Scalar, *, moved: bool) -> torch.Tensor:
    """While training; ``moved``: with all weights moved away from where they start."""
    model = make(spec, values={parameter.name: value}).train()
    if moved:
        move(model)
    torch.manual_seed(8)
    return bench(spec).loss(model).detach()

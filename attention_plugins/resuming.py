"""What a training goes on from after it was stopped: weights, optimiser, random draws."""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.optim import Optimizer

from attention_plugins.checkpoints import stored
from attention_plugins.contract import ContractError
from attention_plugins.models.protocols import Module
from attention_plugins.randomness import restore, states


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

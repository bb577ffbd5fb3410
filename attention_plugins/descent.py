"""Steps of gradient descent by torch's own update rules.

torch's optimiser classes import its compiler when the first one is made: 1.3 s and 67 MB in a
process that never compiles. Its functional forms compute the same and import nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import nn
from torch.optim.adam import adam
from torch.optim.sgd import sgd

Update = Callable[[float], None]
_DECAYS, _SMALLEST = (0.9, 0.999), 1e-8  # as torch.optim.Adam's defaults


def sgd_steps(weights: Sequence[nn.Parameter], momentum: float = 0.0) -> Update:
    """Steps of :class:`torch.optim.SGD`, with Nesterov's momentum where there is any.

    Returns:
        A function of the learning rate that moves the weights along their present gradients.
    """
    velocities: dict[torch.Tensor, torch.Tensor | None] = dict.fromkeys(weights)

    @torch.no_grad()
    def update(rate: float) -> None:
        moved, gradients = _with_gradients(weights)
        of_moved = [velocities[weight] for weight in moved]
        sgd(
            moved, gradients, of_moved, has_sparse_grad=False, foreach=False, weight_decay=0.0,
            momentum=momentum, lr=rate, dampening=0.0, nesterov=momentum > 0, maximize=False,
        )  # fmt: skip
        velocities.update(zip(moved, of_moved, strict=True))

    return update


def adam_steps(weights: Sequence[nn.Parameter]) -> Update:
    """Steps of :class:`torch.optim.Adam` with its default decays.

    Returns:
        A function of the learning rate that moves the weights along their present gradients.
    """
    means: dict[torch.Tensor, torch.Tensor] = {w: torch.zeros_like(w) for w in weights}
    squares: dict[torch.Tensor, torch.Tensor] = {w: torch.zeros_like(w) for w in weights}
    counts: dict[torch.Tensor, torch.Tensor] = {w: torch.zeros(()) for w in weights}

    @torch.no_grad()
    def update(rate: float) -> None:
        moved, gradients = _with_gradients(weights)
        adam(
            moved, gradients, [means[w] for w in moved], [squares[w] for w in moved], [],
            [counts[w] for w in moved], foreach=False, amsgrad=False, beta1=_DECAYS[0],
            beta2=_DECAYS[1], lr=rate, weight_decay=0.0, eps=_SMALLEST, maximize=False,
        )  # fmt: skip

    return update


def _with_gradients(
    weights: Sequence[nn.Parameter],
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The weights that have a gradient, and their gradients."""
    pairs = [(weight, weight.grad) for weight in weights if weight.grad is not None]
    return [weight for weight, _ in pairs], [gradient for _, gradient in pairs]

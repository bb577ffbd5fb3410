"""Softmax at a temperature."""

from __future__ import annotations

from torch import Tensor

from attention_plugins.contract import Parameter, normaliser

# What lies this far below the best has no weight at any temperature; the lowest finite number
# would make the temperature's gradient infinite.
_FARTHEST = -1e5


@normaliser(
    "temperature",
    title="Softmax at a temperature",
    formula=r"\frac{e^{s_i/T}}{\sum_j e^{s_j/T}}",
    parameters=(
        Parameter(
            name="temperature",
            title="Temperature T",
            default=0.5,
            low=0.05,
            high=20.0,
            step=0.05,
            learnable=True,
            help="Below 1 weights sharpen, above 1 they flatten.",
        ),
    ),
    reference="Hinton, Vinyals & Dean 2015, Distilling the knowledge in a neural network, "
    "equation 1",
    description="Cold weights gather on the best key, hot ones spread over all.",
)
def tempered(scores: Tensor, temperature: Tensor) -> Tensor:
    """``softmax(s / T)``."""
    below = scores - scores.amax(dim=-1, keepdim=True).detach()
    return (below.clamp_min(_FARTHEST) / temperature.abs().clamp_min(1e-3)).softmax(dim=-1)

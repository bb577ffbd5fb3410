"""Sparse siblings of the softmax: sparsemax and entmax."""

import torch
from torch import Tensor, nn

from attention_plugins.beside import row
from attention_plugins.contract import NormaliserSpec, normaliser

# The threshold of every alpha-entmax lies at most 1 below the best scaled score, so what lies
# further below has weight 0, however far: squares of the lowest finite number would overflow.
_FARTHEST = -2.0
_LOWEST = 1.01  # alpha; at 1 the formula divides by 0
_HALVINGS = 60  # of an interval of length 1: beyond double precision


def _ordered(scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The scores less their row's best, cut off where no weight can be; sorted; counted."""
    below = (scores - scores.amax(dim=-1, keepdim=True).detach()).clamp_min(_FARTHEST)
    counts = torch.arange(1, scores.shape[-1] + 1, device=scores.device, dtype=scores.dtype)
    return below, below.sort(dim=-1, descending=True).values, counts


@normaliser(**row(__file__, "entmax15"))
def entmax15(scores: Tensor) -> Tensor:
    """``max(s / 2 - tau, 0)^2`` with the threshold ``tau`` at which the weights sum to 1."""
    below, ordered, counts = _ordered(scores / 2)
    means = ordered.cumsum(dim=-1) / counts
    spreads = counts * (ordered.square().cumsum(dim=-1) / counts - means.square())
    rests = (1 - spreads) / counts
    thresholds = means.detach() - rests.detach().clamp_min(0.0).sqrt()
    support = (thresholds <= ordered).sum(dim=-1, keepdim=True)
    threshold = means.gather(-1, support - 1) - rests.gather(-1, support - 1).sqrt()
    return (below - threshold).clamp_min(0.0).square()


def _entmax(scores: Tensor, alpha: Tensor) -> Tensor:
    order = alpha - 1
    best = scores.amax(dim=-1, keepdim=True).detach()
    scaled = ((scores - best).clamp_min(-3.0 / float(order.detach())) * order).clamp_min(-2.0)
    with torch.no_grad():
        low = torch.full_like(best, -1.0)
        width = torch.ones_like(best)
        for _ in range(_HALVINGS):
            width = width / 2
            low = torch.where(
                _weights(scaled, low + width, order).sum(-1, True) >= 1, low + width, low
            )
        fall = _weights(scaled, low, order).pow(2 - alpha).masked_fill(scaled <= low, 0.0)
        fall = fall.sum(dim=-1, keepdim=True) / order
    # One step of Newton from the root: it hardly moves it, and carries the root's gradient.
    threshold = low + (_weights(scaled, low, order).sum(dim=-1, keepdim=True) - 1) / fall
    weights = _weights(scaled, threshold, order)
    return weights / weights.sum(dim=-1, keepdim=True)


class Entmax(nn.Module):
    """``max((alpha - 1) s - tau, 0)^(1 / (alpha - 1))``, with ``tau`` found by bisection."""

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self.learned_alpha = nn.Parameter(torch.tensor(alpha))

    @property
    def alpha(self) -> Tensor:
        """The alpha in use: descent may carry the weight itself below 1."""
        return self.learned_alpha.clamp_min(_LOWEST)

    def forward(self, scores: Tensor) -> Tensor:
        """Scores ``(..., n_q, n_k)`` to weights."""
        return _entmax(scores, self.alpha)


ENTMAX = NormaliserSpec(build=lambda own: Entmax(float(own["alpha"])), **row(__file__, "entmax"))


def _weights(scaled: Tensor, threshold: Tensor, order: Tensor) -> Tensor:
    rest = scaled - threshold
    inside = rest > 0  # outside, the power's gradient would not be a number
    return torch.where(inside, rest, torch.ones_like(rest)).pow(1 / order) * inside


@normaliser(**row(__file__, "sparsemax"))
def sparsemax(scores: Tensor) -> Tensor:
    """``max(s - tau, 0)`` with the threshold ``tau`` at which the weights sum to 1."""
    below, ordered, counts = _ordered(scores)
    excess = ordered.cumsum(dim=-1) - 1
    support = (counts * ordered > excess).sum(dim=-1, keepdim=True)
    threshold = excess.gather(-1, support - 1) / support
    return (below - threshold).clamp_min(0.0)

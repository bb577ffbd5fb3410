"""Layers that keep a state of fixed size, which fades or is replaced."""

import torch
from torch import Tensor, nn
from torch.linalg import solve_triangular
from torch.nn.functional import logsigmoid, normalize, silu

from attention_plugins.beside import row
from attention_plugins.contract import LayerSizes, LayerSpec, ScoringFactory
from attention_plugins.layers.base import Kept
from attention_plugins.layers.extended import Look, Recurrent, Values
from attention_plugins.layers.multi_head import split_heads
from attention_plugins.scorings.relative_positions import turn


class Retention(Recurrent):
    """``g^(i - j) (R_i q_i) . (R_j k_j) / sqrt(d)``, of ``S_i = g S_(i-1) + k_i v_i^T``."""

    gated = True

    def products(self, at: Look, queries: Tensor, before: Tensor) -> Tensor:
        """Equation 5; head ``h`` keeps ``1 - 2^(-5-h)`` at every step."""
        rows, columns = at.places()
        products = turn(queries, rows) @ turn(at.kept["keys"], columns).mT
        heads = torch.arange(self.heads, dtype=queries.dtype, device=queries.device)
        kept = 1.0 - 2.0 ** (-5.0 - heads[:, None, None])
        return products * kept ** (rows[:, None] - columns).clamp_min(0)


RETENTION = LayerSpec(build=Retention, **row(__file__, "retention"))

# The authors' root of the gates, and the size of the layer between their two matrices.
_ROOT, _NARROW = 16.0, 16


class GatedLinear(Recurrent):
    """The state is ``S_i = diag(a_i) S_(i-1) + k_i v_i^T``, gates are roots of sigmoids.

    Gates are multiplied as logarithms of pairs: no product of many is ever divided by.
    """

    gated = True

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__(make_scoring, sizes, values)
        self.keep = nn.Sequential(
            nn.Linear(sizes.hidden, _NARROW, bias=False), nn.Linear(_NARROW, sizes.hidden)
        )

    def more(self, inputs: Tensor) -> Kept:
        """``kept (B, heads, n, d)``: the logarithm of what each number keeps."""
        return {"kept": split_heads(logsigmoid(self.keep(inputs)) / _ROOT, self.heads)}

    def products(self, at: Look, queries: Tensor, before: Tensor) -> Tensor:
        """Equation 4: ``sum_d q_id k_jd prod_(j < l <= i) a_ld``."""
        rows, _ = at.places()
        passed = at.kept["kept"].cumsum(dim=-2)
        faded = (passed[..., rows, None, :] - passed[..., None, :, :]).clamp_max(0.0).exp()
        return torch.einsum("bhid,bhjd,bhijd->bhij", queries, at.kept["keys"], faded)


GATED_LINEAR = LayerSpec(build=GatedLinear, **row(__file__, "gated_linear"))


class DeltaRule(Recurrent):
    """The state is ``S_i = S_(i-1) + b_i k_i (v_i - S_(i-1)^T k_i)^T``, read as ``S_i^T q_i``.

    Keys and queries have length 1. Without the authors' short convolutions.
    """

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__(make_scoring, sizes, values)
        self.replace = nn.Linear(sizes.hidden, sizes.heads)

    def more(self, inputs: Tensor) -> Kept:
        """``rates (B, heads, n, 1)``: what share of a value is replaced."""
        return {"rates": split_heads(self.replace(inputs).sigmoid(), self.heads)}

    def products(self, at: Look, queries: Tensor, before: Tensor) -> Tensor:
        """``(q K^T) (I + tril(diag(b) K K^T, -1))^-1 diag(b)``, of keys up to the query."""
        keys, rates = _unit(at.kept["keys"]), at.kept["rates"]
        replaced = (rates * (keys @ keys.mT)).tril(-1)
        products = (_unit(queries) @ keys.mT).masked_fill(~before, 0.0)
        read = solve_triangular(replaced, products, upper=False, left=False, unitriangular=True)
        return read * rates.mT


def _unit(vectors: Tensor) -> Tensor:
    return normalize(silu(vectors), dim=-1)


DELTA_RULE = LayerSpec(build=DeltaRule, **row(__file__, "delta_rule"))

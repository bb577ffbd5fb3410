"""Retention: products that fade with the distance, at a speed of each head's own."""

import torch
from torch import Tensor

from attention_plugins.contract import LayerSpec
from attention_plugins.layers.extended import Look
from attention_plugins.layers.recurrent import Recurrent
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


RETENTION = LayerSpec(
    name="retention",
    title="Retention (RetNet)",
    formula=r"\gamma_h^{\,i-j}\,\frac{(R_iq_i)^\top R_jk_j}{\sqrt d},\ \gamma_h=1-2^{-5-h}",
    build=Retention,
    reference="Sun et al. 2023, Retentive network: a successor to Transformer for large language "
    "models, section 2.1",
    description="What was said fades at a speed of each head's own; weights may be negative, and "
    "no softmax divides them.",
    kinds=("decoder",),
    own_scoring=True,
)

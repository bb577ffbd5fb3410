"""Gated linear attention: every number of a state fades at a speed that the word sets."""

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from attention_plugins.contract import LayerSizes, LayerSpec, ScoringFactory
from attention_plugins.layers.base import Kept
from attention_plugins.layers.extended import Look, Values
from attention_plugins.layers.multi_head import split_heads
from attention_plugins.layers.recurrent import Recurrent

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


GATED_LINEAR = LayerSpec(
    name="gated_linear",
    title="Gated linear attention (GLA)",
    formula=r"\sum_d q_{id}\,k_{jd}\prod_{l=j+1}^{i}\alpha_{ld}",
    build=GatedLinear,
    reference="Yang et al. 2024, Gated linear attention Transformers with hardware-efficient "
    "training, sections 4.1 and 4.4",
    description="Linear attention that forgets: each word says which numbers of what was "
    "remembered fade; weights may be negative.",
    kinds=("decoder",),
    own_scoring=True,
)

"""The delta rule: a word's value replaces what was known under its key."""

from torch import Tensor, nn
from torch.linalg import solve_triangular
from torch.nn.functional import normalize, silu

from attention_plugins.contract import LayerSizes, LayerSpec, ScoringFactory
from attention_plugins.layers.base import Kept
from attention_plugins.layers.extended import Look, Values
from attention_plugins.layers.multi_head import split_heads
from attention_plugins.layers.recurrent import Recurrent


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


DELTA_RULE = LayerSpec(
    name="delta_rule",
    title="Delta rule (DeltaNet)",
    formula=r"q_i^\top K^\top\left(I+\operatorname{tril}(\operatorname{diag}(\beta)KK^\top,-1)"
    r"\right)^{-1}\operatorname{diag}(\beta)",
    build=DeltaRule,
    reference="Schlag, Irie & Schmidhuber 2021, Linear Transformers are secretly fast weight "
    "programmers, section 4.2; Yang et al. 2024, Parallelizing linear Transformers with the delta "
    "rule over sequence length, section 2.2",
    description="A word replaces what was known under its key, where linear attention adds to it; "
    "weights may be negative.",
    kinds=("decoder",),
    own_scoring=True,
)

"""Forgetting attention: every word passed on the way back lowers the score."""

from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from attention_plugins.contract import LayerSizes, LayerSpec, ScoringFactory
from attention_plugins.layers.base import Kept
from attention_plugins.layers.extended import Extended, Look, Values
from attention_plugins.layers.multi_head import split_heads


class Forgetting(Extended):
    """``a(q_i, k_j) + sum_(j < l <= i) log f_l``, with a gate ``f`` of each word and head."""

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__(make_scoring, sizes, values)
        self.forget = nn.Linear(sizes.hidden, sizes.heads)

    def more(self, inputs: Tensor) -> Kept:
        """``forget (B, heads, n, 1)``: the logarithm of each word's gate."""
        return {"forget": split_heads(logsigmoid(self.forget(inputs)), self.heads)}

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """What multi-head attention gathers with the lowered scores."""
        rows, _ = at.places()
        passed = at.kept["forget"].cumsum(dim=-2)
        scores = self.scores(at, self.queries(inputs)) + passed[..., rows, :] - passed.mT
        return self.pooled(at, self.weights(scores, at.before()))


FORGETTING = LayerSpec(
    name="forgetting",
    title="Forgetting attention (FoX)",
    formula=r"\operatorname{softmax}_j\left(a(q_i,k_j)+"
    r"\sum_{l=j+1}^{i}\ln\sigma(w^\top x_l+b)\right)",
    build=Forgetting,
    reference="Lin et al. 2025, Forgetting Transformer: softmax attention with a forget gate, "
    "section 3",
    description="Every word has a gate that forgets, more or less, what came before it; no other "
    "positions are needed.",
    kinds=("decoder",),
)

"""Selective attention: a word says which earlier words later ones need no more."""

from torch import Tensor

from attention_plugins.contract import LayerSpec
from attention_plugins.layers.base import Kept
from attention_plugins.layers.extended import Extended, Look


class Selective(Extended):
    """``a(q_i, k_j) - sum_(l < i) relu(a(q_l, k_j))`` with head 0's scores in the sum.

    No word deselects itself, or the first one.
    """

    def more(self, inputs: Tensor) -> Kept:
        """``asked (B, heads, n, d)``: the queries, whose scores lower those of later ones."""
        return {"asked": self.queries(inputs)}

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """What multi-head attention gathers with what is left of the scores."""
        rows, columns = at.places()
        scores = self.scores(at, at.kept["asked"], before=len(columns) - len(rows))
        chosen = scores[..., :1, :, :].relu().tril(-1) * (columns > 0)
        left = scores - (chosen.cumsum(dim=-2) - chosen)  # of the words before took off
        return self.pooled(at, self.weights(left[..., rows, :], at.before()))


SELECTIVE = LayerSpec(
    name="selective",
    title="Selective attention",
    formula=r"\operatorname{softmax}_j\left(a(q_i,k_j)-\sum_{l<i}\max(0,a_0(q_l,k_j))\right)",
    build=Selective,
    reference="Leviathan, Kalman & Matias 2024, Selective attention improves Transformer, "
    "section 3",
    description="What a word's first head looks at, later words see less of: words that are done "
    "with make room.",
    kinds=("decoder",),
)

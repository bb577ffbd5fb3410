"""What layers share that keep a state of fixed size, and are drawn as the maps that they are."""

from torch import Tensor, nn
from torch.nn.functional import silu

from attention_plugins.attention import Scoring
from attention_plugins.contract import LayerSizes, ScoringFactory
from attention_plugins.layers.extended import Extended, Look, Values
from attention_plugins.layers.multi_head import split_heads


class Recurrent(Extended):
    """Weights of products that no softmax divides; each head's output is normalised instead.

    The weights are those with which the recurrence's output sums up the values. What is
    remembered is every word, not the state: the map has a column for each.

    Attributes:
        gated: whether each head's output is multiplied by ``silu`` of what the inputs become.
    """

    signed, sums_to_one, gated = True, False, False

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__(lambda site: Scoring(), sizes, values)
        self.size = sizes.hidden // sizes.heads
        self.norm = nn.RMSNorm(self.size, eps=1e-5)
        self.gate = nn.Linear(sizes.hidden, sizes.hidden) if self.gated else None

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """The values under :meth:`products`, normalised, and gated if there is a gate."""
        before = at.before()
        products = self.products(at, self.queries(inputs), before) / self.size**0.5
        found = self.norm(self.pooled(at, products.masked_fill(~before, 0.0)))
        if self.gate is None:
            return found
        return found * split_heads(silu(self.gate(inputs)), self.heads)

    def products(self, at: Look, queries: Tensor, before: Tensor) -> Tensor:
        """Weights ``(B, heads, n_q, n_k)`` times ``sqrt(d)``; any number on keys not ``before``.

        ``queries`` are ``(B, heads, n_q, d)``.
        """
        raise NotImplementedError(f"{type(self).__name__} needs products(at, queries, before)")

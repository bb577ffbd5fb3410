"""Gated attention: the layer's input says how much of what a head found passes."""

from torch import Tensor, nn

from attention_plugins.beside import row
from attention_plugins.contract import LayerSizes, LayerSpec, ScoringFactory
from attention_plugins.layers.extended import Extended, Look, Values
from attention_plugins.layers.multi_head import MultiHead, split_heads


class GatedOutput(Extended):
    """``sigmoid(W x) * head``: a query that looks for nothing need not look at a sink."""

    takes = None

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__(make_scoring, sizes, values)
        self.gate = nn.Linear(sizes.hidden, sizes.hidden if values["each"] else sizes.heads)

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """What multi-head attention gathers, times the gates."""
        gates = split_heads(self.gate(inputs).sigmoid(), self.heads)  # (B, heads, n_q, 1 or d)
        found = MultiHead.gather(
            self, at.tap, at.site, self.queries(inputs), at.kept, at.mask, at.key_positions
        )
        return found * gates


GATED_OUTPUT = LayerSpec(build=GatedOutput, **row(__file__, "gated_output"))

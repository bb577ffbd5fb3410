"""Linformer: all keys and values are first summed up in a few rows."""

import torch
from torch import Tensor, nn

from attention_plugins.attention import Inputs, attend_with, weigh
from attention_plugins.contract import LayerSizes, LayerSpec, Parameter, ScoringFactory
from attention_plugins.errors import ContractError
from attention_plugins.layers.extended import Extended, Look, Values


class Linformer(Extended):
    """``softmax(a(Q, E K)) E V``, where ``E`` is shared by heads, keys and values.

    The map that is drawn is ``softmax(...) E``: what each word gives. It may be negative.

    ContractError: queries that may look at different words, or more words than ``E`` has columns.
    """

    signed, sums_to_one, takes = True, False, ("its own normaliser",)

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__(make_scoring, sizes, values)
        rows, longest = int(values["rows"]), int(values["longest"])
        self.sums = nn.Parameter(torch.randn(rows, longest) / rows**0.5)  # as in theorem 2

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """Equation 7; the map of words is made only where somebody looks at it."""
        keys, longest = at.kept["keys"], self.sums.shape[1]
        if (words := keys.shape[-2]) > longest:
            raise ContractError(f"layer 'linformer' sums up at most {longest} words, got {words}")
        sums = self.sums[:, :words] * at.words()  # (..., rows, n)
        few, queries = sums @ keys, self.queries(inputs)
        if at.tap.watches(at.site):
            weights = weigh(self.scoring, self.scoring.project_queries(queries), few)
            return self.pooled(at, weights @ sums)
        given = sums @ at.kept["values"]
        return attend_with(Inputs(self.scoring, queries, few, given, None, self.dropped, True))[0]


LINFORMER = LayerSpec(
    name="linformer",
    title="Linformer",
    formula=r"\operatorname{softmax}(a(Q, EK))\,EV",
    build=Linformer,
    parameters=(
        Parameter(
            name="rows", title="Rows", default=8, low=1, high=512,
            help="Keys and values are summed up in so many rows.",
        ),
        Parameter(
            name="longest", title="Longest sentence", default=128, low=16, high=65_536,
            unit="words", help="Longer ones are refused: a row has a weight for each place.",
        ),
    ),
    reference="Wang et al. 2020, Linformer: self-attention with linear complexity, section 4",
    description="Words are summed up in a few rows, and queries look at these: time and memory "
    "grow with the number of words, not with its square.",
    kinds=("encoder", "cross"),
)  # fmt: skip

"""Layers that mix all words that they are given, so that none may be hidden."""

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


class Sinkhorn(Extended):
    """Rows and columns of ``exp(a(q, k))`` are divided by their sums in turn, rows last.

    Columns then sum to 1 as nearly as the rounds allow. Queries meet, so it is for words that
    look at each other, all of them; padding looks too, but counts in no column. ContractError: in
    any other place.
    """

    takes = ("positions",)

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__(make_scoring, sizes, values)
        self.rounds = int(values["rounds"])

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """What values give by the matrix to which the rounds lead."""
        words, n_keys, n_queries = at.words(), at.kept["keys"].shape[-2], at.n_queries
        if n_keys != n_queries:
            raise ContractError(
                "Sinkhorn needs a query for each key, as where words look at each other; got "
                f"{n_queries} queries and {n_keys} keys"
            )
        scores = self.scores(at, self.queries(inputs))
        lowest = torch.finfo(scores.dtype).min / 2
        scores = scores.masked_fill(~words, lowest)
        rows = -scores.logsumexp(dim=-1, keepdim=True)
        columns = torch.zeros_like(scores[..., :1, :])
        for _ in range(self.rounds):
            asked = (scores + rows).masked_fill(~words.mT, lowest)  # not by padding
            columns = -asked.logsumexp(dim=-2, keepdim=True).masked_fill(~words, 0.0)
            rows = -(scores + columns).logsumexp(dim=-1, keepdim=True)
        return self.pooled(at, (scores + columns + rows).exp().masked_fill(~words, 0.0))


SINKHORN = LayerSpec(
    name="sinkhorn",
    title="Sinkhorn attention",
    formula=r"\operatorname{Sinkhorn}\left(e^{a(q_i,k_j)}\right),\ "
    r"\sum_i\alpha_{ij}\approx\sum_j\alpha_{ij}=1",
    build=Sinkhorn,
    parameters=(
        Parameter(
            name="rounds", title="Rounds", default=10, low=1, high=100,
            help="How often columns, then rows are divided by their sums, after the softmax.",
        ),
    ),
    reference="Sander et al. 2022, Sinkformers: Transformers with doubly stochastic attention, "
    "section 3",
    description="What a word gets of attention sums to one too: none is looked at by all.",
    kinds=("encoder",),
)  # fmt: skip

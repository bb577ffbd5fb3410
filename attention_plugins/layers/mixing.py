"""Layers that mix all words that they are given, so that none may be hidden."""

import torch
from torch import Tensor, nn

from attention_plugins.attention import Inputs, attend_with, weigh
from attention_plugins.beside import row
from attention_plugins.contract import LayerSizes, LayerSpec, ScoringFactory
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


LINFORMER = LayerSpec(build=Linformer, **row(__file__, "linformer"))


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


SINKHORN = LayerSpec(build=Sinkhorn, **row(__file__, "sinkhorn"))

"""Native sparse attention: blocks as a whole, the words of a few blocks, and neighbours."""

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from attention_plugins.beside import row
from attention_plugins.contract import LayerSizes, LayerSpec, ScoringFactory
from attention_plugins.layers.extended import Extended, Look, Values
from attention_plugins.layers.multi_head import split_heads


class NativeSparse(Extended):
    """``g_1 (blocks' means) + g_2 (words of the best blocks) + g_3 (words in the window)``.

    A block is summed up by the mean of its keys and values. Blocks lie side by side; each head
    chooses its own, and a word's own block is always one of them. The map is of words: a block's
    weight is shared by its words.
    """

    sums_to_one, takes = False, ("its own normaliser",)

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__(make_scoring, sizes, values)
        self.block, self.chosen = int(values["block"]), int(values["chosen"])
        self.window = int(values["window"])
        self.gates = nn.Linear(sizes.hidden, 3 * sizes.heads)

    def look(self, at: Look, inputs: Tensor) -> Tensor:
        """Equation 5, by way of the map that the three branches make together."""
        queries, (rows, columns), before = self.queries(inputs), at.places(), at.before()
        scores, blocks, complete = self.scores(at, queries), *self._blocks(at, queries)
        own, numbers = rows[:, None] // self.block, columns // self.block
        best = self._best(blocks, complete & (numbers[:: self.block][: blocks.shape[-1]] != own))
        taken = self._words(best, columns) | (numbers == own)
        branches = (
            self._words(blocks, columns) / self.block,
            self.weights(scores, before & taken),
            self.weights(scores, before & (columns > rows[:, None] - self.window)),
        )
        gates = split_heads(self.gates(inputs).sigmoid(), self.heads)  # (B, heads, n_q, 3)
        return self.pooled(at, (torch.stack(branches, dim=-1) * gates.unsqueeze(-2)).sum(dim=-1))

    def _blocks(self, at: Look, queries: Tensor) -> tuple[Tensor, Tensor]:
        """Weights of whole blocks ``(B, heads, n_q, blocks)``, and which a query may see."""
        keys, before = at.kept["keys"], at.before()
        full = keys.shape[-2] // self.block * self.block
        means = keys[..., :full, :].unflatten(-2, (-1, self.block)).mean(dim=-2)
        complete = before[..., :full].unflatten(-1, (-1, self.block)).all(dim=-1)
        return self.weights(self.scores(at, queries, means), complete), complete

    def _best(self, blocks: Tensor, others: Tensor) -> Tensor:
        """Which blocks ``(..., n_q, blocks)`` are chosen besides a query's own."""
        ranked = blocks.detach().masked_fill(~others, -1.0)
        count = min(self.chosen - 1, blocks.shape[-1])
        best = ranked.topk(count, dim=-1).indices
        return torch.zeros_like(ranked, dtype=torch.bool).scatter(-1, best, True) & others

    def _words(self, blocks: Tensor, columns: Tensor) -> Tensor:
        """What is said of blocks, of words; 0 of those in no whole block."""
        words = blocks.repeat_interleave(self.block, dim=-1)
        return pad(words, (0, len(columns) - words.shape[-1]))


NATIVE_SPARSE = LayerSpec(build=NativeSparse, **row(__file__, "native_sparse"))

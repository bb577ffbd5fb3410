"""Layers that keep or read less than all of each word: a short vector, or blocks as a whole."""

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from attention_plugins.beside import row
from attention_plugins.contract import LayerSizes, LayerSpec, ScoringFactory, Sizes
from attention_plugins.layers.base import AttentionLayer, Kept
from attention_plugins.layers.extended import Extended, Look, Values
from attention_plugins.layers.multi_head import merge_heads, split_heads
from attention_plugins.scorings.relative_positions import turn
from attention_plugins.tap import Site, Tap


class Latent(AttentionLayer):
    """Keys and values of all heads are made of one latent; a few columns of keys are rotated.

    Kept of a word: the latent and the rotary key that the heads share, instead of a key and a
    value of each head. Queries are not compressed. Between two sequences nothing is rotated.
    """

    def __init__(self, make_scoring: ScoringFactory, sizes: LayerSizes, values: Values) -> None:
        super().__init__()
        self.heads, self.size, self.rate = sizes.heads, sizes.hidden // sizes.heads, sizes.dropout
        self.latent = int(values["latent"])
        rotary = 0 if sizes.kind == "cross" else int(values["rotary"])
        compared = self.size + rotary
        self.queries = nn.Linear(sizes.hidden, sizes.heads * compared)
        self.down = nn.Linear(sizes.hidden, self.latent + rotary)
        self.norm = nn.RMSNorm(self.latent, eps=1e-5)
        self.up = nn.Linear(self.latent, 2 * sizes.hidden)
        self.output = nn.Linear(sizes.hidden, sizes.hidden)
        self.scoring = make_scoring(
            Sizes(compared, compared, compared, sizes.heads, self.size, sizes.kind)
        )
        for layer in (self.queries, self.down, self.up, self.output):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def ask(self, inputs: Tensor) -> Tensor:
        """Queries ``(B, heads, n, d + rotary)``, not rotated yet."""
        return split_heads(self.queries(inputs), self.heads)

    def remember(self, inputs: Tensor) -> Kept:
        """``latent (B, n, latent + rotary)``: the latent, and the shared key before rotation."""
        latent, shared = self.down(inputs).tensor_split([self.latent], dim=-1)
        return {"latent": torch.cat([self.norm(latent), shared], dim=-1)}

    def attend(
        self, tap: Tap, site: Site, asked: Tensor, kept: Kept, mask: Tensor | None = None,
        key_positions: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Attention to the keys and values that the latents become, ``(B, n_q, hidden)``."""
        latent, shared = kept["latent"].tensor_split([self.latent], dim=-1)
        keys, values = split_heads(self.up(latent), self.heads).split(self.size, dim=-1)
        if shared.shape[-1]:
            places = torch.arange(keys.shape[-2], device=keys.device)
            places = places if key_positions is None else key_positions
            own, turned = asked.tensor_split([self.size], dim=-1)
            asked = torch.cat([own, turn(turned, places[-asked.shape[-2] :])], dim=-1)
            shared = turn(shared, places)[:, None].expand(*keys.shape[:-1], -1)
            keys = torch.cat([keys, shared], dim=-1)
        found = tap.attend(
            site, self.scoring, asked, keys, values, mask,
            dropout=self.rate if self.training else 0.0, key_positions=key_positions,
        )  # fmt: skip
        return self.output(merge_heads(found))


LATENT = LayerSpec(build=Latent, **row(__file__, "latent"))


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
        best = ranked.topk(min(self.chosen - 1, blocks.shape[-1]), dim=-1).indices
        return torch.zeros_like(ranked, dtype=torch.bool).scatter(-1, best, True) & others

    def _words(self, blocks: Tensor, columns: Tensor) -> Tensor:
        """What is said of blocks, of words; 0 of those in no whole block."""
        words = blocks.repeat_interleave(self.block, dim=-1)
        return pad(words, (0, len(columns) - words.shape[-1]))


NATIVE_SPARSE = LayerSpec(build=NativeSparse, **row(__file__, "native_sparse"))

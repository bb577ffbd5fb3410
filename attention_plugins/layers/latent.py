"""Multi-head latent attention: one short vector is kept of each word, for all heads."""

import torch
from torch import Tensor, nn

from attention_plugins.beside import row
from attention_plugins.contract import LayerSizes, LayerSpec, ScoringFactory, Sizes
from attention_plugins.layers.base import AttentionLayer, Kept
from attention_plugins.layers.extended import Values
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

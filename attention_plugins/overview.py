"""Maps of long texts in blocks: what many tokens look at together, made while a model runs."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attention_plugins.record import Site
from attention_plugins.tap import Recorder


class BlockRecorder(Recorder):
    """Keeps a site's weights in blocks of queries and keys, never all of them.

    A block's weight is what its queries give to all of its keys together, averaged over the
    queries: rows that sum to 1 do so still. Many tokens look at the first one, so it is a block of
    its own; the others have up to ``block`` tokens.

    Args:
        length: how many queries and keys each site has.
        most: how many blocks there are at most in each direction.
        only: the site that is kept; all where None.
    """

    def __init__(self, length: int, most: int, only: Site | None = None) -> None:
        super().__init__(None if only is None else [only])
        self.block = 1 if length <= most else math.ceil((length - 1) / (most - 1))
        self._blocks = torch.tensor([-(-place // self.block) for place in range(length)])
        self._sums: dict[Site, Tensor] = {}
        self._rows: dict[Site, int] = {}

    def add(self, site: Site, weights: Tensor) -> None:
        """See :meth:`Recorder.add`."""
        n_queries, n_keys = weights.shape[-2:]
        member = one_hot(self._blocks.to(weights.device)).to(weights.dtype)  # (n, blocks)
        first = self._rows.get(site, 0)
        rows = member[first : first + n_queries]
        new = rows.T @ (weights.detach() @ member[:n_keys])  # (..., blocks, blocks)
        self._sums[site] = self._sums[site] + new if first else new
        self._rows[site] = first + n_queries

    def weights(self) -> dict[Site, Tensor]:
        """Every site's weights so far ``(..., blocks, blocks)``."""
        counts = torch.bincount(self._blocks)[:, None]
        return {site: total / counts.to(total) for site, total in self._sums.items()}

    def labels(self, tokens: Sequence[str]) -> tuple[str, ...]:
        """What each block of these tokens is called: its first and its last one."""
        found: dict[int, list[str]] = {}
        for token, block in zip(tokens, self._blocks.tolist(), strict=True):
            found.setdefault(block, []).append(token)
        return tuple(
            held[0] if len(held) == 1 else f"{held[0]} … {held[-1]}" for held in found.values()
        )

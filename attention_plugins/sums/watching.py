"""A tap that learns of each query's weights how many keys they rest on, and keeps none of them."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from attention_plugins.attention import Scoring
from attention_plugins.sums.attending import (
    Pooled,
    pool_without_weights,
    runs_without_weights,
)
from attention_plugins.tap import Site, Tap


class WeightsNeededError(Exception):
    """A site attends in a way that makes weights."""


class SummingTap(Tap):
    """Attends without weights everywhere, or not at all.

    Attributes:
        pooled: what each site's queries made of their keys, entropies included.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pooled: dict[Site, Pooled] = {}

    def attend(
        self,
        site: Site,
        scoring: Scoring,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None = None,
        *,
        dropout: float = 0.0,
        **others: Any,
    ) -> Tensor:
        """Attention at ``site``; see :meth:`Tap.attend`.

        Raises:
            WeightsNeededError: the weights, or a second pass at a site, are needed.
        """
        new = site not in self.pooled and not others
        if not (new and runs_without_weights(scoring, queries, keys, values, mask, dropout)):
            raise WeightsNeededError
        self.pooled[site] = pool_without_weights(scoring, queries, keys, values, entropy=True)
        return self.pooled[site].values

    def attend_with_weights(self, *given: Any, **others: Any) -> tuple[Tensor, Tensor]:
        """Never.

        Raises:
            WeightsNeededError: always.
        """
        raise WeightsNeededError

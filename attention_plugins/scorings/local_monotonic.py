"""Luong's local-m: a window that moves along with the query."""

from __future__ import annotations

from torch import Tensor

from attention_plugins.attention import Positions
from attention_plugins.contract import Parameter, scoring
from attention_plugins.scorings.places import scaled_dot

# What a word outside the window costs, per word to the window: its weight is exactly 0 beside
# any word inside. It is finite, because a window may hold nothing but padding.
_STEEP = 1e6


@scoring(
    "local_monotonic",
    title="Local, monotonic (Luong's local-m)",
    formula=r"\frac{q_i^\top k_j}{\sqrt{d}}\ \text{ where } \lvert i-j\rvert \le D",
    parameters=(
        Parameter(
            name="window",
            title="Window D",
            default=4,
            low=1,
            high=100,
            unit="positions",
            help="How far from the query's own place it may look.",
        ),
    ),
    reference="Luong, Pham & Manning 2015, Effective approaches to attention-based neural "
    "machine translation, section 3.2",
    description="Looks at words around the same place only; beyond the end at the last one.",
    same_size=True,
    tasks=("translation", "encoding"),
    needs=("positions",),
    elements_per_pair=1,
)
def local_monotonic(queries: Tensor, keys: Tensor, *, positions: Positions, window: int) -> Tensor:
    """``q . k / sqrt(d)`` inside ``[i - D, i + D]``; no weight elsewhere.

    A translation may be longer than its source, whose end the scoring cannot see behind padding:
    a query whose window holds no word at all gives its weight to the nearest word.
    """
    beyond = (positions.distances.abs() - window).clamp_min(0)
    return scaled_dot(queries, keys) - _STEEP * beyond.to(queries.dtype)

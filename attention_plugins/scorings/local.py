"""Luong's local attention: a window at the query's place, or at one that is predicted."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from attention_plugins.attention import Positions, Scoring
from attention_plugins.beside import row
from attention_plugins.contract import Scalar, ScoringSpec, Sizes, scoring
from attention_plugins.scorings.scaled_dot import scaled_dot


class LocalPredicted(Scoring):
    """``q . k / sqrt(d) - (j - p)^2 / (2 s^2)`` with ``p = S sigmoid(v . tanh(W q))``.

    In the paper ``S`` is the sentence's length. Here it is a setting: the keys number padding
    too, and grow word by word while decoding, so that a sentence would score otherwise in
    another batch or in training. The bell, ``s = D / 2``, is inside the softmax, and nothing is
    cut off at ``D``.
    """

    needs = ("positions",)
    elements_per_pair = 1

    def __init__(self, sizes: Sizes, values: Mapping[str, Scalar]) -> None:
        super().__init__()
        self.length, self.window = float(values["length"]), float(values["window"])
        self.from_query = nn.Linear(sizes.query, sizes.hidden, bias=False)
        self.centre = nn.Linear(sizes.hidden, 1, bias=False)

    def forward(self, queries: Tensor, keys: Tensor, *, positions: Positions) -> Tensor:
        """The dot product, less what the way from the predicted place costs."""
        share = torch.sigmoid(self.centre(torch.tanh(self.from_query(queries))))  # (..., n_q, 1)
        away = positions.keys.to(queries.dtype) - self.length * share
        return scaled_dot(queries, keys) - 0.5 * (away / (self.window / 2)).square()


LOCAL_PREDICTED = ScoringSpec(build=LocalPredicted, **row(__file__, "local_predicted"))


# What a word outside the window costs, per word to the window: its weight is exactly 0 beside
# any word inside. It is finite, because a window may hold nothing but padding.
_STEEP = 1e6


@scoring(**row(__file__, "local_monotonic"))
def local_monotonic(queries: Tensor, keys: Tensor, *, positions: Positions, window: int) -> Tensor:
    """``q . k / sqrt(d)`` inside ``[i - D, i + D]``; no weight elsewhere.

    A translation may be longer than its source, whose end the scoring cannot see behind padding:
    a query whose window holds no word at all gives its weight to the nearest word.
    """
    beyond = (positions.distances.abs() - window).clamp_min(0)
    return scaled_dot(queries, keys) - _STEEP * beyond.to(queries.dtype)

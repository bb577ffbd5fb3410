"""ReLU attention, divided by the number of keys."""

from __future__ import annotations

from torch import Tensor

from attention_plugins.contract import normaliser
from attention_plugins.normalisers.support import allowed_keys


@normaliser(
    "relu",
    title="ReLU over n",
    formula=r"\frac{\max(s_i,0)}{n}",
    reference="Wortsman et al. 2023, Replacing softmax with ReLU in vision transformers, "
    "section 3",
    description="Keys with negative scores get exactly 0; the others do not compete.",
    sums_to_one=False,
)
def relu(scores: Tensor) -> Tensor:
    """``max(s_i, 0) / n`` with the number ``n`` of keys that are not ruled out."""
    return scores.clamp_min(0.0) / allowed_keys(scores)

"""The softmax: what every scoring has unless another normaliser is chosen."""

from __future__ import annotations

from torch import Tensor

from attention_plugins.contract import normaliser


@normaliser(
    "softmax",
    formula=r"\frac{e^{s_i}}{\sum_j e^{s_j}}",
    reference="Bahdanau, Cho & Bengio 2014, Neural machine translation by jointly learning to "
    "align and translate, section 3.1",
    description="Every key gets some weight; the larger the score, the more.",
)
def softmax(scores: Tensor) -> Tensor:
    """``exp(s_i) / sum_j exp(s_j)``."""
    return scores.softmax(dim=-1)

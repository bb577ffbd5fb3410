"""Attention of many queries beside the textbook's formulation and torch's own, no weights asked.

``python -m tests.benchmarks.attention`` prints all of it; each function measures one comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from attention_plugins import Site, Sizes, Tap, get_scoring
from tests.benchmarks.measuring import interleaved, peak_growth

SITE = Site("cross")
Way = Callable[[], None]


class TextbookAdditive(nn.Module):
    """d2l.ai, section 11.3.2, without mask: all sums exist at once."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.W_k, self.W_q = (nn.Linear(size, size, bias=False) for _ in range(2))
        self.w_v = nn.Linear(size, 1, bias=False)

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        features = self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1)
        scores = self.w_v(torch.tanh(features)).squeeze(-1)
        return torch.bmm(nn.functional.softmax(scores, dim=-1), values)


def textbook_dot(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """d2l.ai, section 11.3.1, without mask."""
    scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
    return torch.bmm(nn.functional.softmax(scores, dim=-1), values)


def _learning(attend: Callable[[Tensor, Tensor, Tensor], Tensor], n: int, size: int = 64) -> Way:
    """Forward and backward on 4 sequences of n vectors."""
    generator = torch.Generator().manual_seed(0)
    parts = [torch.randn(4, n, size, generator=generator).requires_grad_() for _ in range(3)]

    def way() -> None:
        for part in parts:
            part.grad = None
        attend(*parts).sum().backward()

    return way


def ours(name: str, n: int) -> Way:
    """The scoring by that name through a tap that nobody watches."""
    scoring = get_scoring(name).create(Sizes(64, 64, 64))
    return _learning(lambda q, k, v: Tap().attend(SITE, scoring, q, k, v), n)


def theirs(name: str, n: int) -> Way:
    """The textbook's formulation of additive or scaled dot product attention, or torch's own."""
    ways = {
        "additive": TextbookAdditive(64), "scaled_dot": textbook_dot,
        "torch": lambda q, k, v: scaled_dot_product_attention(*(x[:, None] for x in (q, k, v))),
    }  # fmt: skip
    return _learning(ways[name], n)


def _compared(name: str, against: str, n: int) -> dict[str, Any]:
    found = interleaved(
        f"{name} against {against}, 4 x {n} x {n} x 64",
        ours(name, n),
        theirs(against, n),
        rounds=3,
    )
    here = "tests.benchmarks.attention"
    taken = (
        peak_growth(here, f"ours({name!r}, {n})"),
        peak_growth(here, f"theirs({against!r}, {n})"),
    )
    found["memory"] = {"ours": taken[0], "theirs": taken[1], "ratio": taken[1] / taken[0]}
    return found


def additive() -> dict[str, Any]:
    """Additive attention in blocks against the textbook's."""
    return _compared("additive", "additive", 1024)


def scaled_dot() -> dict[str, Any]:
    """Scaled dot product attention against the textbook's."""
    return _compared("scaled_dot", "scaled_dot", 2048)


def scaled_dot_and_torch() -> dict[str, Any]:
    """Scaled dot product attention against torch's own: what the way there costs."""
    return _compared("scaled_dot", "torch", 2048)


def cosine_and_torch() -> dict[str, Any]:
    """Cosine attention, a product of vectors of length 1, against torch's scaled dot product."""
    return _compared("cosine", "torch", 2048)


def alibi() -> dict[str, Any]:
    """A scoring with positions, in blocks, against the textbook's plain scaled dot product."""
    return _compared("alibi", "scaled_dot", 2048)


ALL = (additive, scaled_dot, scaled_dot_and_torch, cosine_and_torch, alibi)

if __name__ == "__main__":
    for measure in ALL:
        print(measure())

"""Attention of many queries beside the textbook's formulation and torch's own, no weights asked.

``python -m tests.benchmarks.attention`` prints all of it; each function measures one comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from attention_plugins import Site, Sizes, Tap, get_scoring
from attention_plugins.attention import Inputs
from attention_plugins.blocks import attend_in_blocks
from tests.benchmarks.memory import peak_growth
from tests.benchmarks.rows import Row, interleaved

SITE = Site("cross")
Way = Callable[[], None]


class TextbookAdditive(nn.Module):
    """d2l.ai, section 10.3.2, without mask: all sums exist at once."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.W_k, self.W_q = (nn.Linear(size, size, bias=False) for _ in range(2))
        self.w_v = nn.Linear(size, 1, bias=False)

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        features = self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1)
        scores = self.w_v(torch.tanh(features)).squeeze(-1)
        return torch.bmm(nn.functional.softmax(scores, dim=-1), values)


def textbook_dot(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """d2l.ai, section 10.3.3, without mask."""
    scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
    return torch.bmm(nn.functional.softmax(scores, dim=-1), values)


def textbook_gaussian(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """d2l.ai, section 10.2, of vectors: all differences exist at once."""
    squares = ((queries.unsqueeze(2) - keys.unsqueeze(1)) ** 2).sum(dim=-1)
    return torch.bmm(nn.functional.softmax(-squares / 2, dim=-1), values)


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


def in_blocks(name: str, n: int) -> Way:
    """The same in blocks, whatever a tap would choose: as with dropout or another normaliser."""
    scoring = get_scoring(name).create(Sizes(64, 64, 64))
    return _learning(lambda q, k, v: attend_in_blocks(Inputs(scoring, q, k, v)), n)


def theirs(name: str, n: int) -> Way:
    """The textbook's formulation by that name, or torch's own scaled dot product attention."""
    ways = {
        "additive": TextbookAdditive(64), "scaled_dot": textbook_dot,
        "gaussian": textbook_gaussian,
        "torch": lambda q, k, v: scaled_dot_product_attention(*(x[:, None] for x in (q, k, v))),
    }  # fmt: skip
    return _learning(ways[name], n)


def rows(quick: bool) -> Iterator[Row]:
    """Additive and scaled dot product attention, and what else is a product, as in training."""
    long, short = (512, 256) if quick else (2048, 1024)
    yield _compared("additive", "additive", short)
    yield _compared("gaussian", "gaussian", short)
    yield _compared("scaled_dot", "scaled_dot", long)
    yield _compared("scaled_dot", "torch", long)
    yield _compared("cosine", "torch", long)
    # Against plain scaled dot products: what blocks cost, or save, where scores are products.
    for name in ("alibi", "cosine", "gaussian"):
        yield _compared(name, "scaled_dot", long, "in_blocks")


def _compared(name: str, against: str, n: int, way: str = "ours") -> Row:
    here = "tests.benchmarks.attention"
    mine = peak_growth(here, f"{way}({name!r}, {n})")
    other = peak_growth(here, f"theirs({against!r}, {n})")
    return interleaved(
        f"{name}{' in blocks' * (way == 'in_blocks')}, 4 x {n} x {n} x 64, forward and backward",
        "torch's own" if against == "torch" else f"the textbook's {against}",
        (in_blocks if way == "in_blocks" else ours)(name, n), theirs(against, n),
        rounds=3, note=f"{mine:.0f} MB against {other:.0f}",
    )  # fmt: skip

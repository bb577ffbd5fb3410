"""The library's attention, done by our tap: recorded and changed as in the models of our own.

The library lets an attention function be registered by name, and calls it at every site with the
projected queries and keys, the mask, the scale and, in T5, the position bias.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring, attend
from attention_plugins.tap import Site, Tap

NAME = "attention_workbench"

# Not on the modules: two users may share one model.
_pass: ContextVar[tuple[Tap | None, Mapping[nn.Module, Site]]] = ContextVar("pass")


@contextmanager
def watched(tap: Tap | None, sites: Mapping[nn.Module, Site]) -> Iterator[None]:
    """Inside, every attention of these modules goes through the tap, if there is one."""
    token = _pass.set((tap, sites))
    try:
        yield
    finally:
        _pass.reset(token)


class Library(Protocol):
    """An encoder–decoder of ``transformers``, as far as it is used here."""

    @property
    def generation_config(self) -> Any:
        """How it decodes: its first token, its last ones."""
        ...

    def get_encoder(self) -> nn.Module:
        """The part that reads."""
        ...

    def get_decoder(self) -> nn.Module:
        """The part that writes."""
        ...

    def get_output_embeddings(self) -> nn.Linear:
        """What scores the words of the vocabulary."""
        ...

    def generate(self, inputs: Tensor, **options: Any) -> Tensor:
        """The library's own search: ids ``(B, m)``."""
        ...

    def __call__(self, **inputs: Any) -> Any:
        """One pass."""
        ...


def sites_of(model: Library) -> dict[nn.Module, Site]:
    """Every attention module of the library's encoder–decoder, with the site that it is."""
    found = {}
    for side in ("encoder", "decoder"):
        part = model.get_encoder() if side == "encoder" else model.get_decoder()
        for path, module in part.named_modules():
            layer = re.search(r"\d+", path)
            # T5 wraps its attention in layers whose names end like it.
            if layer and [_attends(inner) for inner in module.modules()].count(True) == 1:
                cross = side == "decoder" and "enc" in path.rsplit(".", 1)[-1].lower()
                if _attends(module):
                    found[module] = Site("cross" if cross else side, int(layer[0]))
    return found


def _attends(module: nn.Module) -> bool:
    return type(module).__name__.endswith("Attention")


def register() -> None:
    """Make the attention known to the library; again is harmless."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    def mask(**asked: Any) -> Tensor | None:
        """Boolean, True: may attend; never left out.

        By default None says that a decoder's site is causal, and that an encoder's sees all.
        """
        asked.update(allow_is_causal_skip=False, allow_is_bidirectional_skip=False)
        return sdpa_mask(**asked)

    AttentionInterface.register(NAME, _attend)
    AttentionMaskInterface.register(NAME, mask)


class _Given(Scoring):
    """``scale * q k^T``, plus a bias ``(1, heads, n_q, n_k)`` where there is one."""

    def __init__(self, scale: float, bias: Tensor | None) -> None:
        super().__init__()
        self.scale, self.bias = scale, bias

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        scores = queries @ keys.mT * self.scale
        return scores if self.bias is None else scores + self.bias


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    position_bias: Tensor | None = None,
    **_more: Any,
) -> tuple[Tensor, None]:
    """One attention as the library asks for it: ``(batch, heads, n, d)`` in, heads third out.

    Keys and values may have fewer heads than the queries: each then serves a group of them.
    """
    tap, sites = _pass.get()
    if (groups := query.shape[1] // key.shape[1]) > 1:
        key, value = (part.repeat_interleave(groups, dim=1) for part in (key, value))
    scoring = _Given(query.shape[-1] ** -0.5 if scaling is None else scaling, position_bias)
    if tap is None:
        output, _ = attend(scoring, query, key, value, attention_mask)
    elif position_bias is None:
        output = tap.attend(sites[module], scoring, query, key, value, attention_mask)
    else:  # it fits the scores of all queries, not those of a block of them
        site = sites[module]
        output, _ = tap.attend_with_weights(site, scoring, query, key, value, attention_mask)
    return torch.transpose(output, 1, 2).contiguous(), None

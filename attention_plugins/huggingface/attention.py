"""Our tap behind the library's attention interface.

The library lets an attention function be registered by name, and calls it at every site with the
projected queries and keys, the mask, the scale, and what a family adds: T5's position bias, Gemma
2's soft cap, GPT-OSS's sinks.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring, attend
from attention_plugins.contract import ContractError
from attention_plugins.tap import Site, Tap

NAME = "attention_workbench"
Sites = Mapping[nn.Module, Sequence[Site]]  # of a module that several layers share, one a layer

_SCORED = frozenset({"scaling", "position_bias", "softcap", "s_aux"})
# They say again what the mask says, or nothing of the scores.
_HARMLESS = frozenset({
    "cache_position", "deterministic", "dropout", "is_causal", "output_attentions",
    "output_hidden_states", "output_router_logits", "position_ids", "return_dict",
    "sliding_window", "use_cache",
})  # fmt: skip


class Pass:
    """What one user's calls of a model go through; ``order`` has the modules that attended."""

    def __init__(self, tap: Tap | None, sites: Sites) -> None:
        self.tap, self.order = tap, list[nn.Module]()
        self._sites, self._calls = sites, Counter[nn.Module]()

    def site(self, module: nn.Module) -> Site:
        """Where this call of a module stands."""
        sites = self._sites[module]
        call = self._calls[module]
        self._calls[module] += 1
        return sites[call % len(sites)]


# Not on the modules: two users may share one model.
_pass: ContextVar[Pass] = ContextVar("pass")


@contextmanager
def watched(tap: Tap | None, sites: Sites) -> Iterator[Pass]:
    """Inside, every attention of these modules goes through the tap, if there is one."""
    token = _pass.set(made := Pass(tap, sites))
    try:
        yield made
    finally:
        _pass.reset(token)


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


class WithSink(Scoring):
    """Stands in a model whose sinks take a part of every row: the rest sums to less than 1."""

    sums_to_one = False


class _Given(Scoring):
    """``scale * q k^T``, capped, plus a bias, as the library has them; see :func:`_attend`.

    A sink ``(heads,)`` is a score beside those of the keys, of which nothing is pooled.
    """

    def __init__(self, scale: float, cap: float | None, bias: Tensor | None,
                 sink: Tensor | None) -> None:  # fmt: skip
        super().__init__()
        self.scale, self.cap, self.bias, self.sink = scale, cap, bias, sink

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        scores = queries @ keys.mT * self.scale
        if self.cap is not None:
            scores = (scores / self.cap).tanh() * self.cap
        return scores if self.bias is None else scores + self.bias

    def normalise(self, scores: Tensor) -> Tensor:
        # As the library does it, so that what comes out is the same to the last bit.
        if self.sink is None:
            return scores.softmax(dim=-1)
        sink = self.sink.reshape(1, -1, 1, 1).expand(*scores.shape[:3], 1)
        together = torch.cat([scores, sink], dim=-1)
        return (together - together.amax(dim=-1, keepdim=True)).softmax(dim=-1)[..., :-1]


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **more: Any,
) -> tuple[Tensor, None]:
    """One attention as the library asks for it: ``(batch, heads, n, d)`` in, heads third out.

    Keys and values may have fewer heads than the queries: each then serves a group of them.
    """
    given = _pass.get()
    given.order.append(module)
    for name in more.keys() - _SCORED - _HARMLESS:
        if more[name] is not None:
            raise ContractError(
                f"{type(module).__name__} of the library gives its attention {name!r}, which is "
                "not known here, so its maps would be wrong"
            )
    scale, bias, mask = more.get("scaling"), more.get("position_bias"), attention_mask
    if mask is not None and mask.is_floating_point():  # scores to add, the lowest where forbidden
        bias = mask if bias is None else bias + mask
        mask = mask > torch.finfo(mask.dtype).min / 2
    if (groups := query.shape[1] // key.shape[1]) > 1:
        key, value = (part.repeat_interleave(groups, dim=1) for part in (key, value))
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scoring = _Given(scale, more.get("softcap"), bias, more.get("s_aux"))
    inputs = scoring, query, key, value, mask
    if given.tap is None:
        output, _ = attend(*inputs)
    elif bias is None and scoring.sink is None:
        output = given.tap.attend(given.site(module), *inputs)
    else:  # a bias fits the scores of all queries, not those of a block of them
        output, _ = given.tap.attend_with_weights(given.site(module), *inputs)
    return torch.transpose(output, 1, 2).contiguous(), None

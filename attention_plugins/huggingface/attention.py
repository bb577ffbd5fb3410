"""Our tap behind the library's attention interface.

The library lets an attention function be registered by name, and calls it at every site with the
projected queries and keys, the mask, the scale, and what a family adds: T5's position bias, Gemma
2's soft cap, GPT-OSS's sinks.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention_plugins.attention import Scoring, attend
from attention_plugins.contract import ContractError
from attention_plugins.swaps.rows import Asked, Places, swapped_attention
from attention_plugins.swaps.site import Call, served, swapped_of
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


class Shape(NamedTuple):
    """What a module attended with: how many heads, queries and keys, and their sizes."""

    heads: int
    queries: int
    keys: int
    size: int
    value_size: int


class Pass:
    """What one user's calls of a model go through.

    ``order`` has the modules that attended, ``shapes`` what each first did it with.
    """

    def __init__(self, tap: Tap | None, sites: Sites) -> None:
        self.tap, self.order, self.shapes = tap, list[nn.Module](), dict[nn.Module, Shape]()
        self._sites, self._calls = sites, Counter[nn.Module]()

    def note(self, module: nn.Module, query: Tensor, key: Tensor, value: Tensor) -> None:
        """That a module attends."""
        self.order.append(module)
        _, heads, queries, size = query.shape
        self.shapes.setdefault(module, Shape(heads, queries, key.shape[2], size, value.shape[3]))

    def site(self, module: nn.Module) -> Site:
        """Where this call of a module stands."""
        sites = self._sites[module]
        call = self._calls[module]
        self._calls[module] += 1
        return sites[call % len(sites)]


# Not on the modules: two users may share one model.
_pass: ContextVar[Pass | None] = ContextVar("pass", default=None)


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
        made: Any = sdpa_mask(**asked)
        # For scorings that need positions: behind a cache a mask's shape does not say them. A
        # static cache counts on in the very tensor that it gives.
        said = [asked.get(name) for name in ("q_offset", "kv_offset", "attention_mask")]
        made.places = tuple(each.clone() if isinstance(each, Tensor) else each for each in said)
        return made

    AttentionInterface.register(NAME, _attend)
    AttentionMaskInterface.register(NAME, mask)


class WithSink(Scoring):
    """Stands in a model whose sinks take a part of every row: the rest sums to less than 1."""

    sums_to_one = False


class _Own(Scoring):
    """``scale * q k^T``, normalised as the library does it, to the last bit."""

    def __init__(self, scale: float, *, has_sink: bool) -> None:
        super().__init__()
        self.scale, self.has_sink = scale, has_sink

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        return queries @ keys.mT * self.scale

    def normalise(self, scores: Tensor) -> Tensor:
        if self.has_sink:
            scores = scores - scores.amax(dim=-1, keepdim=True)
        return scores.softmax(dim=-1)


def _attend(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None,
    **more: Any,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """One attention as the library asks for it: ``(batch, heads, n, d)`` in, heads third out.

    Keys and values may have fewer heads than the queries: each then serves a group of them. The
    weights are those before dropout, where the call asks for its maps.
    """
    given = _pass.get()
    if given is not None:
        given.note(module, query, key, value)
    for name in more.keys() - _SCORED - _HARMLESS:
        if more[name] is not None:
            raise ContractError(
                f"{type(module).__name__} of the library gives its attention {name!r}, which is "
                "not known here, so its maps would be wrong"
            )
    asked = _asked(module, (query, key, value), attention_mask, more)
    tap = given.tap if given is not None else None
    if given is not None and tap is not None:
        output, weights = _tapped(tap, given.site(module), asked), None
    elif swapped_of(module) is not None:
        wanted = given is None and _wants_maps(more)
        output, weights = swapped_attention(asked.queries, asked, weighed=wanted)
    else:
        inputs = asked.whole(), asked.queries, asked.keys, asked.values, asked.mask
        output, weights = attend(*inputs, dropout=asked.dropout)
        weights = weights if given is None and _wants_maps(more) else None
    return torch.transpose(output, 1, 2).contiguous(), weights


def _asked(
    module: nn.Module, inputs: Sequence[Tensor], given_mask: Tensor | None, more: Mapping[str, Any]
) -> Asked:
    query, key, value = inputs
    scale, bias, mask = more.get("scaling"), more.get("position_bias"), given_mask
    if mask is None:
        mask = _causal(module, query, key, more)
    elif mask.is_floating_point():  # scores to add, the lowest where forbidden
        bias = mask if bias is None else bias + mask
        mask = _allowed(mask)
    if (groups := query.shape[1] // key.shape[1]) > 1:
        key, value = (part.repeat_interleave(groups, dim=1) for part in (key, value))
    usual = query.shape[-1] ** -0.5
    scale = usual if scale is None else scale
    sink, places = more.get("s_aux"), None
    scoring: Scoring = _Own(scale, has_sink=sink is not None)
    if (swapped := swapped_of(module)) is not None:
        call = served(module)
        if sink is not None and type(swapped.scoring).normalise is not Scoring.normalise:
            raise ContractError(
                f"{type(module).__name__} of the library has a sink, a score beside those of the "
                f"keys, and {swapped.recipe.scoring!r} makes its weights in a way of its own"
            )
        if swapped.recipe.positions == "remove":
            _require_none_in_mask(module, mask, given_mask)
            bias = None
        if swapped.recipe.scoring != swapped.own or swapped.recipe.normaliser:
            scoring = swapped.scoring
            if swapped.own == "scaled_dot" and scale != usual:  # the model's own temperature
                query = query * (scale / usual)
        if "positions" in scoring.needs:
            places = _places(call, given_mask, query, key, crosses=swapped.kind == "cross")
    return Asked(
        scoring, query, key, value, mask, bias, more.get("softcap"), sink,
        more.get("dropout") or 0.0, places,
    )  # fmt: skip


def _causal(
    module: nn.Module, query: Tensor, key: Tensor, more: Mapping[str, Any]
) -> Tensor | None:
    """What no mask means: everything may be seen, or of a causal module nothing that is later."""
    causal = more.get("is_causal")
    causal = getattr(module, "is_causal", False) if causal is None else causal
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    if not causal or n_queries == 1:
        return None
    if n_queries != n_keys:
        raise ContractError(
            f"{type(module).__name__} of the library asks for {n_queries} queries of {n_keys} "
            "keys without a mask, so what may be seen is not known here"
        )
    return torch.ones(n_queries, n_keys, dtype=torch.bool, device=query.device).tril()


def _require_none_in_mask(
    module: nn.Module, mask: Tensor | None, given_mask: Tensor | None
) -> None:
    """See that no positions were added to the mask, from which they could not be taken."""
    if given_mask is None or not given_mask.is_floating_point() or mask is None:
        return
    if given_mask.masked_select(mask).any():
        raise ContractError(
            f"{type(module).__name__} of the library adds its positions to the mask, so they "
            'cannot be removed: use positions="keep"'
        )


def _places(
    call: Call, mask: Tensor | None, query: Tensor, key: Tensor, *, crosses: bool
) -> Places | None:
    """Where queries and keys stand: by what our mask says of itself, or else by the cache.

    None where nobody says it.
    """
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    said = getattr(mask, "places", None)
    if said is None and mask is not None:
        if not crosses and (call.cache is not None or n_queries != n_keys):
            return None
        # Keys that no query may look at are padding, ``(batch, n_k)``.
        allowed = mask if mask.dtype == torch.bool else _allowed(mask)
        said = 0, 0, allowed.flatten(1, 2).any(1)
    first, first_key, tokens = said or (0, 0, None)
    if crosses:
        if call.cache is None:
            return Places(0, 0, tokens, crosses=True)
        own = getattr(call.cache, "self_attention_cache", None)
        return None if own is None else Places(_seen(own) - n_queries, 0, tokens, crosses=True)
    if said is None and call.cache is not None:
        first = _seen(call.cache) - n_queries
        if n_keys < first + n_queries:
            return None  # a window has left keys behind
    return Places(int(first or 0), int(first_key or 0), tokens)


def _allowed(mask: Tensor) -> Tensor:
    return mask > torch.finfo(mask.dtype).min / 2


def _seen(cache: Any) -> int:
    """How many tokens a cache has read, those of this call included."""
    return int(cache.get_seq_length())


def _wants_maps(more: Mapping[str, Any]) -> bool:
    """Whether the call of the model asks for its maps, by ``output_attentions=True``."""
    from transformers.utils.output_capturing import _active_collector

    collected = _active_collector.get() or {}
    return bool(more.get("output_attentions")) or any("attentions" in name for name in collected)


def _tapped(tap: Tap, site: Site, asked: Asked) -> Tensor:
    tokens = None if asked.places is None else asked.places.tokens
    if tokens is not None and not tokens.all():
        raise ContractError(
            f"{type(asked.scoring).__name__} needs positions, and a tap counts the same in every "
            "row, padding included: give it rows without padding"
        )
    inputs = asked.whole(), asked.queries, asked.keys, asked.values, asked.mask
    if asked.in_blocks:
        return tap.attend(site, *inputs, dropout=asked.dropout)
    # A bias fits the scores of all queries, not those of a block of them.
    return tap.attend_with_weights(site, *inputs, dropout=asked.dropout)[0]

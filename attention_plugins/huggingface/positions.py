"""Where the queries and keys of one of the library's calls stand."""

from typing import Any

import torch
from torch import Tensor

from attention_plugins.swaps.rows import Places
from attention_plugins.swaps.site import Call


def places_of(
    call: Call, mask: Tensor | None, query: Tensor, key: Tensor, *, crosses: bool
) -> Places | None:
    """By what our mask says of itself, or without one by the cache; None where nobody says it."""
    n_queries, n_keys = query.shape[-2], key.shape[-2]
    said = getattr(mask, "places", None)
    if said is None and mask is not None:
        if not crosses and (call.cache is not None or n_queries != n_keys):
            return None
        said = 0, 0, _seen_keys(mask)
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


def _seen_keys(mask: Tensor) -> Tensor:
    """Of somebody's own mask: keys that no query may look at are padding, ``(batch, n_k)``."""
    allowed = mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2
    return allowed.flatten(1, 2).any(1)


def _seen(cache: Any) -> int:
    """How many tokens a cache has read, those of this call included."""
    return int(cache.get_seq_length())

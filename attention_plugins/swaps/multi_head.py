"""Another scoring in ``nn.MultiheadAttention``, alone or in the layers of ``nn.Transformer``."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import pad

from attention_plugins.contract import ContractError, Sizes
from attention_plugins.swaps.rows import Asked, Places, swapped_attention
from attention_plugins.swaps.site import Kind, served, swapped_of


class SwappedMultiheadAttention(nn.MultiheadAttention):
    """What a ``nn.MultiheadAttention`` with a swapped scoring becomes; its weights stay."""

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
        need_weights: bool = True, attn_mask: Tensor | None = None,
        average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """As that of its class, but weights are those before dropout, in training too."""
        served(self)
        if is_causal and attn_mask is None:
            raise RuntimeError("need attn_mask where is_causal says that it is causal")
        if query.is_nested:
            return _of_nested(self, query, key is query and value is query)
        inputs, is_one = [query, key, value], query.dim() == 2
        if is_one:
            inputs = _turned(lambda each: each[None], query, key, value)
            key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
        elif not self.batch_first:
            inputs = _turned(lambda each: each.transpose(0, 1), query, key, value)
        output, weights = _attend(self, inputs, key_padding_mask, attn_mask, weighed=need_weights)
        if weights is not None and average_attn_weights:
            weights = weights.mean(1)
        if is_one:
            return output[0], None if weights is None else weights[0]
        return output if self.batch_first else output.transpose(0, 1), weights


def _turned(
    turn: Callable[[Tensor], Tensor], query: Tensor, key: Tensor, value: Tensor
) -> list[Tensor]:
    """With the batch first; what is given twice stays one, as self-attention is told by it."""
    turned = turn(query)
    turned_key = turned if key is query else turn(key)
    return [turned, turned_key, turned_key if value is key else turn(value)]


def _of_nested(
    module: SwappedMultiheadAttention, query: Tensor, is_self: bool
) -> tuple[Tensor, None]:
    """Of the nested tensors that ``nn.TransformerEncoder`` makes of padded ones."""
    if not is_self:
        raise ContractError("nested tensors attend to themselves alone")
    lengths = torch.tensor([len(row) for row in query.unbind()], device=query.device)
    whole = query.to_padded_tensor(0.0)
    padded = torch.arange(whole.shape[1], device=query.device) >= lengths[:, None]
    output, _ = _attend(module, [whole] * 3, padded, None, weighed=False)
    nested: Any = torch  # which does not export it
    return nested._nested_tensor_from_mask(output, ~padded, mask_check=False), None


def _attend(
    module: nn.MultiheadAttention, inputs: list[Tensor], padded: Tensor | None,
    attn_mask: Tensor | None, *, weighed: bool,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Of query, key and value ``(batch, n, size)``; weights ``(batch, heads, n_q, n_k)``."""
    swapped = swapped_of(module)
    if swapped is None:
        raise ContractError("what was swapped in is gone; undo the swap by unswap(model)")
    query, key, _ = inputs
    queries, keys, values = _projected(module, inputs)
    mask, bias = _masks(module, len(query), padded, attn_mask)
    tokens = None if padded is None else ~_forbidden(padded)
    more = keys.shape[-2] - key.shape[1]  # keys that are learned, or 0
    if more and "positions" in swapped.scoring.needs:
        raise ContractError(
            "a learned key (add_bias_kv) or one of zeros (add_zero_attn) stands nowhere, and "
            f"{type(swapped.scoring).__name__} needs positions"
        )
    if more:
        mask, bias = (each if each is None else pad(each, (0, more), value=filling)
                      for each, filling in ((mask, True), (bias, 0.0)))  # fmt: skip
    asked = Asked(
        swapped.scoring, queries, keys, values, mask, bias,
        dropout=module.dropout if module.training else 0.0,
        places=Places(0, 0, tokens, crosses=query is not key),
    )  # fmt: skip
    output, weights = swapped_attention(queries, asked, weighed=weighed)
    return module.out_proj(output.transpose(1, 2).flatten(2)), weights


def _projected(module: nn.MultiheadAttention, inputs: list[Tensor]) -> Iterator[Tensor]:
    """Queries, keys and values ``(batch, heads, n, size)``."""
    matrices: Any = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
    if module._qkv_same_embed_dim:
        matrices = module.in_proj_weight.chunk(3)
    biases: Any = (None,) * 3 if module.in_proj_bias is None else module.in_proj_bias.chunk(3)
    parts = [functional.linear(*each) for each in zip(inputs, matrices, biases, strict=True)]
    for number, learned in ((1, module.bias_k), (2, module.bias_v)):
        if learned is not None:
            parts[number] = torch.cat([parts[number], learned.expand(len(inputs[0]), 1, -1)], 1)
        if module.add_zero_attn:
            parts[number] = pad(parts[number], (0, 0, 0, 1))
    heads = module.num_heads, module.head_dim
    return (part.unflatten(-1, heads).transpose(1, 2) for part in parts)


def _masks(
    module: nn.MultiheadAttention, batch: int, padded: Tensor | None, attn_mask: Tensor | None
) -> tuple[Tensor | None, Tensor | None]:
    """What may be seen, and what is added to scores; theirs are True where nothing may be seen."""
    allowed, bias = None, None
    if attn_mask is not None and attn_mask.dim() == 3:  # (batch * heads, n_q, n_k)
        attn_mask = attn_mask.unflatten(0, (batch, module.num_heads))
    elif attn_mask is not None:
        attn_mask = attn_mask[None, None]
    rows = None if padded is None else padded[:, None, None]
    for given in (attn_mask, rows):
        if given is None:
            continue
        may = ~_forbidden(given)
        allowed = may if allowed is None else allowed & may
        if given.is_floating_point() and (added := given.masked_fill(~may, 0.0)).any():
            bias = added if bias is None else bias + added
    return allowed, bias


def _forbidden(mask: Tensor) -> Tensor:
    return mask == -torch.inf if mask.is_floating_point() else mask


def sites(model: nn.Module) -> dict[nn.Module, tuple[Sizes, Kind]]:
    """Every ``nn.MultiheadAttention`` of a model, with what its heads have and what it is.

    The kind is empty where no layer of ``nn.Transformer`` says it. ContractError: one whose class
    has a way of its own to attend.
    """
    kinds: dict[nn.Module, Kind] = {}
    for module in model.modules():
        if isinstance(module, nn.TransformerEncoderLayer):
            kinds[module.self_attn] = "encoder"
        elif isinstance(module, nn.TransformerDecoderLayer):
            kinds |= {module.self_attn: "decoder", module.multihead_attn: "cross"}
    found = {}
    for name, module in model.named_modules():
        if not isinstance(module, nn.MultiheadAttention):
            continue
        if type(module) not in (nn.MultiheadAttention, SwappedMultiheadAttention):
            raise ContractError(
                f"{name!r} is a {type(module).__name__}, which attends in a way of its own, and "
                "not as nn.MultiheadAttention does, so a swap might be ignored there"
            )
        size = module.head_dim
        found[module] = (Sizes(size, size, size, heads=module.num_heads), kinds.get(module, ""))
    return found

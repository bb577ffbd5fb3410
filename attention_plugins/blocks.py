"""Attention a block of queries at a time: the scores of all queries never exist at once."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeGuard

import torch
from torch import Tensor
from torch.amp import autocast, is_autocast_available
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad, scaled_dot_product_attention

from attention_plugins.attention import (
    Inputs,
    ProductScoring,
    Scoring,
    as_mask,
    attend_with,
    masked_weights,
    needs_of,
    part_of_mask,
    pooled,
    remembers,
    scored,
    together,
    weigh,
)
from attention_plugins.randomness import dropout as drop
from attention_plugins.randomness import pooled_draws, restore, states, undisturbed


def runs_fused(inputs: Inputs[Scoring]) -> TypeGuard[Inputs[ProductScoring]]:
    """Whether :func:`attend_fused` gives what ``attend`` would, and in less time.

    Not with dropout on a CPU: torch has no fused kernel for it there.
    """
    scoring = inputs.scoring
    if not isinstance(scoring, ProductScoring) or scoring.normaliser is not None:
        return False
    kind = type(scoring)
    if (kind.normalise, kind.pool) != (Scoring.normalise, Scoring.pool):
        return False  # it changes its weights on the way
    if remembers(scoring) or (inputs.dropout and not inputs.queries.is_cuda):
        return False
    return _depth(kind, "factors") <= _depth(kind, "forward")


def _depth(kind: type, method: str) -> int:
    return next(n for n, parent in enumerate(kind.__mro__) if method in vars(parent))


def attend_fused(inputs: Inputs[ProductScoring]) -> Tensor:
    """``attend``'s output alone, for scores that are products.

    A query without any allowed key reads 0, as everywhere.
    """
    inputs = inputs.with_projected_keys()
    scoring, values, mask = inputs.scoring, inputs.values, inputs.mask
    asked = scoring.project_queries(inputs.queries)
    left, right, scale = scoring.factors(asked, inputs.keys, **inputs.needs())
    allowed = None
    if mask is not None:
        rows = together(left.shape[:-2], right.shape[:-2])
        allowed = as_mask(mask, torch.Size((*rows, left.shape[-2], right.shape[-2])))
        allowed = allowed[None] if allowed.dim() == 1 else allowed
        allowed = allowed.expand(*allowed.shape[:-1], right.shape[-2])
    # The kernels want a batch and heads in front, of one shape, and one size for all vectors. A
    # mask may have more rows than queries and keys.
    shapes = [part.shape[:-2] for part in (left, right, values, allowed) if part is not None]
    leading = together(*shapes)
    size = max(left.shape[-1], values.shape[-1])
    parts = [part.expand(*leading, -1, -1) for part in (left, right, values)]
    parts = [p if p.shape[-1] == size else pad(p, (0, size - p.shape[-1])) for p in parts]
    missing = range(2 - len(leading))
    for _ in missing:
        parts = [part.unsqueeze(-3) for part in parts]
        if allowed is not None and allowed.dim() > 2:
            allowed = allowed.unsqueeze(-3)
    output = scaled_dot_product_attention(
        *parts, attn_mask=allowed, dropout_p=inputs.dropout, scale=scale
    )
    for _ in missing:
        output = output.squeeze(-3)
    return output[..., : values.shape[-1]]


# Scores of one block of queries: about what stays in a core's cache, in elements.
_BLOCK_ELEMENTS = 1 << 20


def block_of(scoring: Scoring, pairs: int, size: int) -> int:
    """How many queries of every row of the batch to score at once, at least 1.

    One query of every row has so many ``pairs``; ``size`` is the last dimension of projected keys.
    """
    elements = size if scoring.elements_per_pair is None else scoring.elements_per_pair
    return max(1, _BLOCK_ELEMENTS // max(1, pairs * elements))


def attend_in_blocks(inputs: Inputs[Scoring], *, block: int | None = None) -> Tensor:
    """``attend``'s output alone, a block of queries at a time, in memory linear in the queries.

    The backward pass makes each block's scores again. A scoring that needs earlier weights is
    attended with as a whole. RuntimeError: in the backward pass, where the scoring learns by a
    tensor that is no parameter of it, or where the gradient is to be differentiated again.
    """
    inputs = inputs.with_projected_keys()
    scoring, queries, keys = inputs.scoring, inputs.queries, inputs.keys
    if remembers(scoring):
        return attend_with(inputs)[0]
    rows = max(queries.shape[:-2].numel(), keys.shape[:-2].numel())
    block = block or block_of(scoring, rows * keys.shape[-2], keys.shape[-1])
    parts = [slice(start, start + block) for start in range(0, max(1, queries.shape[-2]), block)]
    blocks = _Blocks(
        scoring, parts, inputs.allowed(), inputs.dropout, inputs.first, inputs.key_positions
    )
    asked = scoring.project_queries(queries)
    return _InBlocks.apply(blocks, asked, keys, inputs.values, *scoring.parameters())


def with_and_without(
    scoring: Scoring, keys: Tensor, values: Tensor, rows: Tensor
) -> tuple[Tensor, Tensor]:
    """What keys ``(n, d)`` make of all keys, and of all but themselves, by scores made once.

    Both outputs are ``(r, c)`` for the keys numbered ``rows (r,)`` and values ``(n, c)``. The
    scoring must need nothing else, see :attr:`Scoring.needs`.
    """
    projected = scoring.project_keys(keys)
    block = max(1, block_of(scoring, len(keys), projected.shape[-1]) // 2)  # scores exist twice
    theirs = (type(scoring).normalise, type(scoring).pool)
    plain = scoring.normaliser is None and theirs == (Scoring.normalise, Scoring.pool)
    both = _by_softmax if plain else _by_weights
    found = [both(scoring, scored(scoring, scoring.project_queries(keys[part]), projected),
                  values, part) for part in rows.split(block)]  # fmt: skip
    among, alone = zip(*found, strict=True)
    return torch.cat(among), torch.cat(alone)


def _by_softmax(
    scoring: Scoring, scores: Tensor, values: Tensor, rows: Tensor
) -> tuple[Tensor, Tensor]:
    """A key joins its softmax by its share of it, with one exponential of each score.

    It is added, not taken out: nothing cancels where a key has nearly all the weight.
    """
    own = scores.gather(-1, rows[:, None])  # (b, 1)
    others = scores.scatter(-1, rows[:, None], -torch.inf)
    highest = others.amax(dim=-1, keepdim=True)
    some = highest > -torch.inf
    highest = torch.where(some | highest.isnan(), highest, 0.0)
    weights = others.sub_(highest).exp_()
    total = weights.sum(dim=-1, keepdim=True)
    alone = weights @ values / torch.where(some, total, 1.0)
    share = torch.where(own == -torch.inf, 0.0, torch.sigmoid(own - highest - total.log()))
    return alone + share * (values[rows] - alone), alone


def _by_weights(
    scoring: Scoring, scores: Tensor, values: Tensor, rows: Tensor
) -> tuple[Tensor, Tensor]:
    among, alone = (
        scoring.pool(masked_weights(scores, mask, scoring.normalise), values)
        for mask in (None, rows[:, None] != torch.arange(len(values), device=rows.device))
    )
    return among, alone


@dataclass(frozen=True)
class _Blocks:
    scoring: Scoring
    parts: list[slice]
    allowed: Tensor | None
    dropout: float
    first: int
    key_positions: Tensor | None

    def weights(self, part: slice, queries: Tensor, keys: Tensor) -> tuple[Tensor, dict[str, Any]]:
        """Of a block's queries, after dropout; and what the scoring asked for."""
        needs = needs_of(
            self.scoring, queries.shape[-2], keys, first=self.first + part.start,
            key_positions=self.key_positions, mask=part_of_mask(self.allowed, part),
        )  # fmt: skip
        weights = weigh(self.scoring, queries, keys, part_of_mask(self.allowed, part), needs)
        return (drop(weights, self.dropout) if self.dropout else weights), needs


class _Pass:
    def __init__(self, device: torch.device) -> None:
        self._device, self._kind = device, device.type
        self._states = states(device)
        self._casts = is_autocast_available(self._kind) and torch.is_autocast_enabled(self._kind)
        self._dtype = torch.get_autocast_dtype(self._kind) if self._casts else None

    @contextmanager
    def made(self) -> Iterator[None]:
        casts = autocast(self._kind, self._dtype) if self._casts else None
        with pooled_draws(False), casts or nullcontext():
            yield

    @contextmanager
    def made_again(self) -> Iterator[None]:
        with undisturbed(self._device), self.made(), torch.enable_grad():
            restore(self._states, self._device)
            yield


class _InBlocks(torch.autograd.Function):
    """One step of autograd for all blocks: nothing that a block makes outlives it.

    Checkpoints of :mod:`torch.utils.checkpoint` would do the same, but the first backward pass
    through one imports torch's compiler, which takes more than a second and some 70 MB.
    """

    @staticmethod
    def forward(
        ctx: Any, blocks: _Blocks, queries: Tensor, keys: Tensor, values: Tensor, *learned: Tensor
    ) -> Tensor:
        ctx.blocks, ctx.run = blocks, _Pass(queries.device)
        ctx.save_for_backward(queries, keys, values, *learned)
        output = None
        with ctx.run.made():
            for part in blocks.parts:
                asked = queries[..., part, :]
                weights, needs = blocks.weights(part, asked, keys)
                found = pooled(blocks.scoring, weights, values, needs, asked=asked)
                if output is None:
                    output = found.new_empty(*found.shape[:-2], queries.shape[-2], found.shape[-1])
                output[..., part, :] = found
        assert output is not None  # there is a block, though it may be empty
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        whole: tuple[Tensor, ...] = ctx.saved_tensors
        queries, *others = whole
        keys, values = (one.detach().requires_grad_(one.requires_grad) for one in others[:2])
        totals: list[Tensor | None] = [None] * len(whole)
        with ctx.run.made_again():
            for part in ctx.blocks.parts:
                asked = queries[..., part, :].detach().requires_grad_(queries.requires_grad)
                inputs = asked, keys, values, *others[2:]
                for number, new in _gradients(
                    ctx.blocks, part, inputs, gradient[..., part, :]
                ).items():
                    total = totals[number]
                    if total is None:
                        total = totals[number] = torch.zeros_like(whole[number])
                    (total if number else total[..., part, :]).add_(new)
        return None, *totals


def _gradients(
    blocks: _Blocks, part: slice, inputs: tuple[Tensor, ...], gradient: Tensor
) -> dict[int, Tensor]:
    """What each of a block's inputs learns, by its number; none where it plays no part."""
    asked, keys, values, *_ = inputs
    found: dict[int, Tensor] = {}
    made, needs = blocks.weights(part, asked, keys)
    if type(blocks.scoring).pool is not Scoring.pool:
        made = pooled(blocks.scoring, made, values, needs, asked=asked)
    else:  # autograd would multiply weights and values again, only to differentiate the product
        with torch.no_grad():
            if values.requires_grad:
                found[2] = (made.mT @ gradient).sum_to_size(values.shape)
            gradient = (gradient @ values.mT).sum_to_size(made.shape)
    if not made.requires_grad:
        return found
    if part.start == 0:
        _check_parameters(blocks.scoring, made, inputs)
    wanted = [number for number, tensor in enumerate(inputs) if tensor.requires_grad]
    learning = [inputs[number] for number in wanted]
    new = torch.autograd.grad(made, learning, gradient, allow_unused=True)
    return found | {n: one for n, one in zip(wanted, new, strict=True) if one is not None}


def _check_parameters(scoring: Scoring, made: Tensor, inputs: tuple[Tensor, ...]) -> None:
    """See that what was made learns by the inputs alone: others would learn nothing, unnoticed."""
    known = {id(tensor) for tensor in inputs}
    steps, seen = [made.grad_fn], set()
    while steps:
        step = steps.pop()
        if step is None or step in seen:
            continue
        seen.add(step)
        steps += [before for before, _ in step.next_functions]
        leaf = getattr(step, "variable", None)
        if leaf is not None and id(leaf) not in known:
            raise RuntimeError(
                f"{type(scoring).__name__} learns by a tensor {tuple(leaf.shape)} that is none of "
                "its parameters; make it an nn.Parameter of the scoring, or of a module in it"
            )

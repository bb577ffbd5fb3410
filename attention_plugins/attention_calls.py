"""The weights of one call: of torch's own attention functions, and of a softmax made by hand."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from attention_plugins.attention import together

computing: ContextVar[bool] = ContextVar("computing", default=False)


@contextmanager
def unwatched() -> Iterator[None]:
    """Inside, this thread computes for a watch, and no other watch counts that as the model's."""
    token = computing.set(True)
    try:
        with torch.no_grad():
            yield
    finally:
        computing.reset(token)


Indices = int | slice | Sequence[int] | None


@dataclass
class Choice:
    """Which part of the weights is kept; ``admit`` is asked with its shape before it is made.

    Attributes:
        rows: or a function of how many there are.
        examples: how many of the batch, from its first on; None for all.
        chosen: the numbers of heads and rows that it came to, None where all are kept.
    """

    heads: Indices
    rows: Indices | Callable[[int], Sequence[int]]
    examples: int | None = None
    admit: Callable[[Sequence[int]], None] = lambda shape: None
    chosen: tuple[tuple[int, ...] | None, tuple[int, ...] | None] = (None, None)

    def of(self, *shape: int) -> tuple[list[int], list[int]]:
        """The numbers of heads and rows of weights ``(batch, heads, queries, keys)``.

        IndexError: there is no such head or row.
        """
        heads = _numbers("heads", self.heads, shape[1])
        asked = self.rows(shape[2]) if callable(self.rows) else self.rows
        rows = _numbers("rows", asked, shape[2])
        self.admit((shape[0], len(heads), len(rows), shape[3]))
        self.chosen = (
            None if self.heads is None else tuple(heads),
            None if self.rows is None else tuple(rows),
        )
        return heads, rows

    def first(self, whole: Tensor) -> Tensor:
        """The chosen examples of ``(batch, ...)``."""
        return whole[: self.examples]

    def part(self, whole: Tensor) -> Tensor:
        """What is chosen of ``(batch, heads, queries, keys)``."""
        whole = self.first(whole)
        heads, rows = self.of(*whole.shape)
        return _take(_take(whole, 1, heads), 2, rows)


def _numbers(what: str, asked: Indices, size: int) -> list[int]:
    whole = range(size)
    if asked is None or isinstance(asked, slice):
        return list(whole if asked is None else whole[asked])
    wanted = [asked] if isinstance(asked, int) else asked
    beyond = [number for number in wanted if not -size <= number < size]
    if beyond:
        raise IndexError(f"{what}={beyond[0]}: this attention has {what} 0 to {size - 1}")
    return [whole[number] for number in wanted]


def _take(whole: Tensor, dim: int, numbers: list[int]) -> Tensor:
    if numbers == list(range(whole.shape[dim])):
        return whole
    return whole.index_select(dim, torch.tensor(numbers, dtype=torch.long, device=whole.device))


def _products(query: Tensor, key: Tensor, scale: float | None, heads: list[int]) -> Tensor:
    """Scores of heads that were chosen, in single precision or better."""
    factor = float(query.shape[-1]) ** -0.5 if scale is None else scale
    exact = torch.promote_types(query.dtype, torch.float32)
    return (query.to(exact) * factor) @ _take(key, 1, heads).to(exact).mT


def softmax_in_place(scores: Tensor) -> Tensor:
    """Weights in the memory of the scores, which are lost; a row of minus infinities is all 0.

    Large maps cost more to allocate than to compute.
    """
    nothing = torch.isneginf(scores.amax(-1, keepdim=True))
    torch.softmax(scores, -1, out=scores)
    return scores.masked_fill_(nothing, 0.0) if nothing.any() else scores


def scaled_dot_product(
    choice: Choice, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """Weights ``(batch, heads, rows, keys)`` of ``scaled_dot_product_attention``.

    Only the chosen heads and rows are computed. Further leading dimensions are folded into the
    batch; queries of three dimensions have one head.
    """
    (n_queries, size), n_keys = query.shape[-2:], key.shape[-2]
    lead = query.shape[:-2]
    if not enable_gqa:
        lead = together(lead, key.shape[:-2])
        key = key.expand(*lead, n_keys, size)
    n_heads = lead[-1] if len(lead) > 1 else 1
    query = query.expand(*lead, n_queries, size).reshape(-1, n_heads, n_queries, size)
    n_key_heads = key.shape[-3] if enable_gqa else n_heads
    key = key.reshape(-1, n_key_heads, n_keys, size)
    query, key = choice.first(query), choice.first(key)
    heads, rows = choice.of(len(query), n_heads, n_queries, n_keys)
    query = _take(_take(query, 1, heads), 2, rows)
    scores = _products(query, key, scale, [head * n_key_heads // n_heads for head in heads])
    if is_causal:
        keys = torch.arange(n_keys, device=query.device)
        later = keys > torch.tensor(rows, dtype=torch.long, device=query.device)[:, None]
        scores.masked_fill_(later, -torch.inf)
    if attn_mask is not None:
        mask = attn_mask.expand(*lead, n_queries, n_keys).reshape(-1, n_heads, n_queries, n_keys)
        mask = _take(_take(choice.first(mask), 1, heads), 2, rows)
        is_boolean = mask.dtype == torch.bool
        scores = scores.masked_fill_(~mask, -torch.inf) if is_boolean else scores.add_(mask)
    return softmax_in_place(scores)


def flex(
    choice: Choice, query: Tensor, key: Tensor, value: Tensor, score_mod: Callable[..., Tensor],
    block_mask: tuple[Any, ...], scale: float, kernel_options: Any,
    score_buffers: tuple[Tensor, ...] = (), mask_buffers: tuple[Tensor, ...] = (),
) -> Tensor:  # fmt: skip
    """Weights ``(batch, heads, rows, keys)`` of the operator that ``flex_attention`` calls.

    Its functions of the score and of the mask are applied at the chosen heads and rows alone.
    """
    query, key = choice.first(query), choice.first(key)
    batch, n_heads, n_queries, _ = query.shape
    n_keys, n_key_heads = key.shape[2], key.shape[1]
    heads, rows = choice.of(batch, n_heads, n_queries, n_keys)
    query = _take(_take(query, 1, heads), 2, rows)
    scores = _products(query, key, scale, [head * n_key_heads // n_heads for head in heads])
    ranges = (range(batch), heads, rows, range(n_keys))
    places = [torch.tensor(each, dtype=torch.long, device=query.device) for each in ranges]
    scores = _everywhere(score_mod, (0,), score_buffers)(scores, *places)
    allowed = _everywhere(block_mask[-1], (), mask_buffers)(*places)
    return softmax_in_place(scores.masked_fill(~allowed, -torch.inf))


def _everywhere(
    function: Callable[..., Tensor], first: tuple[int, ...], buffers: tuple[Tensor, ...]
) -> Callable[..., Tensor]:
    """A function of ``(b, h, q, k)``, after what is mapped too, at all of them."""
    mapped = function
    for place in (3, 2, 1, 0):
        dims = tuple(0 if at == place else None for at in range(4))
        mapped = torch.vmap(mapped, in_dims=(*first, *dims, *(None for _ in buffers)))
    return lambda *given: mapped(*given, *buffers)


class _Softmaxes(TorchDispatchMode):
    """Keeps what goes into each softmax, below the functions that hide it."""

    def __init__(self) -> None:
        super().__init__()
        self.scores: list[Tensor] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is torch.ops.aten._softmax.default:
            self.scores.append(args[0].detach())
        return func(*args, **(kwargs or {}))


_MULTI_HEAD = inspect.signature(functional.multi_head_attention_forward)


def multi_head(
    function: Callable[..., Any], args: Any, kwargs: Any, examples: int | None = None
) -> tuple[Any, Tensor]:
    """The answer of ``multi_head_attention_forward`` as asked for, and all its masked scores.

    Where it would not compute weights, it runs once more without dropout, on so many examples.

    Returns the answer, and scores ``(batch, heads, queries, keys)``.
    """
    asked = _MULTI_HEAD.bind(*args, **kwargs).arguments
    softmaxes = _Softmaxes()
    if asked.get("need_weights", True):
        with softmaxes:
            answer = function(*args, **kwargs)
    else:
        answer = function(*args, **kwargs)
        again = asked | {"need_weights": True, "dropout_p": 0.0, "training": False}
        if examples is not None and asked["query"].dim() == 3:
            again |= _of_examples(asked, examples)
        with unwatched(), softmaxes:
            function(**again)
    (scores,) = softmaxes.scores
    return answer, scores.reshape(-1, asked["num_heads"], *scores.shape[-2:])


def _of_examples(asked: Mapping[str, Any], examples: int) -> dict[str, Any]:
    """The tensors of the first examples; one that is given twice stays one, as it is asked for."""
    given = [asked[name] for name in ("query", "key", "value")]
    first = {id(each): each[:, :examples] for each in given}
    found = {name: first[id(asked[name])] for name in ("query", "key", "value")}
    for name in ("attn_mask", "static_k", "static_v"):  # of every head of every example
        held = asked.get(name)
        if held is not None and held.dim() == 3:
            found[name] = held[: examples * asked["num_heads"]]
    if (mask := asked.get("key_padding_mask")) is not None:
        found["key_padding_mask"] = mask[:examples]
    return found


def by_hand(choice: Choice, scores: Tensor, weights: Tensor) -> Tensor:
    """What is chosen of a softmax's result, ``(batch, heads, queries, keys)``.

    Rows of scores that are all minus infinity have weights 0, not NaN.
    """
    if weights.isnan().any():
        weights = weights.masked_fill(torch.isneginf(scores).all(-1, keepdim=True), 0.0)
    weights = weights[:, None] if weights.dim() == 3 else weights.flatten(1, -3)
    return choice.part(weights)


@dataclass(eq=False)
class Found:
    """A softmax of a product, and whether values were weighted by it afterwards."""

    doubts: tuple[str, ...]
    index: int | None = None
    used: bool = False


@dataclass(eq=False)
class Frame:
    """One call of a module: the tensors that come from products, and the softmaxes of these."""

    name: str
    call: int
    module: nn.Module
    batch: int | None = None
    origins: dict[int, tuple[weakref.ref[Tensor], tuple[str, ...] | Found]] = field(
        default_factory=dict
    )
    found: list[Found] = field(default_factory=list)

    def mark(self, tensor: Any, origin: tuple[str, ...] | Found) -> None:
        """Note where a tensor comes from."""
        if isinstance(tensor, Tensor):
            self.origins[id(tensor)] = (weakref.ref(tensor), origin)

    def origin(self, tensor: Tensor) -> tuple[str, ...] | Found | None:
        """Doubts about a product, or the softmax; None for any other tensor."""
        reference, origin = self.origins.get(id(tensor), (None, None))
        return origin if reference is not None and reference() is tensor else None


_PRODUCTS = {"matmul", "rmatmul", "bmm", "baddbmm", "einsum", "linalg_matmul"}
_SOFTMAXES = {"softmax", "special_softmax"}
_MOVED = {"transpose", "permute", "swapaxes", "swapdims", "movedim", "cat", "concat", "pad"}
_ARITHMETIC = ("add", "sub", "mul", "div", "truediv", "true_divide", "multiply", "divide")
_FOLLOWED = {f"{kind}{name}" for kind in ("", "i", "r") for name in _ARITHMETIC} | _MOVED | set(
    "neg masked_fill where tanh clamp clamp_min clamp_max maximum minimum nan_to_num float "
    "double half bfloat16 to type type_as view view_as reshape flatten unflatten unsqueeze "
    "squeeze expand contiguous clone dropout getitem narrow".split()
)  # fmt: skip


class Trace:
    """Follows what a product became, up to a softmax over its last dimension.

    A frame is a call of a module. The innermost one is the last.
    """

    def __init__(self, frames: list[Frame]) -> None:
        self._frames = frames

    def seen(self, name: str, args: Any, kwargs: Any, result: Any) -> Frame | None:
        """Note one function's call; the frame that attended, where it was a softmax of a product.

        What was found is then the last of that frame's.
        """
        name = name.strip("_")
        if name in _PRODUCTS:
            self._product(args, kwargs, result)
        elif name in _FOLLOWED:
            self._follow(name, args, kwargs, result)
        elif name in _SOFTMAXES:
            return self._softmax(args, kwargs, result)
        return None

    def _of(self, tensors: list[Tensor]) -> tuple[Frame, Any] | None:
        for frame in reversed(self._frames):
            for tensor in tensors:
                origin = frame.origin(tensor)
                if origin is not None:
                    return frame, origin
        return None

    def _product(self, args: Any, kwargs: Any, result: Any) -> None:
        factors = _tensors(args, kwargs)
        for factor in factors:
            known = self._of([factor])
            if known is not None and isinstance(known[1], Found):
                known[1].used = True
        if isinstance(result, Tensor) and result.dim() >= 3:
            doubts: tuple[str, ...] = ()
            if any(isinstance(each, nn.Parameter) or isinstance(each._base, nn.Parameter)
                   for each in factors):  # fmt: skip
                doubts = ("a factor of its product is a parameter",)
            if args and isinstance(args[0], str) and not _clear(args[0]):
                doubts += (f"einsum {args[0]!r} does not end in queries and keys",)
            self._frames[-1].mark(result, doubts)

    def _follow(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        known = self._of(_tensors(args, kwargs))
        if known is not None:
            frame, origin = known
            if name in _MOVED and isinstance(origin, tuple):
                origin += (f"{name} came between product and softmax",)
            frame.mark(result, origin)

    def _softmax(self, args: Any, kwargs: Any, result: Any) -> Frame | None:
        scores = kwargs.get("input", args[0] if args else None)
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if not isinstance(scores, Tensor) or scores.dim() < 3 or dim not in (-1, scores.dim() - 1):
            return None
        known = self._of([scores])
        if known is None or isinstance(known[1], Found):
            return None
        frame, doubts = known
        between = self._frames[self._frames.index(frame) + 1 :]
        if any(not isinstance(each.module, nn.Softmax) for each in between):
            doubts += (f"its product was made in {frame.name!r}, its softmax in a module of that",)
        if scores.dim() == 3 and frame.batch != len(scores):
            doubts += ("its first of 3 dimensions may be heads, or batch and heads in one",)
        if scores.dim() > 4:
            doubts += (f"its {scores.dim()} dimensions were folded into 4",)
        found = Found(doubts)
        frame.found.append(found)
        frame.mark(result, found)
        return frame

    def close(self, frame: Frame, output: Any) -> list[Found]:
        """A call is over: what was found in it, with all doubts."""
        if len(frame.found) > 1:
            several = f"{len(frame.found)} softmaxes of products in one call of its module"
            for found in frame.found:
                found.doubts += (several,)
        for found in frame.found:
            if not found.used:
                found.doubts += ("no values were multiplied by it",)
        for tensor in _tensors((output,), {}):
            origin = frame.origin(tensor)
            if self._frames and isinstance(origin, tuple):
                origin += (f"its product was made in {frame.name!r}, a module of this one",)
                self._frames[-1].mark(tensor, origin)
        return frame.found


def _tensors(args: Any, kwargs: Any) -> list[Tensor]:
    found: list[Tensor] = []
    for given in (*args, *kwargs.values()):
        several = given if isinstance(given, list | tuple) else (given,)
        found += [each for each in several if isinstance(each, Tensor)]
    return found


def _clear(equation: str) -> bool:
    """Whether the result of an einsum ends in an axis of either factor, and shares the others."""
    inputs, arrow, output = equation.replace(" ", "").replace("...", "").partition("->")
    first, comma, second = inputs.partition(",")
    if not arrow or not comma or "," in second or len(output) < 2:
        return False
    query, key = output[-2:]
    ends = (query in first) != (query in second) and (key in first) != (key in second)
    apart = (query in first) != (key in first)
    return ends and apart and all(each in first and each in second for each in output[:-2])

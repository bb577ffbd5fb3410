"""Every attention map of any PyTorch model, by watching it while it runs.

PyTorch hands each call of its functions to the modes of the calling thread, where the function
has not yet chosen a kernel. So nothing is patched, and other threads are not watched.
"""

import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, overload

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.modules import module as modules
from torch.overrides import TorchFunctionMode

from attention_plugins.attention_calls import (
    Choice,
    Frame,
    Indices,
    Trace,
    by_hand,
    computing,
    flex,
    multi_head,
    scaled_dot_product,
    softmax_in_place,
    unwatched,
)
from attention_plugins.attention_log import spread
from attention_plugins.logged_watch import LoggedWatch
from attention_plugins.maps import AttentionMaps, WatchedMap
from attention_plugins.swaps.rows import swapped_attention

Layers = int | str | Iterable[int | str] | Callable[[str], bool] | None

_KEPT = {"float32": torch.float32, "float16": torch.float16}
# Kernels that give no weights, by parts of their names.
_OPAQUE = (
    "flash_attn", "flash_attention", "efficient_attention", "cudnn_attention", "sageattn",
    "native_multi_head_attention", "transformer_encoder_layer_fwd",
)  # fmt: skip
_COMPILED = (
    "module {name!r} is compiled, at least in part, such as flex_attention by torch.compile, and "
    "what runs inside cannot be seen: watch it without torch.compile"
)


class AttentionUnseen(RuntimeError):
    """A watched model attends in a way that cannot be watched."""


@overload
def watch(
    model: nn.Module, *, layers: Layers = None, heads: Indices = None, rows: Indices = None,
    keep: Literal["float32", "float16"] = "float32", limit_bytes: int = 1 << 30,
    log: None = None, every: int = 100,
) -> "Watch": ...  # fmt: skip
@overload
def watch(
    model: nn.Module, *, log: str | Path, every: int = 100, layers: Layers = None,
    heads: Indices = None, rows: Indices = None, keep: Literal["float32", "float16"] = "float32",
    limit_bytes: int = 1 << 30,
) -> LoggedWatch: ...  # fmt: skip
def watch(
    model: nn.Module, *, layers: Layers = None, heads: Indices = None, rows: Indices = None,
    keep: Literal["float32", "float16"] = "float32", limit_bytes: int = 1 << 30,
    log: str | Path | None = None, every: int = 100,
) -> "Watch | LoggedWatch":  # fmt: skip
    """Keep the attention weights of whatever a model runs inside ``with watch(model) as seen:``.

    ``seen.maps`` are :class:`~attention_plugins.maps.AttentionMaps`, in the order of the calls.
    Each has the name of the module that attended, the number of that module's call, and weights
    ``(batch, heads, queries, keys)`` without a gradient, on the CPU.

    ==================================  ======================================================
    seen                                its weights; the model's output
    ==================================  ======================================================
    ``nn.MultiheadAttention`` and the   before dropout; all are computed, then the chosen kept.
    layers of ``nn.Transformer``        Outputs are equal in training. In evaluation the fast
                                        path is switched off: equal to 1e-6, but where an
                                        ``nn.TransformerEncoder`` would skip padding its
                                        padded positions are not 0
    ``F.scaled_dot_product_attention``  before dropout; only chosen heads and rows are computed.
                                        Outputs are equal
    ``flex_attention``, not compiled    as the line above, with ``score_mod`` and ``mask_mod``
    a softmax over the last dimension   what the softmax gave, so before a later dropout.
    of a product made in one module     Outputs are equal. ``sure`` is False, and ``doubts``
                                        say why, where it may be something else
    ==================================  ======================================================

    Rows whose keys are all masked have weights 0. No random number is drawn. Modules that are
    checkpointed are seen again if the backward pass runs inside the ``with``.

    Args:
        layers: which modules: names, as in ``model.named_modules()``, or patterns such as
            ``"*.self_attn"``; numbers of the attending modules, in the order in which they first
            attend, from 0; or a function of the name.
        heads, rows: a number, a slice or numbers of heads and of queries.
        keep: the precision of what is kept.
        limit_bytes: how much is kept at most.
        log: a folder, see :func:`~attention_plugins.attention_log.log_attention`. Nothing is kept
            then, but of the first call of the model and of each ``every``-th after it the first
            example's attention is added to the log in that folder, of at most 128 queries.
        every: see ``log``.

    Raises:
        TypeError, ValueError: no module, or arguments that do not fit.
        AttentionUnseen: the model, or a part of it that runs, is compiled. Kernels such
            as those of flash-attn give a warning instead, and a sentence in ``seen.unseen``.
        IndexError: inside the ``with``: an attention has no such head or row.
        MemoryError: inside the ``with``: more than ``limit_bytes``.
    """
    if log is None:
        return Watch(model, layers, Choice(heads, rows), keep, limit_bytes)
    choice = Choice(heads, spread if rows is None else rows, examples=1)
    return LoggedWatch(model, log, every, lambda: Watch(model, layers, choice, keep, limit_bytes))


class Watch(TorchFunctionMode):
    """What :func:`watch` gives; it sees only the thread that entered it."""

    def __init__(
        self, model: nn.Module, layers: Layers, choice: Choice, keep: str, limit_bytes: int
    ) -> None:
        super().__init__()
        if not isinstance(model, nn.Module):
            raise TypeError(f"watch: need a torch.nn.Module, got {type(model).__name__}")
        if keep not in _KEPT:
            raise ValueError(f"watch: need keep={' or '.join(map(repr, _KEPT))}, got {keep!r}")
        self._names = {module: name for name, module in model.named_modules()}
        self._is_chosen = chooser(layers, self._names.values())
        self._choice, self._dtype, self._limit = choice, _KEPT[keep], limit_bytes
        self._kept: list[WatchedMap] = []
        self._bytes = 0
        self._calls: dict[nn.Module, int] = {}
        self._numbers: dict[str, int] = {}  # of the modules that attended
        self._unseen: list[str] = []
        self._frames: list[Frame] = []
        self._trace = Trace(self._frames)
        self._hooks: list[Any] = []
        self._thread = 0
        self._in_flex = self._has_compiled = False

    @property
    def maps(self) -> AttentionMaps:
        """All that was kept so far."""
        return AttentionMaps(self._kept)

    @property
    def unseen(self) -> tuple[str, ...]:
        """What attended and could not be seen; after the ``with``, also why there is no map."""
        nothing = [] if self._kept or self._hooks else [self._why_nothing()]
        return (*self._unseen, *nothing)

    def __str__(self) -> str:
        maps = self.maps
        modules = len({each.name for each in maps})
        counted = [f"{n} {word}{'s' * (n != 1)}" for n, word in
                   ((len(maps), "map"), (modules, "module"))]  # fmt: skip
        return "\n".join([f"{' of '.join(counted)}, {maps.bytes:,} bytes", *self.unseen])

    def _why_nothing(self) -> str:
        if not self._calls:
            return "The model was not called in this thread while it was watched."
        if self._numbers:
            named = ", ".join(map(repr, self._numbers))
            return f"layers= chose none of the modules that attended: {named}."
        return (
            f"None of the {len(self._calls)} modules that ran attended by "
            "scaled_dot_product_attention, nn.MultiheadAttention, flex_attention or a softmax "
            "of a product; kernels of other packages are not seen."
        )

    def __enter__(self) -> "Watch":
        if self._hooks:
            raise RuntimeError("this watch is in use: call watch(model) once more")
        compiled = next(filter(_is_compiled, self._names), None)
        if compiled is not None:
            raise AttentionUnseen(_COMPILED.format(name=self._names[compiled]))
        self._thread = threading.get_ident()
        # Hooks of the modules themselves would take the fast path from other threads.
        self._hooks = [
            modules.register_module_forward_pre_hook(self.before),
            modules.register_module_forward_hook(self._after, always_call=True),
        ]
        return super().__enter__()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._frames.clear()
        super().__exit__(kind, error, traceback)
        if kind is not None and kind.__module__.startswith("torch._dynamo"):
            raise AttentionUnseen(_COMPILED.format(name="")) from error

    def before(self, module: nn.Module, args: Any) -> None:
        """Note that a module is called: what is seen next is its own."""
        if threading.get_ident() != self._thread or module not in self._names:
            return
        self._has_compiled &= bool(self._frames)
        call = self._calls.get(module, 0)
        self._calls[module] = call + 1
        batch = next((len(a) for a in args if isinstance(a, Tensor) and a.dim()), None)
        if self._frames and self._frames[-1].batch is None:  # it was called by keywords
            self._frames[-1].batch = batch
        self._frames.append(Frame(self._names[module], call, module, batch))

    def _after(self, module: nn.Module, args: Any, output: Any) -> None:
        if threading.get_ident() != self._thread or module not in self._names:
            return
        while self._frames:
            frame = self._frames.pop()
            for found in self._trace.close(frame, output):
                if found.index is not None:
                    self._kept[found.index] = replace(self._kept[found.index], doubts=found.doubts)
            if frame.module is module:
                break
        self._in_flex = False
        if self._has_compiled and output is not None:
            raise AttentionUnseen(_COMPILED.format(name=self._names[module]))

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if torch.compiler.is_compiling():
            if not self._in_flex:  # which compiles itself, without a compiler
                self._has_compiled = True  # and so whenever the compiled code runs
            return func(*args, **kwargs)
        if not self._frames or computing.get():
            return func(*args, **kwargs)
        frame, name = self._frames[-1], getattr(func, "__name__", "")
        if func is functional.multi_head_attention_forward and self._chosen(frame):
            answer, scores = multi_head(func, args, kwargs, self._choice.examples)
            self._keep(frame, name, lambda choice: softmax_in_place(choice.part(scores)))
            return answer
        answer = func(*args, **kwargs)
        if func is functional.scaled_dot_product_attention:
            self._called(frame, name, scaled_dot_product, args, kwargs)
        elif func is swapped_attention and self._chosen(frame):
            self._keep(frame, name, lambda choice: choice.part(func(*args, weighed=True)[1]))
        elif name == "flex_attention":
            self._in_flex = False
            self._called(frame, name, flex, args, kwargs)
        elif name == "dim" and _is_asked_by_flex():
            self._in_flex = True  # that function is no operator, and not seen itself
        elif _is_opaque(func):
            self._not_seen(name, frame)
        else:
            self._followed(name, args, kwargs, answer)
        return answer

    def _called(
        self, frame: Frame, name: str, weigh: Callable[..., Tensor], args: Any, kwargs: Any
    ) -> None:
        if any(each.is_nested for each in args if isinstance(each, Tensor)):
            self._not_seen(f"{name} of nested tensors", frame)
        elif self._chosen(frame):
            self._keep(frame, name, lambda choice: weigh(choice, *args, **kwargs))

    def _followed(self, name: str, args: Any, kwargs: Any, answer: Any) -> None:
        frame = self._trace.seen(name, args, kwargs, answer)
        if frame is not None and self._chosen(frame):
            scores = args[0] if args else kwargs["input"]
            frame.found[-1].index = len(self._kept)
            self._keep(frame, "softmax", lambda choice: by_hand(choice, scores, answer).clone())

    def _not_seen(self, name: str, frame: Frame) -> None:
        said = (
            f"{name} of module {frame.name!r} gives no weights, and its maps are missing: choose "
            'another attention, for example attn_implementation="sdpa".'
        )
        if said not in self._unseen:
            self._unseen.append(said)
            warnings.warn(said, stacklevel=3)

    def _chosen(self, frame: Frame) -> bool:
        number = self._numbers.setdefault(frame.name, len(self._numbers))
        return self._is_chosen(frame.name, number)

    def _keep(self, frame: Frame, function: str, weigh: Callable[[Choice], Tensor]) -> None:
        def admit(shape: Sequence[int]) -> None:
            more = torch.Size(shape).numel() * self._dtype.itemsize
            if self._bytes + more > self._limit:
                raise MemoryError(
                    f"the maps up to {frame.name!r} need {self._bytes + more:,} bytes, more than "
                    f"limit_bytes={self._limit:,}: choose fewer by layers=, heads= or rows=, or "
                    'halve them by keep="float16"'
                )
            self._bytes += more

        choice = replace(self._choice, admit=admit)
        with unwatched():
            weights = weigh(choice).to("cpu", self._dtype)
        heads, rows = choice.chosen
        self._kept.append(WatchedMap(
            name=frame.name, call=frame.call, function=function, weights=weights,
            heads=heads, rows=rows,
        ))  # fmt: skip


@lru_cache(maxsize=4096)
def _is_opaque(function: Any) -> bool:
    return any(part in f"{function} {getattr(function, '__name__', '')}" for part in _OPAQUE)


def _is_asked_by_flex() -> bool:
    """Whether the function at hand was called there, maybe by way of other watches."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    return frame.f_globals.get("__name__") == "torch.nn.attention.flex_attention"


def _is_compiled(module: nn.Module) -> bool:
    return hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None


def chooser(layers: Layers, names: Iterable[str]) -> Callable[[str, int], bool]:
    """Whether a module is chosen, by its name and its number; see :func:`watch`.

    ValueError: a pattern that fits none of the names.
    """
    if layers is None:
        return lambda name, number: True
    if callable(layers):
        return lambda name, number: bool(layers(name))
    asked = [layers] if isinstance(layers, int | str) else list(layers)
    numbers = [each for each in asked if isinstance(each, int) and each >= 0]
    patterns = [each for each in asked if isinstance(each, str)]
    if len(numbers) + len(patterns) < len(asked):
        raise ValueError(f"layers= are names, patterns and numbers from 0, got {layers!r}")
    names = list(names)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise ValueError(f"layers={pattern!r} fits no module's name, as {names[-1]!r} would")
    return lambda name, number: number in numbers or any(fnmatchcase(name, p) for p in patterns)

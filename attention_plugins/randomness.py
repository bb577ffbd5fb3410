"""Random draws: seeded without side effects, left undisturbed, and gone on with.

:func:`torch.manual_seed` seeds the generators of all devices, and :func:`torch.random.fork_rng`
brings back only those that it is told of: on the CPU alone :func:`seeded` seeds.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor
from torch.nn.functional import dropout as torch_dropout

# Masks are drawn so many numbers at a time, which stay in a core's cache.
_AT_ONCE = 1 << 16
# Each number of a mask is decided by 16 random bits: a rate is met to within 1 / 131,072.
_STEPS = 1 << 16


class _Pool:
    """Masks for the places of one pass, each a stretch of its own of what was drawn."""

    def __init__(self) -> None:
        self._left: dict[tuple[float, torch.dtype], Tensor] = {}

    def take(self, like: Tensor, rate: float) -> Tensor:
        kind, count = (rate, like.dtype), like.numel()
        left = self._left.get(kind)
        if left is None or len(left) < count:
            left = _drawn(max(count, _AT_ONCE), rate, like.dtype)
        self._left[kind] = left[count:]
        return left[:count].view(like.shape)


def _drawn(count: int, rate: float, dtype: torch.dtype) -> Tensor:
    words = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(1 << 63), None)
    dropped = round(rate * _STEPS)
    # 16 bits, signed; compared in place, as a result of 0s and 1s in their own type is fast.
    kept = words.view(torch.int16).ge_(dropped - _STEPS // 2)
    return kept.to(dtype).mul_(_STEPS / (_STEPS - dropped))


_pool: ContextVar[_Pool | None] = ContextVar("pool", default=None)


@contextmanager
def pooled_draws(pooled: bool = True) -> Iterator[None]:
    """Inside, :func:`dropout` on a CPU takes its masks from one draw, which is much faster.

    Equal seeds give equal masks, but others than torch's dropout draws. Whatever runs again in
    the backward pass, as under :func:`torch.utils.checkpoint.checkpoint`, must drop the same
    again: it runs with ``pooled=False``, by torch's own draws, which checkpoints restore.
    """
    token = _pool.set(_Pool() if pooled else None)
    try:
        yield
    finally:
        _pool.reset(token)


def dropout(inputs: Tensor, rate: float, training: bool = True) -> Tensor:
    """``inputs`` with a share of its numbers set to 0 and the others scaled up, as torch does."""
    if not training or not rate:
        return inputs
    pool = _pool.get()
    if pool is None or inputs.device.type != "cpu" or round(rate * _STEPS) == _STEPS:
        return torch_dropout(inputs, rate)
    return inputs * pool.take(inputs, rate)


def seed_all(seed: int) -> None:
    """Let later draws follow the seed, on the CPU and on a device where there is one.

    :func:`torch.manual_seed` writes down the stack for each kind of device that is not in use:
    where there is no device, this spares it.
    """
    if torch.accelerator.is_available():
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside, draws on the CPU follow the seed; afterwards they go on as if none had been made.

    Draws on devices are left alone.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


@contextmanager
def undisturbed(device: torch.device) -> Iterator[None]:
    """Whatever is drawn inside, later draws on the CPU and on the device do not notice."""
    before = states(device)
    try:
        yield
    finally:
        restore(before, device)


def states(device: torch.device) -> dict[str, Tensor]:
    """The generators' states by kind of device: ``cpu``, and that of the device, if another."""
    found = {"cpu": torch.get_rng_state()}
    if device.type != "cpu":
        found[device.type] = torch.get_device_module(device).get_rng_state(device)
    return found


def restore(found: Mapping[str, Tensor], device: torch.device) -> None:
    """Draw on from :func:`states`; a device whose state is not among them is left as it is."""
    torch.set_rng_state(found["cpu"])
    if device.type != "cpu" and device.type in found:
        torch.get_device_module(device).set_rng_state(found[device.type], device)

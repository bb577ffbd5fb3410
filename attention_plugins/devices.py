"""Devices by name: what is there, and what was asked for."""

import time
from collections.abc import Callable

import torch

from attention_plugins.contract import ContractError

_WITHOUT_DOUBLE = {"mps"}  # Apple's GPU


def available() -> list[str]:
    """``auto``, ``cpu``, and every accelerator of this machine."""
    cuda = [f"cuda:{index}" for index in range(torch.cuda.device_count())]
    return ["auto", *cuda, *(["mps"] if torch.backends.mps.is_available() else []), "cpu"]


def resolve(name: str) -> torch.device:
    """The device of that name; ``auto`` is the first accelerator, else the CPU."""
    offered = available()
    wanted = offered[1] if name == "auto" else "cuda:0" if name == "cuda" else name
    if wanted not in offered:
        raise ContractError(f"no device {name!r} here; need one of {', '.join(offered)}")
    return torch.device(wanted)


def widest(device: torch.device) -> torch.dtype:
    """The floating-point type of most digits there: float64, where the device has it."""
    return torch.float32 if device.type in _WITHOUT_DOUBLE else torch.float64


def clock_of(device: torch.device | str) -> Callable[[], float]:
    """Seconds that work takes there: a core's own, which neither others' load nor a pause adds to.

    Of a device other than the CPU, whoever reads the clock first waits for a result.
    """
    return time.process_time if torch.device(device).type == "cpu" else time.perf_counter

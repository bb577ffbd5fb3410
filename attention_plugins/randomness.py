"""Random draws: seeded without side effects, left undisturbed, and gone on with.

torch draws for tensors on the CPU from one generator, and for those on a device from another.
:func:`torch.manual_seed` seeds all of them, and :func:`torch.random.fork_rng` brings back only
those that it is told of: what is drawn on the CPU alone is seeded by :func:`seeded`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor


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

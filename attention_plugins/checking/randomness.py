"""Whether something was drawn at random from a generator that everybody shares."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from attention_plugins.checking.findings import Broken


@contextmanager
def nothing_drawn(what: str) -> Iterator[None]:
    """Raise :class:`Broken` if torch's, Python's or NumPy's generator moved inside."""
    before = _generators()
    yield
    for name, state in _generators().items():
        if state != before.get(name, state):
            raise Broken(
                f"{what} in evaluation mode drew from {name}'s random generator; draw only where "
                "self.training is true (functional.dropout needs training=self.training)"
            )


def _generators() -> dict[str, str]:
    states = {"torch": torch.get_rng_state().numpy().tobytes().hex()}
    states["Python"] = repr(random.getstate())
    if (numpy := sys.modules.get("numpy")) is not None:
        _, keys, *rest = numpy.random.get_state()
        states["NumPy"] = f"{keys.tobytes().hex()} {rest}"
    return states

"""Has the painter paint, see :mod:`dashboard.charts.painter`; call from a thread that may wait."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_PATIENCE = 120.0  # seconds that painting may take, on a machine that is busy
_QUEUE = 60.0  # seconds to wait for painters that others keep busy
_PAINTER = Path(__file__).with_name("painter.py")
_at_once = threading.BoundedSemaphore(2)


class ExportError(ValueError):
    """A chart that cannot be a file by itself, or a painter that failed, in one sentence."""


def painted(orders: Sequence[Mapping[str, Any]], *, patience: float = _PATIENCE) -> list[bytes]:
    """What the painter makes of the orders; two work at once, others wait for them.

    Args:
        patience: seconds that painting may take.

    Raises:
        ExportError: it failed, or took too long; or others were waited for too long.
    """
    if not _at_once.acquire(timeout=_QUEUE):
        raise ExportError("the server paints for others: try again in a minute")
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(_PAINTER)],
            input=json.dumps(orders).encode(),
            capture_output=True,
            timeout=patience,
            check=False,
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        raise ExportError(f"the chart could not be painted: {error}") from error
    finally:
        _at_once.release()
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip() or "no reason given"
        raise ExportError(f"the chart could not be painted: {said.splitlines()[-1][:300]}")
    return list(_parts(done.stdout, len(orders)))


def _parts(answer: bytes, count: int) -> Iterable[bytes]:
    start = 0
    for _ in range(count):
        (size,) = struct.unpack_from("!Q", answer, start)
        yield answer[start + 8 : start + 8 + size]
        start += 8 + size

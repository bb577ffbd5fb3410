"""What the load tests print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown, after an empty line."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n" + "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def percentiles(seconds: Sequence[float]) -> tuple[str, str]:
    """The median and the 95th percentile, in seconds."""
    p50, p95 = np.percentile(seconds, (50, 95))
    return f"{p50:.2f} s", f"{p95:.2f} s"

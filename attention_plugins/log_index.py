"""What lies in the folder of a logged training, for readers and writers.

A step is one ``step-000000100.safetensors`` and one line of JSON in ``index.jsonl``. What a writer
left half done when it died is skipped by readers and replaced by the next writer.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INDEX = "index.jsonl"
FORMAT = "attention-log-1"


@dataclass(frozen=True)
class LogIndex:
    """What ``index.jsonl`` says.

    Attributes:
        lines: of the steps that are there, in their order, each with ``step``, ``bytes``, ``time``
            (seconds since 1970) and ``entropy``, by module the nats of each head.
        left_out: how many steps went, so that the others fit.
        whole: whether every line can be read.
    """

    lines: tuple[dict[str, Any], ...] = ()
    left_out: int = 0
    whole: bool = False


def read_index(folder: str | Path) -> LogIndex:
    """The steps of a log, without those that cannot be read; none where there is no log."""
    text = b""
    with suppress(OSError):
        text = (Path(folder) / INDEX).read_bytes()
    lines, left_out, broken = {}, 0, not text.endswith(b"\n")
    for one in text.splitlines():
        try:
            held = json.loads(one)
            if "format" in held:
                left_out = int(held["left_out"])
            elif step_path(folder, held["step"]).is_file():
                lines[held["step"]] = held
        except (ValueError, KeyError, TypeError, RecursionError):
            broken = True
    return LogIndex(tuple(lines[step] for step in sorted(lines)), left_out, not broken)


def step_path(folder: str | Path, step: int) -> Path:
    """Where the maps of a step lie; ValueError: no number."""
    return Path(folder) / f"step-{step:09d}.safetensors"

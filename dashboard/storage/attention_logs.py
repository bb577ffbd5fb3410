"""Logged trainings, each a folder below one that the operator names; nothing outside is read.

The index is read as by :mod:`attention_plugins.attention_log`, which pages may not import.
"""

import functools
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from dashboard.settings import settings
from dashboard.storage import files

INDEX = "index.jsonl"
_LARGEST = 1 << 26  # bytes of an index
NAME = re.compile(r"\w[\w .,=+-]{0,79}\Z")
_MOST = 200  # logs that are offered
_KEPT = 32


class Log(NamedTuple):
    """The steps of a log in their order, as its index has them, and how many were left out."""

    lines: tuple[dict[str, Any], ...] = ()
    left_out: int = 0


def logs_root() -> Path:
    """Return the folder that has one folder for each log."""
    return Path(settings().logs or files.home() / "logs")


def logs() -> list[str]:
    """The names of the logs, the one that was written to last first."""
    try:
        names = [folder.name for folder in logs_root().iterdir()]
    except OSError:
        return []
    found = [(stamp, name) for name in names if (stamp := written(name)) is not None]
    return [name for _, name in sorted(found, reverse=True)[:_MOST]]


def log_folder(name: str) -> Path:
    """Return the folder of a log.

    ValueError: no such log, or one that lies elsewhere, by a link or by its name.
    """
    folder = logs_root() / name
    index, inside = folder / INDEX, logs_root().resolve() / name
    if NAME.match(name) and index.is_file() and index.resolve().parent == inside:
        return folder
    raise ValueError(f"there is no log {name[:80]!r} in the folder of logs of this server")


def written(name: str) -> tuple[int, int] | None:
    """When a log's index was written, in nanoseconds, and its bytes; None where there is none."""
    with suppress(ValueError, OSError):
        stat = (log_folder(name) / INDEX).stat()
        return stat.st_mtime_ns, stat.st_size
    return None


def log_index(name: str) -> Log:
    """The steps of a log; none where there is no such log."""
    stamp = written(name)
    return Log() if stamp is None else _index(log_folder(name), stamp)


@functools.lru_cache(maxsize=_KEPT)
def _index(folder: Path, _stamp: tuple[int, int]) -> Log:
    lines, left_out = {}, 0
    with suppress(OSError):
        for text in files.read_bounded(folder / INDEX, _LARGEST).splitlines():
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                held = json.loads(text)
                if "format" in held:
                    left_out = int(held["left_out"])
                elif (folder / f"step-{held['step']:09d}.safetensors").is_file():
                    lines[held["step"]] = held
    return Log(tuple(lines[step] for step in sorted(lines)), left_out)

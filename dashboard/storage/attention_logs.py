"""Logged trainings, each a folder below one that the operator names; nothing outside is read."""

import functools
import re
from contextlib import suppress
from pathlib import Path

from attention_plugins.log_index import INDEX, LogIndex, read_index
from dashboard.settings import settings
from dashboard.storage import files

NAME = re.compile(r"\w[\w .,=+-]{0,79}\Z")
_MOST = 200  # logs that are offered
_KEPT = 32


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

    Raises:
        ValueError: no such log, or one that lies elsewhere, by a link or by its name.
    """
    folder = logs_root() / name
    if NAME.match(name) and (folder / INDEX).is_file():
        inside = (folder / INDEX).resolve().parent == logs_root().resolve() / name
        if inside:
            return folder
    raise ValueError(f"there is no log {name[:80]!r} in the folder of logs of this server")


def written(name: str) -> tuple[int, int] | None:
    """When a log's index was written, in nanoseconds, and its bytes; None where there is none."""
    with suppress(ValueError, OSError):
        stat = (log_folder(name) / INDEX).stat()
        return stat.st_mtime_ns, stat.st_size
    return None


def log_index(name: str) -> LogIndex:
    """The steps of a log; none where there is no such log."""
    stamp = written(name)
    return LogIndex() if stamp is None else _index(log_folder(name), stamp)


@functools.lru_cache(maxsize=_KEPT)
def _index(folder: Path, _stamp: tuple[int, int]) -> LogIndex:
    return read_index(folder)

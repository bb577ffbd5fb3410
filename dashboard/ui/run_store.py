"""The store of runs of this server."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from dashboard.settings import settings
from dashboard.storage.archive import MB
from dashboard.storage.home import home

if TYPE_CHECKING:
    from dashboard.storage.runs import Runs


def run_store() -> Runs:
    """Return the store that the settings name, opened when it is first asked for.

    Raises:
        StorageError: it cannot be opened; the next call tries again.
    """
    given = settings()
    limits = (given.runs, given.run_space * MB, given.run_space_total * MB, given.run_days)
    return _opened(home(), given.database.get_secret_value(), given.blobs, limits)


@functools.lru_cache(maxsize=4)
def _opened(root: Path, database: str, blobs: str, limits: tuple[int, int, int, float]) -> Runs:
    # SQLAlchemy takes a third of a second to import, and most visitors keep nothing.
    from dashboard.storage.run_limits import Limits
    from dashboard.storage.runs import Runs

    runs, own, total, days = limits
    chosen = Limits(runs=runs, owner_bytes=own, total_bytes=total, days=days)
    return Runs(root, database=database, blobs=blobs, limits=chosen)


def picture_path(id: str) -> str:
    """Where a run's picture is on this server, below its address."""
    return f"preview/{id}.png"

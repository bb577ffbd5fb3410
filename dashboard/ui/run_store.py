"""The store of runs of this server."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from dashboard.settings import Settings, settings
from dashboard.storage.archive import MB
from dashboard.storage.home import home

if TYPE_CHECKING:
    from dashboard.storage.runs import Runs


def run_store() -> Runs:
    """Return the store that the settings name, opened when it is first asked for.

    Raises:
        StorageError: it cannot be opened; the next call tries again.
    """
    return _opened(home(), settings())


@functools.lru_cache(maxsize=4)
def _opened(root: Path, given: Settings) -> Runs:
    # SQLAlchemy takes a third of a second to import, and most visitors keep nothing.
    from dashboard.storage.run_limits import Limits
    from dashboard.storage.runs import Runs

    return Runs(
        root,
        database=given.database.get_secret_value(),
        blobs=given.blobs,
        limits=Limits(
            runs=given.runs,
            owner_bytes=given.run_space * MB,
            total_bytes=given.run_space_total * MB,
            days=given.run_days,
        ),
    )

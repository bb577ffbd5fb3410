"""Removes what the store of runs no longer needs: expired records, files that none names."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa

from dashboard.storage.contents import Contents
from dashboard.storage.database import Database
from dashboard.storage.errors import StorageError
from dashboard.storage.schema import runs
from dashboard.storage.sweep_clock import SweepClock

_SECONDS_BETWEEN = 3600.0
_SECONDS_A_FILE_WAITS = 3600.0  # for the record that will name it


class RunSweep:
    """Sweeps one store. All times are in seconds since 1970.

    Args:
        database: where the records are.
        contents: where the files are.
        path: of the file of the clock by which runs expire.
    """

    def __init__(self, database: Database, contents: Contents, path: Path) -> None:
        self._database, self._contents = database, contents
        self._clock = SweepClock(path, self._newest)
        self._swept = -math.inf

    def run(self, now: float) -> None:
        """Remove runs that have surely expired, and files that no record has named for an hour.

        Raises:
            StorageError: the store cannot be read or written.
        """
        expired = self._clock.now()
        with self._database.writing() as connection:
            connection.execute(sa.delete(runs).where(runs.c.expires <= expired))
        old = [name for name, when in self._contents.names() if when < now - _SECONDS_A_FILE_WAITS]
        self.remove_unused(old)

    def _newest(self) -> float | None:
        with self._database.reading() as connection:
            return connection.scalar(sa.select(sa.func.max(runs.c.created)))

    def run_sometimes(self, now: float) -> None:
        """Sweep if the last sweep was an hour ago; what fails is left for the next one."""
        if now - self._swept >= _SECONDS_BETWEEN:
            self._swept = now
            with suppress(StorageError):  # what was asked for is done
                self.run(now)

    def remove_unused(self, names: Iterable[str]) -> None:
        """Remove those files that no record names, while nobody can add a record.

        Raises:
            StorageError: the store cannot be read or written.
        """
        with self._database.writing() as connection:
            used = {*connection.scalars(sa.select(runs.c.digest))}
            used |= {*connection.scalars(sa.select(runs.c.picture))}
            for name in names:
                if name not in used:
                    self._contents.remove(name)

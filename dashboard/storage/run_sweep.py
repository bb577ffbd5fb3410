"""Removes what the store of runs no longer needs: expired records, files that none names."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import sqlalchemy as sa

from dashboard.storage.contents import Contents
from dashboard.storage.database import Database
from dashboard.storage.errors import StorageError
from dashboard.storage.schema import runs

_SECONDS_BETWEEN = 3600.0
_SECONDS_A_FILE_WAITS = 3600.0  # for the record that will name it


def delete_expired(connection: sa.Connection, now: float) -> None:
    """Delete the records of runs that have expired by then, in seconds since 1970."""
    connection.execute(sa.delete(runs).where(runs.c.expires <= now))


class RunSweep:
    """Sweeps one store. All times are in seconds since 1970.

    Args:
        database: where the records are.
        contents: where the files are.
    """

    def __init__(self, database: Database, contents: Contents) -> None:
        self._database, self._contents = database, contents
        self._swept = 0.0

    def run(self, now: float) -> None:
        """Remove expired runs, and files that no record has named for an hour.

        Raises:
            StorageError: the store cannot be read or written.
        """
        with self._database.writing() as connection:
            delete_expired(connection, now)
        old = [name for name, when in self._contents.names() if when < now - _SECONDS_A_FILE_WAITS]
        self.remove_unused(old)

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

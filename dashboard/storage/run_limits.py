"""How many runs are stored, and how much room they may take."""

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from dashboard.language import gettext_noop
from dashboard.storage.blobs import Contents
from dashboard.storage.bundle import MB
from dashboard.storage.database import Database
from dashboard.storage.files import StorageError
from dashboard.storage.run import Run, runs
from dashboard.storage.sweep_clock import SweepClock

_SECONDS_BETWEEN = 3600.0
_SECONDS_A_FILE_WAITS = 3600.0  # for the record that will name it


class RunSweep:
    """Sweeps one store, or raises ``StorageError``. All times are in seconds since 1970.

    At ``path`` is the file of the clock by which runs expire.
    """

    def __init__(self, database: Database, contents: Contents, path: Path) -> None:
        self._database, self._contents = database, contents
        self._clock = SweepClock(path, self._newest)
        self._swept = -math.inf

    def run(self, now: float) -> None:
        """Remove runs that have surely expired, and files that no record has named for an hour."""
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
        """Remove those files that no record names, while nobody can add a record."""
        with self._database.writing() as connection:
            used = {*connection.scalars(sa.select(runs.c.digest))}
            used |= {*connection.scalars(sa.select(runs.c.picture))}
            for name in names:
                if name not in used:
                    self._contents.remove(name)


_DAY = 86_400.0  # seconds


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much is stored: runs and bytes of one owner, bytes of all runs, and days; 0 for ever."""

    runs: int = 1000
    owner_bytes: int = 1024 * MB
    total_bytes: int = 4096 * MB
    days: float = 0.0

    def expires(self, created: float) -> float | None:
        """Return when a run expires, in seconds since 1970 as ``created``; None for never."""
        return created + self.days * _DAY if self.days else None


def check_room(connection: sa.Connection, run: Run, limits: Limits) -> None:
    """Check that there is room for one more run, within the transaction that adds it."""
    count, used = sa.func.count(), sa.func.coalesce(sa.func.sum(runs.c.bytes), 0)
    own = connection.execute(sa.select(count, used).where(runs.c.owner == run.owner)).one()
    total = connection.execute(sa.select(used)).scalar_one()
    if own[0] >= limits.runs:
        raise StorageError(
            f"need fewer than {limits.runs:,} stored runs of yours "
            "(ATTENTION_RUNS); delete some first"
        )
    for taken, most, whose, variable in (
        (own[1], limits.owner_bytes, gettext_noop("your stored runs"), "ATTENTION_RUN_SPACE"),
        (total, limits.total_bytes, gettext_noop("all stored runs"), "ATTENTION_RUN_SPACE_TOTAL"),
    ):
        if taken + run.bytes > most:
            raise StorageError(
                f"need room for {run.bytes / MB:.1f} MB, but {whose} already take "
                f"{taken / MB:.0f} of {most / MB:.0f} MB ({variable}); delete some first"
            )

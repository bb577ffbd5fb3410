"""How many runs are stored, and how much room they may take."""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from dashboard.language import gettext_noop
from dashboard.storage.archive import MB
from dashboard.storage.blobs import Contents
from dashboard.storage.database import Database
from dashboard.storage.files import StorageError, make_folder, read_bounded, replace, writing
from dashboard.storage.run import Run, runs

_DAY = 86_400.0  # seconds
_UNDOUBTED = 3 * _DAY  # that may pass while no server runs, such as on a weekend
_LARGEST = 1000  # bytes of its file

_log = logging.getLogger(__name__)


class SweepClock:
    """Tells until when things have surely expired. Any number of processes may share a file.

    A machine whose clock was set wrong would delete all at once what expires. So of the time since
    the last look only as much is believed as this process has run, and three days. A later time is
    believed once servers have run for a day with it.

    Args:
        path: the file that holds what was believed last.
        newest: returns when the newest thing was made, in seconds since 1970, or None if there
            is nothing. It is believed where there is no such file yet.
        wall: seconds since 1970; by default the machine's clock.
        running: seconds that pass as they should, whatever the wall clock is set to.
    """

    def __init__(
        self, path: Path, newest: Callable[[], float | None], *,
        wall: Callable[[], float] | None = None,
        running: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._path, self._newest, self._running = path, newest, running
        self._wall = wall
        self._lock = threading.Lock()
        self._looked = running()
        self._doubts = False

    def now(self) -> float:
        """Return the time that may be relied on, in seconds since 1970.

        Raises:
            StorageError: what is asked for the newest thing cannot be read.
        """
        with self._lock:
            wall, running = (self._wall or time.time)(), self._running()
            passed, self._looked = running - self._looked, running
            believed, waited = self._read(wall)
            if wall <= believed + passed + _UNDOUBTED:
                believed, waited, self._doubts = wall, 0.0, False
            else:
                waited += passed if self._doubts else 0.0
                if not self._doubts:
                    _log.warning(
                        "the clock is %.0f days after the last look at what expires; nothing "
                        "expires until this server has run for a day", (wall - believed) / _DAY,
                    )  # fmt: skip
                self._doubts = True
                if waited >= _DAY:
                    believed, waited, self._doubts = wall, 0.0, False
            self._write(believed, waited)
            return believed

    def _read(self, wall: float) -> tuple[float, float]:
        with suppress(OSError, ValueError, TypeError, KeyError):
            held = json.loads(read_bounded(self._path, _LARGEST))
            return float(held["believed"]), float(held["waited"])
        newest = self._newest()
        return wall if newest is None else min(newest, wall), 0.0

    def _write(self, believed: float, waited: float) -> None:
        with suppress(StorageError), writing(self._path):
            make_folder(self._path.parent)
            replace(self._path, json.dumps({"believed": believed, "waited": waited}).encode())


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


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much is stored.

    Args:
        runs: of one owner.
        owner_bytes: of one owner's runs.
        total_bytes: of all runs.
        days: after which a run expires; 0 for never.
    """

    runs: int = 1000
    owner_bytes: int = 1024 * MB
    total_bytes: int = 4096 * MB
    days: float = 0.0

    def expires(self, created: float) -> float | None:
        """Return when a run expires, in seconds since 1970 as ``created``; None for never."""
        return created + self.days * _DAY if self.days else None


def check_room(connection: sa.Connection, run: Run, limits: Limits) -> None:
    """Check that there is room for one more run, within the transaction that adds it.

    Raises:
        StorageError: there is none; it names the limit and its setting.
    """
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

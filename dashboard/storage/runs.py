"""The store of runs: a record each in a database, and the page that it names in a file.

What was seen in a stored run never changes; its record may get another name and note, which then
count instead of those in the file. A file is whole and on the disk before a record names it, so
what is said to be kept survives a crash and a power loss.

Import this module where it is used: SQLAlchemy takes a while.
"""

import math
import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import sqlalchemy as sa

from dashboard.language import gettext_noop
from dashboard.storage import page_run
from dashboard.storage import run as run_rows
from dashboard.storage.blobs import Contents
from dashboard.storage.bundle import MB
from dashboard.storage.database import Database
from dashboard.storage.exercises import Exercises
from dashboard.storage.files import DIGEST, ID, BundleError, StorageError, home
from dashboard.storage.page_run import PageRun
from dashboard.storage.run import Description, PanelRecord, Provenance, Run, panels, runs
from dashboard.storage.sweep_clock import SweepClock
from dashboard.storage.uploads import named_uploads

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


class Runs:
    """All stored runs. Any number of threads, processes and servers may share one store.

    Every method raises ``StorageError`` where the store cannot be read or written, or is damaged,
    and ``KeyError`` if it takes an id and there is no such run.

    Args:
        database: a URL, see :class:`.Database`; empty for a file in the data folder.
        blobs: where files lie, see :class:`.Contents`; empty for the data folder.

    Raises:
        StorageError: the database or the files cannot be opened.
    """

    def __init__(
        self, root: Path | None = None, *, database: str = "", blobs: str = "",
        limits: Limits | None = None,
    ) -> None:  # fmt: skip
        place = root or home()
        folder = place / "runs"
        own = sa.URL.create("sqlite", database=str(folder / "runs.db"))
        self._database = Database(database or own.render_as_string())
        try:
            self._database.upgrade()
            self._contents = Contents(blobs or str(folder / "blobs"))
        except StorageError:
            self._database.close()
            raise
        self._limits = limits or Limits()
        self._sweep = RunSweep(self._database, self._contents, place / "runs.clock")
        self.exercises = Exercises(self._database)

    def close(self) -> None:
        """Close the connections to the database; the next use opens new ones."""
        self._database.close()

    def keep(self, page: PageRun, *, source: str = "", owner: str = "", parent: str = "") -> Run:
        """Add a page that this server computed; the rest is as in :class:`.Provenance`.

        BundleError: a page larger than a file of it may be. StorageError: no room.
        """
        made = Provenance(origin="kept", source=source, owner=owner, parent=parent)
        return self.add(page_run.write(page), Description.of(page), page.picture, made)

    def add(
        self, packed: bytes, description: Description, picture: bytes, made: Provenance
    ) -> Run:
        """Add a file that :func:`.page_run.write` wrote, under a new id. StorageError: no room."""
        now = time.time()
        contents = [part for part in (packed, picture) if part]
        digests = [self._contents.put(part) for part in contents]
        run = Run(
            id=secrets.token_hex(16), created=now, expires=self._limits.expires(now),
            bytes=sum(map(len, contents)), digest=digests[0],
            picture=digests[1] if picture else "", **description.model_dump(exclude={"panels"}),
            **asdict(replace(made, source=made.source[: run_rows.LONGEST_SOURCE])),
        )  # fmt: skip
        self._sweep.run_sometimes(now)
        try:
            with self._database.writing() as connection:
                check_room(connection, run, self._limits)
                run_rows.insert(connection, run, description.panels)
                # Nobody else removes files meanwhile.
                for part, digest in zip(contents, digests, strict=True):
                    if not self._contents.has(digest):
                        self._contents.put(part)
        except StorageError:
            with suppress(StorageError):
                self._sweep.remove_unused(digests)
            raise
        return run

    def all(self, owner: str | None = None) -> list[Run]:
        """Return the records of an owner's runs, or all, newest first, without damaged ones."""
        return self.scan(owner)[0]

    def scan(self, owner: str | None = None) -> tuple[list[Run], list[tuple[str, str]]]:
        """Return :meth:`all`, and the ids of damaged runs, each with what is wrong."""
        with self._database.reading() as connection:
            rows = connection.execute(run_rows.newest_first(owner)).mappings().all()
        files = {name for name, _ in self._contents.names()} if rows else set()
        return run_rows.read_runs(rows, files)

    def find(self, id: str) -> Run:
        """Return the record of a run, whoever owns it."""
        if ID.match(id):
            asked = run_rows.alive().where(runs.c.id == id)
            with self._database.reading() as connection:
                row = connection.execute(asked).mappings().first()
            if row is not None:
                return run_rows.read_run(row)
        raise KeyError(f"no run {id[:40]!a} is stored on this server")

    def panels(self, id: str) -> list[PanelRecord]:
        """Return what a run's panels asked for and what computed them; [] if there is none."""
        with self._database.reading() as connection:
            asked = sa.select(panels).where(panels.c.run == id).order_by(panels.c.number)
            rows = connection.execute(asked).mappings().all()
        return [run_rows.read_panel(row) for row in rows]

    def uploads(self) -> set[str]:
        """Return the sha256 of every upload that a run's requests or its link name."""
        with self._database.reading() as connection:
            texts = [
                text for column in (panels.c.request, runs.c.link)
                for text in connection.scalars(sa.select(column).where(column.like("%upload%")))
            ]  # fmt: skip
        return set().union(*map(named_uploads, texts))

    def packed(self, id: str) -> bytes:
        """Return the file of a run, with the name and the note that it was stored with."""
        return self._contents.read(self.find(id).digest)

    def picture(self, run: Run) -> bytes:
        """Return the picture of a run, a PNG; empty if it has none, or it is gone."""
        with suppress(StorageError):
            return self._contents.read(run.picture) if run.picture else b""
        return b""

    def open(self, id: str) -> PageRun:
        """Return a run."""
        run = self.find(id)
        try:
            page = page_run.read(self._contents.read(run.digest))
            return replace(page, name=run.name, note=run.note)
        except BundleError as error:
            raise StorageError(f"this run cannot be read: {error}") from error

    def rename(self, id: str, *, name: str, note: str, owner: str | None = None) -> None:
        """Give a run another name and note; ``owner`` asks, None is somebody who may change any.

        Raises:
            BundleError: a name or a note that no run may have.
            StorageError: it belongs to somebody else.
        """
        page_run.check_words(name, note)
        if owner not in (None, self.find(id).owner):
            raise StorageError("this run belongs to somebody else")
        changed = sa.update(runs).where(runs.c.id == id).values(name=name, note=note)
        with self._database.writing() as connection:
            connection.execute(changed)

    def copy(self, id: str, *, name: str, note: str, owner: str = "") -> Run:
        """Add a copy of a run with another name and note; the run itself stays as it is.

        BundleError: a name or a note that no run may have. StorageError: no room.
        """
        run, page = self.find(id), replace(self.open(id), name=name, note=note)
        made = Provenance(origin=run.origin, source=run.source, owner=owner, parent=id)
        return self.add(page_run.write(page), Description.of(page), page.picture, made)

    def delete(self, id: str, owner: str | None = None) -> None:
        """Delete a run, be it damaged; nothing happens if there is none. As :meth:`rename`."""
        with self._database.writing() as connection:
            columns = (runs.c.owner, runs.c.digest, runs.c.picture)
            row = connection.execute(sa.select(*columns).where(runs.c.id == id)).first()
            if row is None:
                return
            if owner is not None and row.owner != owner:
                raise StorageError("this run belongs to somebody else")
            connection.execute(sa.delete(runs).where(runs.c.id == id))
        self._sweep.remove_unused(filter(DIGEST.match, (row.digest, row.picture)))

    def sweep(self) -> None:
        """Remove expired runs, and files that no record has named for an hour."""
        self._sweep.run(time.time())

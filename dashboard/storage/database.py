"""The database of runs: SQLite in the data folder, or PostgreSQL by its URL.

What is committed survives a power loss. One process writes at a time, and others wait for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError, SQLAlchemyError

from dashboard.language import gettext_noop
from dashboard.records.beside import beside
from dashboard.storage.files import StorageError, locked, make_folder, writing

_SAID = beside(__file__, "words.toml")["database"]
_SECONDS_TO_WAIT = 30.0
_LOCK = 0x61747477  # the key of PostgreSQL's advisory lock
_LOCK_NOT_AVAILABLE = "55P03"  # PostgreSQL's code
_PREPARE = sa.text(
    "SELECT set_config('synchronous_commit', 'on', true), "
    "set_config('lock_timeout', :milliseconds, true)"
)

VERSION = "0001"  # of the tables below

metadata = sa.MetaData()

# The tables of SQLite are STRICT, and those know a few types only.
NUMBER = sa.Double().with_variant(sa.REAL(), "sqlite")
_WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

runs = sa.Table(
    "runs", metadata, sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False), sa.Column("note", sa.Text, nullable=False),
    sa.Column("link", sa.Text, nullable=False), sa.Column("origin", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False), sa.Column("created", NUMBER, nullable=False),
    sa.Column("expires", NUMBER, index=True), sa.Column("bytes", _WHOLE, nullable=False),
    sa.Column("digest", sa.Text, nullable=False, index=True),
    sa.Column("picture", sa.Text, nullable=False, index=True),
    sa.Column("owner", sa.Text, nullable=False, index=True),
    sa.Column("parent", sa.Text, nullable=False), sqlite_strict=True,
)  # fmt: skip

panels = sa.Table(
    "panels", metadata,
    sa.Column("run", sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", _WHOLE, primary_key=True), sa.Column("request", sa.Text, nullable=False),
    sa.Column("task", sa.Text, nullable=False), sa.Column("seed", _WHOLE, nullable=False),
    sa.Column("device", sa.Text, nullable=False), sa.Column("plugins", sa.Text, nullable=False),
    sa.Column("contract", sa.Text, nullable=False), sa.Column("torch", sa.Text, nullable=False),
    sa.Column("threads", _WHOLE, nullable=False), sa.Column("commit", sa.Text, nullable=False),
    sa.Column("data_sha256", sa.Text, nullable=False), sqlite_strict=True,
)  # fmt: skip

# Releases that used Alembic recognise their databases, and newer ones, by this table.
versions = sa.Table(
    "alembic_version", metadata, sa.Column("version_num", sa.String(32)),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)  # fmt: skip


class Database:
    """Transactions of one database. Any number of threads and processes may share it.

    Args:
        url: ``sqlite:////folder/file`` or ``postgresql://user:password@host/database``.
        wait: seconds to wait for another process that writes.

    Raises:
        StorageError: no such kind of database, or its driver is not installed.
    """

    def __init__(self, url: str, *, wait: float = _SECONDS_TO_WAIT) -> None:
        self._wait = wait
        try:
            self._url = sa.make_url(url)
            if self._url.drivername in ("postgres", "postgresql"):
                self._url = self._url.set(drivername="postgresql+psycopg")
            self._engine = self._create()
        except (ArgumentError, NoSuchModuleError) as error:
            raise StorageError(
                "ATTENTION_DATABASE: need sqlite:////folder/file or "
                "postgresql://user:password@host/database"
            ) from error
        except ModuleNotFoundError as error:
            raise StorageError(
                f"ATTENTION_DATABASE needs the package {error.name}: "
                "python -m pip install 'attention-workbench[postgresql]'"
            ) from error
        self._writer = self._engine.execution_options(writes=True)

    def upgrade(self) -> None:
        """Make the tables where there are none; only one process does.

        StorageError: it cannot be opened or written, or is newer than this dashboard.
        """
        with self._alone(), self._errors():
            with self._engine.connect() as connection:
                if _has_tables(connection):
                    return
            with self.writing() as connection:
                if not _has_tables(connection):  # another server may have made them meanwhile
                    metadata.create_all(connection)
                    connection.execute(sa.insert(versions).values(version_num=VERSION))

    def add_tables(self, tables: sa.MetaData) -> None:
        """Make tables beside those of runs where they are missing; older releases ignore them."""
        with self.writing() as connection:
            tables.create_all(connection)

    def close(self) -> None:
        """Close the connections that wait for their next use."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Yield a connection that sees the database at one time."""
        with self._errors(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Yield the only connection that writes; at the end all of it is done, or nothing."""
        with self._errors(), self._writer.begin() as connection:
            if not self._is_sqlite:
                connection.execute(_PREPARE, {"milliseconds": str(round(self._wait * 1000))})
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            yield connection

    @property
    def _is_sqlite(self) -> bool:
        return self._url.get_backend_name() == "sqlite"

    def _create(self) -> sa.Engine:
        if not self._is_sqlite:
            # Where the database says SQL_ASCII, psycopg would give bytes for text.
            utf8 = {"client_encoding": "utf8"}
            return sa.create_engine(self._url, pool_pre_ping=True, connect_args=utf8)
        engine = sa.create_engine(self._url, connect_args={"timeout": self._wait})
        event.listen(engine, "connect", _configure_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other process make the file of SQLite meanwhile; PostgreSQL needs no help."""
        if not self._is_sqlite or not self._url.database:
            yield
            return
        folder = Path(self._url.database).parent
        with writing(folder):
            make_folder(folder)
            with locked(folder / ".lock", self._wait) as held:
                if not held:
                    raise StorageError("another process opens the runs; try again in a minute")
                yield

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            place = f"on {self._url.host or self._url.query.get('host', 'this machine')}"
            if self._is_sqlite:
                place = Path(self._url.database or "").name  # strangers read this
            raise StorageError(_sentence(error, place, self._is_sqlite)) from error


def _has_tables(connection: sa.Connection) -> bool:
    """Whether the database has the tables of this version."""
    if not sa.inspect(connection).has_table(versions.name):
        return False
    version = connection.scalar(sa.select(versions))
    if version not in (None, VERSION):
        raise StorageError(
            f"need a database of version {VERSION} or older, got one of a newer dashboard "
            f"({version})"
        )
    return version is not None


def _configure_sqlite(connection: Any, _record: Any) -> None:
    """Leave transactions to :func:`_begin_sqlite`, and write each commit to the disk."""
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    # A transaction that reads first and then writes could fail at once where another one writes.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _sentence(error: Exception, place: str, is_file: bool) -> str:
    """What is wrong, without the statement and its values."""
    cause = getattr(error, "orig", None) or error
    reason = " ".join(str(cause).split())[:300] or type(cause).__name__
    if "database is locked" in reason or getattr(cause, "sqlstate", "") == _LOCK_NOT_AVAILABLE:
        return gettext_noop("another process writes runs; try again in a minute")
    if "disk is full" in reason or "disk full" in reason.lower():
        return gettext_noop(_SAID["full"], place=place)
    if isinstance(error, OperationalError) and not is_file:
        return gettext_noop(_SAID["unreachable"], place=place, reason=reason)
    return gettext_noop(_SAID["unusable"], place=place, reason=reason)

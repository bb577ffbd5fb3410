"""A PostgreSQL server of the tests' own, where its programs are installed."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from support.processes import alive, descendants

NEEDED = "needs PostgreSQL's initdb and pg_ctl (Debian package postgresql), and psycopg"
_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
_PATH = os.pathsep.join([*map(str, _FOLDERS), os.environ.get("PATH", "")])
# PostgreSQL does not run as root.
_USER = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.name == "posix" else {}
_SETTINGS = "-c fsync=off -c listen_addresses='' -c max_connections=40"


def _run(program: str, *arguments: str) -> None:
    as_user = _USER if os.name == "posix" and os.getuid() == 0 else {}
    command = [shutil.which(program, path=_PATH) or program, *arguments]
    subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, timeout=120, **as_user)


class Server:
    """A server in a folder of its own.

    Attributes:
        folder: of its socket.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._data = str(self.folder / "data")
        if os.getuid() == 0:
            shutil.chown(self.folder, _USER["user"], _USER["group"])
        _run("initdb", "--no-sync", "--auth=trust", "--username=postgres", "--pgdata", self._data)

    def start(self) -> None:
        """Start it, be it after :meth:`kill`."""
        log, settings = str(self.folder / "log"), f"{_SETTINGS} -k {self.folder}"
        _run("pg_ctl", "start", "--wait", "--silent", "-D", self._data, "-o", settings, "-l", log)

    def stop(self) -> None:
        """Stop it without waiting for whoever is connected."""
        _run("pg_ctl", "stop", "--wait", "--silent", "--mode=immediate", "-D", self._data)

    def kill(self) -> None:
        """End all its processes at once, whatever they are at. Needs Linux."""
        locks = [self.folder / "data" / "postmaster.pid", self.folder / ".s.PGSQL.5432.lock"]
        process = int(locks[0].read_text().split()[0])
        killed = [process, *descendants(process)]
        for each in killed:
            with suppress(ProcessLookupError):  # it ended by itself, as its parent was gone
                os.kill(each, signal.SIGKILL)
        while any(map(alive, killed)):
            time.sleep(0.01)
        for lock in locks:  # one whose process nobody waits for would seem to be held
            lock.unlink(missing_ok=True)

    def new(self, options: str = "") -> str:
        """The URL of a new, empty database, created with these options."""
        import psycopg
        from psycopg import sql

        name = f"t{secrets.token_hex(4)}"
        with psycopg.connect(f"host={self.folder} user=postgres", autocommit=True) as connection:
            create = sql.SQL("CREATE DATABASE {} {}")
            connection.execute(create.format(sql.Identifier(name), sql.SQL(options)))
        return f"postgresql://postgres@/{name}?host={self.folder}"


@contextmanager
def server() -> Iterator[Server]:
    """A running server. Where its programs are not installed, the test is skipped."""
    pytest.importorskip("psycopg", reason=NEEDED)
    if not all(shutil.which(program, path=_PATH) for program in ("initdb", "pg_ctl")):
        pytest.skip(NEEDED)
    made = Server()
    try:
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(made.folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[..., str]]:
    """``postgres(options)``: the URL of a new, empty database, created with these options."""
    with server() as running:
        yield running.new

"""A PostgreSQL server of the tests' own, where its programs are installed."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

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


@contextmanager
def server() -> Iterator[str]:
    """Start a server; yield the folder of its socket."""
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    if os.getuid() == 0:
        shutil.chown(folder, _USER["user"], _USER["group"])
    data = str(folder / "data")
    try:
        _run("initdb", "--no-sync", "--auth=trust", "--username=postgres", "--pgdata", data)
        settings = f"{_SETTINGS} -k {folder}"
        log = str(folder / "log")
        _run("pg_ctl", "start", "--wait", "--silent", "-D", data, "-o", settings, "-l", log)
        try:
            yield str(folder)
        finally:
            _run("pg_ctl", "stop", "--wait", "--silent", "--mode=immediate", "-D", data)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres():
    """``postgres()``: the URL of a new, empty database."""
    psycopg = pytest.importorskip("psycopg", reason=NEEDED)
    if not all(shutil.which(program, path=_PATH) for program in ("initdb", "pg_ctl")):
        pytest.skip(NEEDED)
    with server() as folder:

        def new() -> str:
            name = f"t{secrets.token_hex(4)}"
            with psycopg.connect(f"host={folder} user=postgres", autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
            return f"postgresql://postgres@/{name}?host={folder}"

        yield new

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from support.runs import page

from dashboard.storage.database import VERSION, Database, metadata, versions
from dashboard.storage.files import StorageError
from dashboard.storage.runs import Runs

FIRST = Path(__file__).with_name("runs_0001.sql")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'folder' / 'runs.db'}"
    return request.getfixturevalue("postgres")()


@pytest.fixture
def opened(url):
    made = []

    def new(**more):
        made.append(Database(url, **more))
        made[-1].upgrade()
        return made[-1]

    yield new
    for each in made:
        each.close()


def version(connection):
    return connection.scalar(sa.select(versions))


def declared(path):
    with closing(sqlite3.connect(path)) as file:
        rows = file.execute("SELECT type, name, sql FROM sqlite_master WHERE sql > ''")
        return {(kind, name, " ".join(sql.split())) for kind, name, sql in rows}


def test_a_database_of_the_first_version_opens_unchanged(tmp_path):
    path = tmp_path / "runs" / "runs.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as file:
        file.executescript(FIRST.read_text("utf-8"))
    before = declared(path)
    store = Runs(tmp_path)
    run = store.find("5d14f79bd5ec4f143463e699fe44e6d4")
    assert (run.name, run.note, run.expires) == ("one", "first line\nsecond line", None)
    assert [panel.seed for panel in store.panels(run.id)] == [7, 11]
    store.keep(page("another"))
    store.delete(run.id)
    assert [each.name for each in store.all()] == ["another"]
    store.close()
    assert declared(path) == before


def test_a_new_database_is_declared_as_one_of_the_first_version(tmp_path):
    with closing(sqlite3.connect(tmp_path / "first.db")) as file:
        file.executescript(FIRST.read_text("utf-8"))
    Runs(tmp_path).close()
    assert declared(tmp_path / "runs" / "runs.db") == declared(tmp_path / "first.db")


def test_every_table_of_the_database_is_one_that_is_used(runs):
    with runs._database.reading() as connection:
        assert {*sa.inspect(connection).get_table_names()} == {*metadata.tables}


def test_what_is_stored_survives_opening_again(runs, opened_runs):
    kept = runs.keep(page())
    again = opened_runs()
    again._database.upgrade()
    assert again.all() == [kept]


def test_a_database_of_a_newer_dashboard_is_refused(runs, opened_runs, monkeypatch):
    with runs._database.writing() as connection:
        connection.execute(sa.update(versions).values(version_num="9999"))
    closed, close = [], Database.close
    monkeypatch.setattr(Database, "close", lambda each: closed.append(close(each)))
    refused = r"of version 0001 or older, got one of a newer dashboard \(9999\)"
    with pytest.raises(StorageError, match=refused):
        opened_runs()
    assert len(closed) == 1


def test_every_commit_of_sqlite_is_written_to_the_disk(tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'runs.db'}")
    database.upgrade()
    with database.reading() as connection:
        found = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    assert found == ["wal", 2, 1]  # 2 is FULL
    database.close()


def test_postgresql_waits_for_the_disk_whatever_its_default(postgres):
    import psycopg

    database = Database(url := postgres())
    with psycopg.connect(url, autocommit=True) as other:
        name = other.info.dbname
        other.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    with database.writing() as connection:
        assert connection.scalar(sa.text("SHOW synchronous_commit")) == "on"
    database.close()


def test_text_stays_text_in_a_database_without_an_encoding(postgres):
    """``createdb`` makes such a one where no language is set, as on a bare server."""
    url = postgres("TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'")
    database = Database(url)
    database.upgrade()
    with database.reading() as connection:
        assert connection.scalar(sa.text("SELECT 'déjà'")) == "déjà"
    database.close()


def test_while_another_writes_one_waits_and_then_says_so(opened):
    first, second = opened(), opened(wait=0.2)
    with first.writing():
        started = pytest.raises(StorageError, match="another process writes runs; try again")
        with started, second.writing():
            pytest.fail("two write at once")
        with second.reading() as connection:
            assert version(connection) == VERSION
    with second.writing() as connection:
        assert version(connection) == VERSION


def test_who_waits_writes_once_another_has_written(opened):
    first, second, done = opened(), opened(wait=10.0), []

    def write():
        with second.writing() as connection:
            done.append(version(connection))

    writer = threading.Thread(target=write)
    with first.writing():
        writer.start()
        writer.join(0.2)
        assert not done
    writer.join(10)
    assert done == [VERSION]


def test_a_store_that_is_locked_is_said_and_is_whole_afterwards(runs, opened_runs, monkeypatch):
    kept = runs.keep(page())
    other = opened_runs()
    locked = Database(other._database._url.render_as_string(hide_password=False), wait=0.2)
    for holder in (other, other._sweep):
        monkeypatch.setattr(holder, "_database", locked)
    with runs._database.writing():
        for write in (
            lambda: other.keep(page("b", seed=3)),
            lambda: other.delete(kept.id),
            other.sweep,
        ):
            with pytest.raises(StorageError, match="another process writes"):
                write()
        assert other.all() == [kept]
    other.delete(kept.id)
    assert other.all() == []
    locked.close()


def test_what_is_not_finished_is_not_done(opened):
    database = opened()

    def fail():
        with database.writing() as connection:
            connection.execute(sa.text("DELETE FROM alembic_version"))
            raise KeyError("an error in between")

    with pytest.raises(KeyError, match="in between"):
        fail()
    with database.reading() as connection:
        assert version(connection) == VERSION


_UPGRADES = """
import sys
import threading
from dashboard.storage.database import Database
sys.stdin.readline()
Database(sys.argv[1]).upgrade()
"""


@pytest.mark.slow
def test_two_servers_that_start_at_once_upgrade_once(url, opened):
    command = [sys.executable, "-c", _UPGRADES, url]
    servers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for server in servers:
        assert server.stdin is not None
        server.stdin.write("go\n")
        server.stdin.flush()
    said = [server.communicate(timeout=120)[1] for server in servers]
    assert said == ["", "", ""]
    assert [server.returncode for server in servers] == [0, 0, 0]
    with opened().reading() as connection:
        assert connection.scalars(sa.select(versions)).all() == [VERSION]


def test_what_a_database_says_is_cut(tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'x.db'}")
    with pytest.raises(StorageError) as said, database.reading() as connection:
        connection.exec_driver_sql(f"SELECT {'x' * 9999}")
    database.close()
    assert len(str(said.value)) < 500
    assert str(tmp_path) not in str(said.value)


def test_a_database_without_room_is_said(tmp_path):
    store = Runs(tmp_path)
    kept = store.keep(page())

    def keep_many():
        for number in range(200):
            store.keep(page(f"{number}", seed=number, note="x" * 2000))

    with store._database.reading() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1")
    # The pool hands out this connection again; it may not grow the file any more.
    with pytest.raises(StorageError, match=r"no room for the database of runs runs\.db; free"):
        keep_many()
    found, damaged = store.scan()
    assert damaged == []
    assert kept in found
    store.close()


@pytest.mark.parametrize("url", ["", "nowhere", "oracle9://x", "mysql+nothing://x/y", "sqlite"])
def test_a_url_of_no_database_is_refused(url):
    with pytest.raises(StorageError, match=r"^ATTENTION_DATABASE: need sqlite:"):
        Database(url)


def test_a_driver_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StorageError, match=r"needs the package psycopg: .*\[postgresql\]"):
        Database("postgresql://db.example/x")


def test_a_server_that_does_not_answer_is_said_without_the_password():
    pytest.importorskip("psycopg")
    database = Database("postgresql://ada:secret@127.0.0.1:1/x?connect_timeout=3")
    with pytest.raises(StorageError, match=r"on 127\.0\.0\.1 cannot be reached now \(") as refused:
        database.upgrade()
    assert "secret" not in str(refused.value)


def test_a_file_that_is_no_database_is_said(tmp_path):
    (tmp_path / "runs.db").write_bytes(b"no database" * 1000)
    with pytest.raises(StorageError, match=r"runs runs\.db cannot be used: file is not a data"):
        Database(f"sqlite:///{tmp_path / 'runs.db'}").upgrade()


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "runs").write_text("a file where the folder should be")
    with pytest.raises(StorageError, match="ATTENTION_WORKBENCH_HOME"):
        Runs(tmp_path)

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from support.runs import page

from dashboard.storage import migrations
from dashboard.storage.database import Database
from dashboard.storage.files import StorageError
from dashboard.storage.run import metadata


def test_the_head_is_that_of_the_last_step():
    script = ScriptDirectory(str(Path(migrations.__file__).parent))
    assert script.get_heads() == [migrations.HEAD]


def test_the_steps_make_the_tables_that_are_used(runs):
    with runs._database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        names = {*sa.inspect(connection).get_table_names()}
    assert names == {*metadata.tables, "alembic_version"}


def test_what_is_stored_survives_opening_again(runs, opened_runs):
    kept = runs.keep(page())
    again = opened_runs()
    again._database.upgrade()
    assert again.all() == [kept]


def test_a_database_of_a_newer_dashboard_is_refused(runs, opened_runs, monkeypatch):
    with runs._database.writing() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    closed, close = [], Database.close
    monkeypatch.setattr(Database, "close", lambda each: closed.append(close(each)))
    with pytest.raises(StorageError, match=r"0001 or older, got one of a newer dashboard"):
        opened_runs()
    assert len(closed) == 1

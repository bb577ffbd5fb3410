"""Steps from one version of the database to the next, a file each in ``versions``.

A new step is a new file there, whose ``revision`` becomes :data:`HEAD`. The command ``alembic``
is not used: the server upgrades its database when it opens it.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from dashboard.storage.files import StorageError

HEAD = "0001"  # the last revision, known without importing alembic


def is_current(connection: sa.Connection) -> bool:
    """Whether the database has the newest version."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return False
    versions = connection.scalars(sa.text("SELECT version_num FROM alembic_version"))
    return versions.all() == [HEAD]


def upgrade(connection: sa.Connection) -> None:
    """Bring the database to the newest version within the transaction of the connection.

    Raises:
        StorageError: a newer version of this dashboard wrote the database.
    """
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    script = ScriptDirectory(str(Path(__file__).parent))
    steps = EnvironmentContext(
        Config(), script, fn=lambda revision, _: script._upgrade_revs("head", revision)
    )
    try:
        with steps:
            steps.configure(connection=connection)
            steps.run_migrations()
    except CommandError as error:
        raise StorageError(
            f"need a database of version {HEAD} or older, got one of a newer dashboard ({error})"
        ) from error

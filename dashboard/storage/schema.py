"""The tables in which runs are recorded; :mod:`dashboard.storage.migrations` makes them."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

# The tables of SQLite are STRICT, and those know a few types only.
NUMBER = sa.Double().with_variant(sa.REAL(), "sqlite")
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("link", sa.Text, nullable=False),
    sa.Column("origin", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("created", NUMBER, nullable=False),
    sa.Column("expires", NUMBER, index=True),
    sa.Column("bytes", WHOLE, nullable=False),
    sa.Column("digest", sa.Text, nullable=False, index=True),
    sa.Column("picture", sa.Text, nullable=False, index=True),
    sa.Column("owner", sa.Text, nullable=False, index=True),
    sa.Column("parent", sa.Text, nullable=False),
)

panels = sa.Table(
    "panels",
    metadata,
    sa.Column("run", sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", WHOLE, primary_key=True),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("task", sa.Text, nullable=False),
    sa.Column("seed", WHOLE, nullable=False),
    sa.Column("device", sa.Text, nullable=False),
    sa.Column("plugins", sa.Text, nullable=False),
    sa.Column("contract", sa.Text, nullable=False),
    sa.Column("torch", sa.Text, nullable=False),
    sa.Column("threads", WHOLE, nullable=False),
    sa.Column("commit", sa.Text, nullable=False),
    sa.Column("data_sha256", sa.Text, nullable=False),
)

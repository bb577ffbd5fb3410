"""Make the tables of runs and of their panels."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NUMBER = sa.Double().with_variant(sa.REAL(), "sqlite")
_WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "runs",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("link", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("created", _NUMBER, nullable=False),
        sa.Column("expires", _NUMBER),
        sa.Column("bytes", _WHOLE, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("picture", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("parent", sa.Text, nullable=False),
        sqlite_strict=True,
    )
    for column in ("expires", "digest", "picture", "owner"):
        op.create_index(f"ix_runs_{column}", "runs", [column])
    op.create_table(
        "panels",
        sa.Column("run", sa.Text, sa.ForeignKey("runs.id", ondelete="CASCADE")),
        sa.Column("number", _WHOLE),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("seed", _WHOLE, nullable=False),
        sa.Column("device", sa.Text, nullable=False),
        sa.Column("plugins", sa.Text, nullable=False),
        sa.Column("contract", sa.Text, nullable=False),
        sa.Column("torch", sa.Text, nullable=False),
        sa.Column("threads", _WHOLE, nullable=False),
        sa.Column("commit", sa.Text, nullable=False),
        sa.Column("data_sha256", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run", "number"),
        sqlite_strict=True,
    )

"""How many runs are stored, and how much room they may take."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from dashboard.language import gettext_noop
from dashboard.storage.archive import MB
from dashboard.storage.errors import StorageError
from dashboard.storage.run import Run
from dashboard.storage.schema import runs

_DAY = 86_400.0  # seconds


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

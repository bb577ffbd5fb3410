"""Between the rows of the database and the records of runs."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError

from dashboard.records.invalid import reason
from dashboard.storage.errors import StorageError
from dashboard.storage.run import PanelRecord, Run
from dashboard.storage.schema import panels, runs


def alive() -> sa.Select[Any]:
    """Return the query for all runs that have not expired."""
    return sa.select(runs).where(runs.c.expires.is_(None) | (runs.c.expires > time.time()))


def newest_first(owner: str | None) -> sa.Select[Any]:
    """Return the query for the runs of an owner, or of everybody."""
    asked = alive().order_by(runs.c.created.desc(), runs.c.id)
    return asked if owner is None else asked.where(runs.c.owner == owner)


def panels_of(run: str) -> sa.Select[Any]:
    """Return the query for the panels of a run, in their order."""
    return sa.select(panels).where(panels.c.run == run).order_by(panels.c.number)


def insert(connection: sa.Connection, run: Run, described: Sequence[PanelRecord]) -> None:
    """Add the record of a run, and those of its panels."""
    connection.execute(sa.insert(runs), run.model_dump())
    rows = [_panel_row(run.id, number, each) for number, each in enumerate(described)]
    if rows:
        connection.execute(sa.insert(panels), rows)


def _panel_row(run: str, number: int, panel: PanelRecord) -> dict[str, Any]:
    held = panel.model_dump()
    return {**held, "run": run, "number": number, "plugins": json.dumps(held["plugins"])}


def read_runs(
    rows: Iterable[sa.RowMapping], files: Collection[str]
) -> tuple[list[Run], list[tuple[str, str]]]:
    """Return the records in rows, and the ids of damaged runs, each with what is wrong.

    Args:
        rows: of runs.
        files: the names of all files that there are.
    """
    found: list[Run] = []
    damaged: list[tuple[str, str]] = []
    for row in rows:
        try:
            run = read_run(row)
            if run.digest not in files:
                raise StorageError("its file is missing")
            found.append(run)
        except StorageError as error:
            damaged.append((str(row["id"]), str(error)))
    return found, damaged


def read_run(row: sa.RowMapping) -> Run:
    """Return the record in a row.

    Raises:
        StorageError: it is damaged.
    """
    try:
        return Run.model_validate(dict(row))
    except ValidationError as error:
        raise StorageError(f"its record is damaged: {reason(error)}") from error


def read_panel(row: sa.RowMapping) -> PanelRecord:
    """Return the record of a panel in a row.

    Raises:
        StorageError: it is damaged.
    """
    held = {name: value for name, value in row.items() if name not in ("run", "number")}
    try:
        return PanelRecord.model_validate({**held, "plugins": json.loads(held["plugins"])})
    except ValidationError as error:
        raise StorageError(f"the record of a panel is damaged: {reason(error)}") from error
    except (ValueError, TypeError) as error:
        raise StorageError(f"the record of a panel is damaged: {error}") from error

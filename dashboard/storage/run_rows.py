"""Between the rows of the database and the records of runs."""

from __future__ import annotations

import json
import time
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError

from dashboard.storage.errors import StorageError
from dashboard.storage.run import PanelRecord, Run
from dashboard.storage.schema import runs


def alive() -> sa.Select[Any]:
    """Return the query for all runs that have not expired."""
    return sa.select(runs).where(runs.c.expires.is_(None) | (runs.c.expires > time.time()))


def panel_row(run: str, number: int, panel: PanelRecord) -> dict[str, Any]:
    """Return the row of a panel of the run with that id."""
    held = panel.model_dump()
    return {**held, "run": run, "number": number, "plugins": json.dumps(held["plugins"])}


def read_run(row: sa.RowMapping) -> Run:
    """Return the record in a row.

    Raises:
        StorageError: it is damaged.
    """
    try:
        return Run.model_validate(dict(row))
    except ValidationError as error:
        raise StorageError(f"its record is damaged: {_first(error)}") from error


def read_panel(row: sa.RowMapping) -> PanelRecord:
    """Return the record of a panel in a row.

    Raises:
        StorageError: it is damaged.
    """
    held = {name: value for name, value in row.items() if name not in ("run", "number")}
    try:
        return PanelRecord.model_validate({**held, "plugins": json.loads(held["plugins"])})
    except ValidationError as error:
        raise StorageError(f"the record of a panel is damaged: {_first(error)}") from error
    except (ValueError, TypeError) as error:
        raise StorageError(f"the record of a panel is damaged: {error}") from error


def _first(error: ValidationError) -> str:
    fault = error.errors()[0]
    return f"{fault['loc'][0] if fault['loc'] else 'record'}: {fault['msg'].lower()}"

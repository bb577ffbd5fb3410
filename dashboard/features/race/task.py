"""Reads a race in a worker: the standings of a task, a matrix of all tasks, or an upload."""

from __future__ import annotations

from dashboard.features.race.task_import import taken_in
from dashboard.features.race.task_matrix import matrix
from dashboard.features.race.task_standings import of_task
from dashboard.features.race.view import IMPORT, MATRIX, STANDINGS
from dashboard.jobs.context import Context
from dashboard.records.request import Request
from dashboard.records.result import Result

_SHOWN = {STANDINGS: of_task, MATRIX: matrix, IMPORT: taken_in}


def perform(request: Request, context: Context) -> Result:
    """Read the race that ``request.data`` names, for what the option ``show`` says.

    Returns:
        See :func:`of_task`, :func:`matrix` and :func:`taken_in`.

    Raises:
        ValueError: no such race, an option that is missing, or a data set that is not installed.
    """
    shown = str(dict(request.options).get("show", ""))
    if shown not in _SHOWN:
        raise ValueError(f"need show to be one of {', '.join(_SHOWN)}, got {shown[:60]!r}")
    return _SHOWN[shown](request, context)

"""What several seeds say together about each scoring; and its tuning on other seeds."""

from __future__ import annotations

from dashboard.features.experiment.task_summary import summarise
from dashboard.features.experiment.task_tuning import tune
from dashboard.jobs.context import Context
from dashboard.records.request import Request
from dashboard.records.result import Result


def perform(request: Request, context: Context) -> Result:
    """Tune the scoring that a request names, see :func:`tune`; else :func:`summarise` runs."""
    return tune(request, context) if request.scoring else summarise(request)

"""All positions of a slider at once: the results of many requests that differ in a value."""

import pyarrow as pa

from dashboard.jobs import tasks
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result
from dashboard.records.sweep import SWEEP, asked


class _Quiet(Context):
    """A computation within another: it may be stopped, reports nothing, and nobody times it."""

    timed = False

    def __init__(self, context: Context) -> None:
        self.stopped = context.stopped


def perform(request: Request, context: Context) -> Result:
    """Compute what :func:`dashboard.records.sweep.sweep` was given.

    Returns:
        The table ``results``: a row a request, its result's Arrow stream in the column ``result``.

    Raises:
        ValueError: it is no list of requests, or one of them is refused.
        Cancelled: the job was stopped.
    """
    requests, found, quiet = asked(request), [], _Quiet(context)
    for number, each in enumerate(requests, start=1):
        if context.stopped():
            raise tasks.Cancelled
        if each.task in (SWEEP, tasks.CATALOGUE):
            raise ValueError(gettext_noop(
                "need a task whose results follow a slider, got {task}", task=each.task
            ))  # fmt: skip
        found.append(tasks.perform(each, quiet).to_bytes())
        note = gettext_noop("{number} of {count} positions", number=number, count=len(requests))
        context.report(number / len(requests), note)
    return Result(tables={"results": pa.table({"result": pa.array(found, pa.large_binary())})})

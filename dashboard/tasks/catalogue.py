"""What is installed here: the plugins, what they offer, and the devices to compute on."""

from __future__ import annotations

from attention_plugins.catalogue import catalogue
from attention_plugins.registry import installed
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.tasks.context import Context


def perform(request: Request, context: Context) -> Result:
    """The catalogue as facts. It is the worker's own, so no other worker may answer with it."""
    return Result(facts={**catalogue(installed()), "cacheable": False})

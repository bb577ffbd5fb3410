"""Fixtures of the tests of storage; see :mod:`support`."""

from support.postgres import postgres
from support.runs import opened_runs, places, runs

__all__ = ["opened_runs", "places", "postgres", "runs"]

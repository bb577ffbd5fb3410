"""Fixtures of all tests of the dashboard; see :mod:`support`."""

from support.catalogue import catalogue, distributions_are_scanned_once, facts
from support.charts import charts_are_validated_whole, painted, rows, survives
from support.pages import backend, chart_rows, opened
from support.spoken import chinese

__all__ = [
    "backend",
    "catalogue",
    "chart_rows",
    "charts_are_validated_whole",
    "chinese",
    "distributions_are_scanned_once",
    "facts",
    "opened",
    "painted",
    "rows",
    "survives",
]

"""What is said of a contestant that was compared, and in which colour."""

from __future__ import annotations

from dashboard.charts import theme
from dashboard.language import gettext, gettext_noop

BETTER, WORSE = gettext_noop("better"), gettext_noop("worse")
NOTHING, FEW = gettext_noop("no difference found"), gettext_noop("too few seeds")
REFERENCE, FAILED = gettext_noop("reference"), gettext_noop("could not run")
FLOOR = gettext_noop("floor")  # of what is no contestant
# Of a cell of the matrix.
UNCOMPARED, WAITING = gettext_noop("no reference"), gettext_noop("not yet run")

COLOURS = {
    BETTER: theme.PANEL_COLOURS["a"],
    WORSE: theme.PANEL_COLOURS["b"],
    NOTHING: theme.QUIET,
    FEW: theme.QUIET,
}


def said(verdict: str) -> str:
    """A verdict in the visitor's language."""
    return gettext(verdict)

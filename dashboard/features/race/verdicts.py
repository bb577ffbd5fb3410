"""What is said of a contestant that was compared, and in which colour."""

from __future__ import annotations

from dashboard.charts import theme

BETTER, WORSE, NOTHING = "better", "worse", "no difference found"
REFERENCE, FEW, FAILED = "reference", "too few seeds", "could not run"
UNCOMPARED, WAITING = "no reference", "not yet run"  # of a cell of the matrix

COLOURS = {
    BETTER: theme.PANEL_COLOURS["a"],
    WORSE: theme.PANEL_COLOURS["b"],
    NOTHING: theme.QUIET,
    FEW: theme.QUIET,
}

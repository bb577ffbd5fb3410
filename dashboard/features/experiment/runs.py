"""The runs of an experiment one by one: those that failed, and all of them as a file."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from dashboard.charts.tidy import table_csv
from dashboard.features.experiment.cells import SAMPLE_ERROR, SAMPLE_ROWS, Cell
from dashboard.features.experiment.view import Experiment
from dashboard.language import gettext, translated
from dashboard.records.catalogue import Catalogue
from dashboard.records.metric import Metric
from dashboard.ui import shown
from dashboard.ui.titles import scoring_title
from dashboard.ui.widgets import plain

_FAILURES_SHOWN = 5
_TEXTS = {
    "task",
    "model",
    "data",
    "scoring",
    "normaliser",
    "state",
    "memory_of",
    "training",
    "note",
}
_WHOLE = {"seed", "weights", SAMPLE_ROWS}


def failures(cells: Sequence[Cell], catalogue: Catalogue) -> None:
    """What went wrong with which run, and whose fault it was; the others go on."""
    broken = [cell for cell in cells if cell.state == "failed"]
    if not broken:
        return
    with shown.container(border=True, key="experiment-failures", gap="xsmall"):
        words = gettext("{failed} of {count} runs failed", failed=len(broken), count=len(cells))
        shown.markdown(f":material/error: **{words}**")
        for cell in broken[:_FAILURES_SHOWN]:
            words = gettext(
                "{scoring}, seed {seed}: {problem}",
                scoring=scoring_title(cell.scoring, catalogue), seed=cell.seed,
                problem=translated(cell.note),
            )  # fmt: skip
            shown.text(words)
            if culprit := cell.facts.get("culprit"):
                words = gettext("It happened in {culprit}.", culprit=translated(culprit))
                shown.caption(plain(words))
        if len(broken) > _FAILURES_SHOWN:
            more = len(broken) - _FAILURES_SHOWN
            shown.caption(gettext("and {count} more, all in the file of every run", count=more))


def file(view: Experiment, cells: Sequence[Cell], metrics: Sequence[Metric]) -> bytes:
    """Every run as a row of a CSV file."""
    estimated = any(SAMPLE_ROWS in cell.figures for cell in cells)
    figures = [one.name for one in metrics] + [SAMPLE_ROWS, SAMPLE_ERROR] * estimated
    rows = [
        {
            "task": view.task, "model": view.model, "data": view.data, "scoring": cell.scoring,
            "normaliser": view.normaliser,
            "seed": cell.seed, "state": cell.state,
            **{name: _number(cell.figures.get(name)) for name in figures},
            "weights": cell.weights, "memory_of": cell.facts.get("memory_of"),
            "training": cell.training.id if cell.training else None,
            "note": cell.note if cell.state == "failed" else None,
        }
        for cell in cells
    ]  # fmt: skip
    schema = pa.schema([(name, _kind(name)) for name in rows[0]])
    return table_csv(pa.Table.from_pylist(rows, schema=schema))


def _kind(name: str) -> pa.DataType:
    if name in _TEXTS:
        return pa.string()
    return pa.int64() if name in _WHOLE else pa.float64()


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)

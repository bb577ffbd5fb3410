"""A task of a race beside races at other budgets: which conclusions hold at all of them."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from attention_plugins.contract import ContractError
from attention_plugins.race.budgets import AtBudgets, at_budgets
from attention_plugins.race.records import Budget, Outcome
from attention_plugins.race.store import Race
from dashboard.features.race.task_import import entrant, known, reference_of
from dashboard.records.request import Request
from dashboard.storage.races import folder_of

_TEXT, _REAL, _WHOLE = pa.string(), pa.float64(), pa.int64()
_SCHEMA = pa.schema(
    [
        ("key", _TEXT), ("steps", _WHOLE), ("quality", _REAL), ("quality_low", _REAL),
        ("quality_high", _REAL), ("rank", _WHOLE), ("verdict", _TEXT), ("grown", _TEXT),
    ]
)  # fmt: skip


def beside_of(
    request: Request, budget: Budget, own: Sequence[Outcome], higher_is_better: bool
) -> AtBudgets | None:
    """The task at the budgets of the races that the option ``beside`` names; None without one."""
    options = dict(request.options)
    task, models = str(options["task"]), str(options["models"]).split(",")
    found = [(budget, own)]
    for name in filter(None, str(options.get("beside", "")).split(",")):
        with suppress(ContractError, KeyError):  # what is wrong there costs that race
            race = Race.open(folder_of(name))
            found.append((race.plan.tasks[task], race.outcomes()))
    with suppress(ContractError):  # a contestant at two rates
        return at_budgets(
            found, task, reference=reference_of(request, request.model),
            higher_is_better=higher_is_better, models=models,
        )  # fmt: skip
    return None


def rows_of(found: AtBudgets | None) -> pa.Table:
    """A row for each contestant and budget, by ``steps``, then by rank and mean."""
    rows: list[dict[str, Any]] = []
    for who, placings in found.rows.items() if found else ():
        grown = found.grown.get(who) if found else None
        for steps, one in zip(found.steps if found else (), placings, strict=True):
            mean, low, high, _ = map(known, one.quality)
            rows.append(
                {
                    "key": entrant(who).key, "steps": steps, "quality": mean, "quality_low": low,
                    "quality_high": high, "rank": one.rank, "verdict": one.verdict,
                    "grown": grown and grown.verdict,
                }
            )  # fmt: skip
    return pa.Table.from_pylist(rows, _SCHEMA)

"""A task of a race beside races at other budgets: which conclusions hold at all of them."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from attention_plugins.contract import ContractError
from attention_plugins.race.budgets import AtBudgets, at_budgets
from attention_plugins.race.records import Budget, Outcome
from attention_plugins.race.store import Race
from dashboard.features.race.task_import import entrant, known, reference_of
from dashboard.records.request import Request
from dashboard.storage.races import folder_of


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


def joined_of(request: Request, race: Race) -> tuple[list[Outcome], dict[str, str]]:
    """What others did on the task in the races that the option ``joined`` names.

    Equal budgets and seeds are equal data and initial weights, so their outcomes are compared as
    those of this race. Who is in several races counts in the first; of which race each is, by key.
    """
    options, known = dict(request.options), {*race.plan.contestants}
    found, whose = list[Outcome](), dict[str, str]()
    for name in filter(None, str(options.get("joined", "")).split(",")):
        with suppress(ContractError):  # what is wrong there costs that race
            outcomes = Race.open(folder_of(name)).outcomes()
            new = [one for one in outcomes if one.trial.task == options["task"]
                   and one.trial.contestant not in known]  # fmt: skip
            known |= {one.trial.contestant for one in new}
            whose |= {entrant(one.trial.contestant).key: name for one in new}
            found += new
    return found, whose


def rows_of(found: AtBudgets | None) -> list[dict[str, Any]]:
    """A row for each contestant and budget, in the order of their ``steps``."""
    if found is None:
        return []
    ends = ("quality", "quality_low", "quality_high")
    return [
        {
            "key": entrant(who).key, "steps": steps, "rank": one.rank, "verdict": one.verdict,
            **dict(zip(ends, map(known, one.quality[:3]), strict=True)),
            "grown": found.grown[who].verdict if who in found.grown else None,
        }
        for who, placings in found.rows.items()
        for steps, one in zip(found.steps, placings, strict=True)
    ]  # fmt: skip

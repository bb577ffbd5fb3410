"""The way from a contestant on a task to the page on which it can be looked at and trained.

A link says what would be computed. What costs much waits for a button there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dashboard.features.race.seen import Row, Seen, entrant_of
from dashboard.language import gettext
from dashboard.links import fits
from dashboard.links.attending import learns
from dashboard.records.attending import SOFTMAX, Attending
from dashboard.records.request import is_formula
from dashboard.storage.races import Entrant

_OWN = "model."  # before a model's own parameters, in a link to the page Train


class Opening(NamedTuple):
    """A link to another page: its feature, its parameters, what it says."""

    page: str
    query: Mapping[str, str]
    label: str


def link_of(seen: Seen, row: Row) -> Opening | None:
    """The link that opens a contestant's run; None where no page here can show it."""
    task, entrant = seen.catalogue.datasets.get(seen.choices.task), entrant_of(row)
    model = seen.catalogue.models.get(entrant.model)
    if task is None or model is None or task.task != model.task:
        return None
    if task.task == fits.TASK:
        return _regression(seen, row, entrant)
    return _training(seen, row, entrant)


def _regression(seen: Seen, row: Row, entrant: Entrant) -> Opening:
    budget = seen.choices.race.budgets[seen.choices.task]
    reference = seen.choices.reference
    panels = {"a": (entrant, row["rate"])}
    if reference != entrant:
        panels["b"] = (reference, seen.by_key.get(reference.key, row)["rate"])
    query: dict[str, str] = {}
    for letter, (one, rate) in panels.items():
        query |= _panel(seen, letter, one, rate, budget)
    query |= {"data": seen.choices.task, "points": str(budget["examples"])}
    if len(panels) > 1:
        label = gettext("Open both on Kernel regression")
    else:
        label = gettext("Open it on Kernel regression")
    return Opening("regression", query, label)


def _panel(
    seen: Seen, letter: str, one: Entrant, rate: float | None, budget: Mapping[str, Any]
) -> dict[str, str]:
    name = one.scoring if one.model == fits.MODEL else f"{one.model}.{one.scoring}"
    normaliser = one.normaliser or SOFTMAX
    query = {letter: name}
    if normaliser != SOFTMAX:
        query[f"{letter}.normaliser"] = normaliser
    if is_formula(one.scoring) or learns(
        Attending(scoring=one.scoring, normaliser=normaliser), seen.catalogue
    ):
        query |= {f"{letter}.learn": "1", f"{letter}.epochs": str(budget["epochs"])}
        query |= {f"{letter}.optimiser": "adam"}
        if rate is not None:
            query[f"{letter}.lr"] = f"{rate:g}"
    return query


def _training(seen: Seen, row: Row, entrant: Entrant) -> Opening:
    budget = seen.choices.race.budgets[seen.choices.task]
    query = {
        "model": entrant.model, "scorings": entrant.scoring, "data": seen.choices.task,
        "epochs": str(budget["epochs"]), "batch_size": str(budget["batch_size"]),
    }  # fmt: skip
    if row["rate"] is not None:
        query["learning_rate"] = f"{row['rate']:g}"
    if entrant.normaliser:
        query["normaliser"] = entrant.normaliser
    sizes = seen.result.facts["sizes"].get(entrant.model, {})
    query |= {f"{_OWN}{name}": f"{value:g}" for name, value in sizes.items()}
    return Opening("training", query, gettext("Open it on Train, where a button trains it"))

"""What the tasks of the page *Race* share: the race of a request, and how a task is measured."""

from __future__ import annotations

import math
from typing import NamedTuple

from attention_plugins.contract import DatasetSpec
from attention_plugins.race.records import Contestant
from attention_plugins.race.store import Race
from attention_plugins.registry import installed
from dashboard.language import gettext_noop
from dashboard.records.request import Request
from dashboard.storage.races import Entrant, folder_of


class Measured(NamedTuple):
    """How a task is measured.

    Attributes:
        metric, unit: of quality.
        validation: what a rate is chosen by.
        loss: what is learned by, with its unit.
        size: what grows in the extrapolation curve.
        trained: the smallest and the largest size that was learned; None where all were.
    """

    metric: str
    unit: str
    higher_is_better: bool
    validation: str
    loss: str
    size: str
    trained: tuple[float, float] | None


def race_of(request: Request) -> Race:
    """The race that a request names.

    Raises:
        ValueError: no name of a race, or there is none.
    """
    folder = folder_of(request.data)
    if not folder.is_dir():
        raise ValueError(f"there is no race {request.data!r} on this server")
    return Race.open(folder)


def measured(task: str, examples: int) -> Measured:
    """How a task is measured.

    Args:
        task: a data set.
        examples: that are learned.

    Raises:
        ContractError: a data set or its metric is not installed.
    """
    registry = installed()
    spec = registry.dataset(task)
    if spec.task == "regression":
        return Measured(
            gettext_noop("Mean squared error to the truth"), "", False,
            gettext_noop("The leave-one-out error of the training points."),
            gettext_noop("leave-one-out error"), gettext_noop("training points"),
            (examples, examples),
        )  # fmt: skip
    metric = registry.metric(spec.metric)
    return Measured(
        metric.title, metric.unit, metric.higher_is_better,
        gettext_noop(
            "{metric} on a part of the data that is never reported.", metric=metric.title
        ),
        gettext_noop("loss, nats per token"), gettext_noop("words in a sequence"),
        _lengths(spec),
    )  # fmt: skip


def entrant(contestant: Contestant) -> Entrant:
    """A contestant as the page knows it."""
    return Entrant(contestant.model, contestant.scoring, contestant.normaliser)


def known(value: float | None) -> float | None:
    """The number, None where it is none."""
    return None if value is None or not math.isfinite(value) else float(value)


def _lengths(spec: DatasetSpec) -> tuple[float, float] | None:
    usual = {parameter.name: parameter.default for parameter in spec.parameters}
    if not {"shortest", "longest"} <= usual.keys():
        return None
    return float(usual["shortest"]), float(usual["longest"])

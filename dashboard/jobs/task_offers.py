"""What the catalogue says of a task, as ``offer.toml`` beside its modules has it."""

from pathlib import Path
from typing import NamedTuple

from attention_plugins.contract import Parameter
from attention_plugins.contract.parameters import parameters_of
from dashboard.records.beside import beside
from dashboard.records.parameter import Metric


class Offer(NamedTuple):
    """The options that a task reads, and what it measures of its results."""

    OPTIONS: tuple[Parameter, ...]
    METRICS: tuple[Metric, ...]


def is_offered(module: str) -> bool:
    """Whether an offer stands beside the file of a module."""
    return Path(module).with_name("offer.toml").exists()


def offered(module: str) -> Offer:
    """The offer that stands beside the file of a module; its tables are named as their records.

    ContractError: an option that is no parameter.
    """
    held = beside(module, "offer.toml")
    return Offer(
        parameters_of(held.get("options", {})),
        tuple(Metric(name=name, **facts) for name, facts in held.get("metrics", {}).items()),
    )

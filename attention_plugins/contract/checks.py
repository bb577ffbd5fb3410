"""What every record of the contract is checked for when it is made."""

from __future__ import annotations

from typing import Any, Literal

from attention_plugins.contract.parameters import (
    ContractError,
    Parameter,
    check_name,
    check_texts,
)

Task = Literal["regression", "translation", "encoding"]
TASKS: tuple[Task, ...] = ("regression", "translation", "encoding")
_WITHOUT_DATA = {"encoding"}  # a user brings the sequence


def check_record(record: Any, kind: str, make: str = "build") -> None:
    """Raise :class:`ContractError` unless all fields are what their names say.

    Args:
        record: of a scoring, normaliser, model, data set, tokeniser or metric.
        kind: what messages call it.
        make: the field that holds the callable.
    """
    check_name(kind, record.name)
    check_texts(record, kind, ("title", "formula", "reference", "description"))
    if not callable(getattr(record, make)):
        raise ContractError(f"{kind} {record.name!r}: {make} must be callable")
    if not isinstance(getattr(record, "same_size", False), bool):
        raise ContractError(f"{kind} {record.name!r}: same_size is True or False")
    parameters = getattr(record, "parameters", ())
    if not isinstance(parameters, tuple) or not all(
        isinstance(parameter, Parameter) for parameter in parameters
    ):
        raise ContractError(f"{kind} {record.name!r}: parameters is a tuple of Parameter")
    meant = getattr(record, "tasks", TASKS)
    if not isinstance(meant, tuple) or not meant or not set(meant) <= set(TASKS):
        raise ContractError(
            f"{kind} {record.name!r}: need tasks to be some of {', '.join(TASKS)}, got {meant!r}"
        )
    tasks = [task for task in TASKS if kind == "model" or task not in _WITHOUT_DATA]
    if getattr(record, "task", tasks[0]) not in tasks:
        raise ContractError(
            f"{kind} {record.name!r}: need task to be one of {', '.join(tasks)}, "
            f"got {record.task!r}"
        )
    names = [parameter.name for parameter in parameters]
    if len(set(names)) != len(names):
        raise ContractError(f"{kind} {record.name!r} has two parameters of one name: {names}")


def check_sentences(record: Any, kind: str) -> None:
    """Raise :class:`ContractError` unless ``examples`` is a tuple of sentences."""
    given = record.examples
    if not isinstance(given, tuple) or not all(_is_text(sentence) for sentence in given):
        raise ContractError(
            f"{kind} {record.name!r}: examples is a tuple of sentences, got {given!r:.60}"
        )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())

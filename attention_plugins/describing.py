"""Records and parameters in types that JSON has, as the catalogue shows them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from attention_plugins.contract import CheckpointSpec, Parameter

_LARGEST_SUMMARY = 1_000_000  # bytes of a card without vocabularies


def fields(*names: str) -> Callable[[Any], dict[str, Any]]:
    """A function that describes a record by these fields and by its parameters, if it has any."""

    def described(spec: Any) -> dict[str, Any]:
        shown = {name: _plain(getattr(spec, name)) for name in names}
        parameters = getattr(spec, "parameters", ())
        return {**shown, "parameters": [describe(parameter) for parameter in parameters]}

    return described


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def describe(parameter: Parameter) -> dict[str, Any]:
    """A parameter's fields and its type's name, with the step that its widget takes."""
    described = asdict(parameter)
    if parameter.numeric and parameter.step is None:
        low, high = parameter.bounds
        described["step"] = 1 if isinstance(parameter.default, int) else (high - low) / 100
    return {
        **described,
        "type": type(parameter.default).__name__,
        "choices": list(parameter.choices),
    }


def plain_json(record: Any) -> bytes:
    """A record as JSON.

    Raises:
        ValueError: NaN, or half a character, which Python reads in JSON, but cannot pass on.
        TypeError: a value that JSON does not have.
    """
    return json.dumps(record, allow_nan=False, ensure_ascii=False).encode()


def card(spec: CheckpointSpec) -> dict[str, Any]:
    """A checkpoint's card without the vocabularies, or why it cannot be used."""
    from attention_plugins.opening import read_checkpoint  # which itself implements a hook

    try:
        found = read_checkpoint(spec.path).summary
        if len(plain_json(found)) > _LARGEST_SUMMARY:
            raise ValueError(f"more than {_LARGEST_SUMMARY:,} bytes besides its vocabularies")
    except ValueError as error:
        return {"name": spec.name, "card": None, "fault": f"{spec.path}: {error}"}
    return {"name": spec.name, "card": found, "fault": ""}

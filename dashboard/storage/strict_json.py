"""Reads JSON of unknown origin: bounded, without anything that other readers would reject."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from dashboard.language import gettext_noop

MAX_DEPTH = 64
MAX_NODES = 5_000_000


def parse_object(data: bytes, name: str) -> dict[str, Any]:
    """Read a JSON object in UTF-8.

    Args:
        data: the file's content.
        name: of the file, for the error.

    Raises:
        ValueError: not such an object; nested more than :data:`MAX_DEPTH` deep; NaN or infinite
            numbers; a name twice in one object; text that is not Unicode.
    """
    try:
        held = json.loads(data, parse_constant=_refuse_constant, object_pairs_hook=_unique)
        for value in _leaves(held):
            if isinstance(value, str):
                value.encode()
            elif isinstance(value, float) and not math.isfinite(value):
                raise ValueError("a number is too large")
    except (ValueError, RecursionError) as error:
        reason = str(error)[:200] or gettext_noop("nested too deep")
        raise ValueError(f"{name} is not the JSON it should be: {reason}") from error
    if not isinstance(held, dict):
        raise ValueError(f"{name} is not the JSON it should be: need an object")
    return held


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return held


def _leaves(held: Any) -> Iterator[Any]:
    """Yield every name and every plain value, unless there are too many, or nested too deep."""
    stack, nodes = [(held, 1)], 0
    while stack:
        value, depth = stack.pop()
        nodes += 1
        if depth > MAX_DEPTH or nodes > MAX_NODES:
            raise ValueError(
                f"it is nested more than {MAX_DEPTH} deep, or has more than {MAX_NODES:,} values"
            )
        if isinstance(value, dict):
            yield from value
            stack.extend((inner, depth + 1) for inner in value.values())
        elif isinstance(value, list):
            stack.extend((inner, depth + 1) for inner in value)
        else:
            yield value

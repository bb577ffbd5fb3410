"""Prices at rest: a file of a model, its budget and where it comes from, then an outcome a line.

It is written line by line, so that what was stopped can be gone on with.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from attention_plugins.contract import ContractError
from attention_plugins.home import SHIPPED, read_bounded, write_whole
from attention_plugins.price.records import Budget, Outcome
from attention_plugins.price.table import Prices

FORMAT = 1
SHIPPED_PRICES = SHIPPED / "swaps"
_MOST_BYTES = 64 << 20


def read(path: Path) -> Prices:
    """Read a file of prices; ContractError where it is none. A last line may be cut off."""
    try:
        lines = read_bounded(path, _MOST_BYTES).decode("utf-8", "replace").split("\n")
        head = json.loads(lines[0])
        if head.get("format") != FORMAT:
            raise ValueError(f"format {head.get('format')!r}; need {FORMAT}")
        rates = tuple(map(float, head["budget"]["rates"]))
        found = Prices(
            model=str(head["model"]), texts=str(head["texts"]),
            budget=Budget(**{**head["budget"], "rates": rates}),
            facts={str(name): str(text) for name, text in head["facts"].items()},
        )  # fmt: skip
        outcomes = [Outcome.from_json(json.loads(line)) for line in lines[1:-1] if line]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ContractError(f"{path} holds no prices of swaps: {error}") from error
    return replace(found, outcomes=outcomes)


def begin(path: Path, prices: Prices) -> Prices:
    """Begin a file, or go on with one of the same model, texts and budget; what is in it.

    There may be more seeds now, and the commits of both are noted. ContractError: the file holds
    something else.
    """
    if path.exists():
        found = read(path)
        seeds = max(found.budget.seeds, prices.budget.seeds)
        more = replace(found, budget=replace(found.budget, seeds=seeds))
        for name in ("model", "texts", "budget"):
            if getattr(more, name) != getattr(prices, name):
                raise ContractError(
                    f"{path} has another {name}: {getattr(found, name)}; name another file"
                )
        commits = (facts.get("commit", "") for facts in (found.facts, prices.facts))
        commit = ", ".join(dict.fromkeys(filter(None, commits)))
        prices = replace(prices, outcomes=found.outcomes, facts={**prices.facts, "commit": commit})
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"format": FORMAT, "model": prices.model, "texts": prices.texts,
            "budget": asdict(prices.budget), "facts": dict(prices.facts)}  # fmt: skip
    lines = [_line(head), *(_line(one.to_json()) for one in prices.outcomes)]
    write_whole(path, "".join(lines).encode())  # without a line that was cut off
    return prices


def add(path: Path, outcome: Outcome) -> None:
    """Write an outcome to the end."""
    with path.open("a", encoding="utf-8") as file:
        file.write(_line(outcome.to_json()))
        file.flush()
        os.fsync(file.fileno())


def _line(found: Mapping[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"


def shipped() -> dict[str, Path]:
    """The files that come with the workbench, by their models' names."""
    return {path.stem: path for path in sorted(SHIPPED_PRICES.glob("*.jsonl"))}


def read_shipped(name: str) -> Prices:
    """The shipped prices of a model; ContractError where there are none."""
    found = shipped()
    if name not in found:
        raise ContractError(f"no shipped prices of {name!r}; there are {', '.join(found)}")
    return read(found[name])

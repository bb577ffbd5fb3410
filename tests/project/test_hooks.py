"""Every hook is documented with its exact signature, works, and stays as it was promised."""

from __future__ import annotations

import inspect
import re
import types
from pathlib import Path

import pytest
from torch import nn

from attention_plugins import (
    CheckpointSpec,
    DatasetSpec,
    ModelSpec,
    hookimpl,
    hookspecs,
    scoring,
)
from attention_plugins.contract import CONTRACT_VERSION
from attention_plugins.discovery import HOOKS, Source, drain, implementations

ROOT = Path(__file__).parents[2]
_, _, AFTER = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Write a scoring\n")
CHAPTER = AFTER.partition("\n## ")[0]
SPECS = {
    name: function
    for name, function in vars(hookspecs).items()
    if hasattr(function, f"{hookspecs.PROJECT}_spec")
}

# A record for each hook: a new hook needs one here.
RECORDS = {
    "attention_scorings": lambda: scoring("mine", formula="q")(lambda queries, keys: queries),
    "attention_models": lambda: ModelSpec(
        name="mine", title="Mine", task="regression", build=lambda *given: nn.Identity()
    ),
    "attention_checkpoints": lambda: CheckpointSpec(name="mine", path=Path("mine")),
    "attention_datasets": lambda: DatasetSpec(
        name="mine", title="Mine", task="regression", load=lambda values, seed: None
    ),
}
# The arguments that hooks gave in a version of the contract; later minor versions append theirs.
PROMISED = {(1, 0): dict.fromkeys(RECORDS, ())}


def signature(name: str) -> str:
    """As a reader writes it: ``attention_scorings() -> Iterable[ScoringSpec]``."""
    return f"{name}{inspect.signature(SPECS[name])}".replace("'", "")


def test_the_registry_knows_every_hook_and_no_other():
    assert {hook.name for hook in HOOKS.values()} == set(SPECS)


@pytest.mark.parametrize("name", SPECS)
def test_every_hook_is_documented_with_its_exact_signature(name):
    rows = re.findall(r"^\| `([^`]+)` \| .{20,} \|$", CHAPTER, re.M)
    assert signature(name) in rows
    assert [row for row in rows if row.startswith(f"{name}(")] == [signature(name)]
    assert inspect.getdoc(SPECS[name]).startswith("Yield ")


@pytest.mark.parametrize("name", SPECS)
def test_every_hook_is_called_and_its_record_taken(name):
    record = RECORDS[name]()
    plugin = types.ModuleType("mine")

    def implementation():
        yield record

    implementation.__name__ = name
    setattr(plugin, name, hookimpl(implementation))
    source = Source("mine", "mine", "1", "mine", find=lambda: plugin)
    ((kind, function),) = implementations(source.load(), source)
    assert HOOKS[kind].name == name
    assert drain(kind, function, source) == ([record], [])


@pytest.mark.parametrize("version", PROMISED)
def test_within_a_major_version_hooks_only_gain_arguments(version):
    if version[0] == CONTRACT_VERSION[0]:
        for name, arguments in PROMISED[version].items():
            assert tuple(inspect.signature(SPECS[name]).parameters)[: len(arguments)] == arguments


def test_the_present_version_is_among_the_promised():
    assert CONTRACT_VERSION in PROMISED
    assert set(PROMISED[CONTRACT_VERSION]) == set(SPECS)

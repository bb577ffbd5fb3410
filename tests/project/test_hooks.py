"""Every hook is documented with its exact signature, works, and stays as it was promised."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import types
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.documents import section
from torch import nn

from attention_plugins import (
    CheckpointSpec,
    ContractError,
    DatasetSpec,
    LayerSpec,
    MetricSpec,
    ModelSpec,
    TokeniserSpec,
    TranslationSpec,
    discovery,
    hookimpl,
    hookspecs,
    normaliser,
    scoring,
)
from attention_plugins.catalogue import catalogue
from attention_plugins.checking import Broken, check, rules
from attention_plugins.checking.findings import _RULES, rule
from attention_plugins.checking.package import contents
from attention_plugins.commands import main, packages
from attention_plugins.contract import CONTRACT_VERSION
from attention_plugins.discovery import Source, drain, implementations
from attention_plugins.hookspecs import HOOKS, Hook
from attention_plugins.registry import load

CHAPTER = section("writing.md", "All hooks")
SPECS = {
    name: function
    for name, function in vars(hookspecs).items()
    if hasattr(function, f"{hookspecs.PROJECT}_spec")
}

# A record for each hook: a new hook needs one here.
RECORDS = {
    "attention_scorings": lambda: scoring("mine", formula="q")(lambda queries, keys: queries),
    "attention_normalisers": lambda: normaliser("mine", formula="s")(lambda scores: scores),
    "attention_layers": lambda: LayerSpec(
        name="mine", title="Mine", build=lambda *given: nn.Identity()
    ),
    "attention_models": lambda: ModelSpec(
        name="mine", title="Mine", task="regression", build=lambda *given: nn.Identity()
    ),
    "attention_checkpoints": lambda: CheckpointSpec(name="mine", path=Path("mine")),
    "attention_datasets": lambda: DatasetSpec(
        name="mine", title="Mine", task="regression", load=lambda values, seed: None
    ),
    "attention_tokenisers": lambda: TokeniserSpec(
        name="mine", title="Mine", build=lambda learned: None
    ),
    "attention_metrics": lambda: MetricSpec(
        name="mine", title="Mine", score=lambda hypotheses, references: 0.0
    ),
    "attention_translations": lambda: TranslationSpec(
        name="mine", title="Mine", language="zh", texts={"Mine": "我的"}
    ),
}
_SINCE_1_1 = {"attention_normalisers", "attention_tokenisers", "attention_metrics",
              "attention_translations"}  # fmt: skip
# The arguments that hooks gave in a version of the contract; later minor versions append theirs.
PROMISED = {
    (1, 0): dict.fromkeys(RECORDS.keys() - _SINCE_1_1 - {"attention_layers"}, ()),
    (1, 1): dict.fromkeys(RECORDS.keys() - {"attention_layers"}, ()),
    (1, 2): dict.fromkeys(RECORDS, ()),
}


def signature(name: str) -> str:
    """As a reader writes it: ``attention_scorings() -> Iterable[ScoringSpec]``."""
    return f"{name}{inspect.signature(SPECS[name])}".replace("'", "")


def test_the_table_has_a_row_for_every_hook_and_no_other():
    assert {hook.name: hook.function for hook in HOOKS.values()} == SPECS
    assert [hook.kind for hook in HOOKS.values()] == list(HOOKS)


@pytest.mark.parametrize("kind", HOOKS)
def test_every_row_names_its_rules_and_its_built_ins(kind):
    hook = HOOKS[kind]
    record = RECORDS[hook.name]()
    found = {check.__module__ for check in rules(kind, record).values()}
    assert any(module.startswith(hook.rules) for module in found)
    shared = "attention_plugins.checking.records"  # the rule of every kind, see there
    assert all(module.startswith((hook.rules, shared)) for module in found)
    registry = load(allow=[])
    assert all(isinstance(each, hook.record) for each in registry.of(hook.record).values())
    brought = {plugin.module for plugin in registry.plugins if kind in plugin.offers}
    assert brought == ({hook.built_ins} if hook.built_ins else set())


@dataclass(frozen=True, kw_only=True)
class WordSpec:
    """A kind of record that no hook yields."""

    name: str
    title: str
    parameters: tuple = ()


@pytest.fixture
def attention_words(monkeypatch):
    """A hook that is new: its function, its record, its row, and one rule."""

    @hookspecs.hookspec
    def attention_words() -> Iterable[WordSpec]:
        """Yield words."""

    row = Hook(
        function=attention_words, record=WordSpec, noun="word", rules=__name__,
        shown=("name", "title"),
    )  # fmt: skip
    monkeypatch.setattr(hookspecs, "attention_words", attention_words, raising=False)
    monkeypatch.setitem(HOOKS, "words", row)

    def check_it_is_short(spec):
        if len(spec.name) > 3:
            raise Broken("take a shorter one")

    rule("words")(check_it_is_short)
    yield
    _RULES.pop("words")


def test_a_new_hook_needs_its_function_its_record_and_its_row(
    attention_words, monkeypatch, capsys, tmp_path
):
    (tmp_path / "pack.py").write_text(
        "from attention_plugins import hookimpl\n"
        "WORDS = []\n"
        "@hookimpl\n"
        "def attention_words():\n"
        "    yield from WORDS\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    pack = importlib.import_module("pack")
    pack.WORDS += [WordSpec(name="an", title="Article"), WordSpec(name="attention", title="Noun")]
    source = Source("pack", "pack", "1", "pack", find=lambda: pack)
    monkeypatch.setattr(
        "attention_plugins.registry.sources", lambda: [*discovery.sources(), source]
    )
    registry = load()
    assert registry.failures == ()
    assert registry.named(WordSpec, "an") is pack.WORDS[0]
    assert registry.provider("words", "attention").distribution == "pack"
    with pytest.raises(ContractError, match='no word "and"; did you mean "an"'):
        registry.named(WordSpec, "and")
    facts = catalogue(registry)
    first, _ = facts["words"]
    assert facts["kinds"]["words"] == "word"
    assert (first["name"], first["title"], first["plugin"]["name"]) == ("an", "Article", "pack")
    monkeypatch.setattr(packages, "installed", lambda: registry)
    assert main(["list"]) == 0
    assert "words:\n  an                           Article  (pack 1)" in capsys.readouterr().out
    assert [finding.passed for spec in pack.WORDS for finding in check("words", spec)] == [
        True,
        False,
    ]
    offers = contents("pack").offers
    assert [(kind, spec) for kind, spec, _ in offers] == [("words", spec) for spec in pack.WORDS]
    sys.modules.pop("pack")


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

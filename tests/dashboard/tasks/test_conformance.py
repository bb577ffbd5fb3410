from __future__ import annotations

import pytest
import torch

from attention_plugins import checking, scoring
from attention_plugins.checking import findings
from attention_plugins.contract import ContractError
from attention_plugins.origins import Plugin
from attention_plugins.registry import Registry, installed
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.tasks import conformance, perform


class Context:
    def __init__(self):
        self.notes = []

    def report(self, fraction, note="", facts=None):
        assert 0 <= fraction <= 1
        self.notes.append(note)

    def stopped(self):
        return False


def card(kind, name):
    request = Request.make("conformance", options={"kind": kind, "name": name})
    context = Context()
    result = perform(request, context)
    assert Result.from_bytes(result.to_bytes()).facts == result.facts
    return result.facts["findings"], context.notes


def test_a_built_in_keeps_every_rule_and_each_is_reported():
    found, notes = card("scorings", "dot")
    rules = list(checking.rules("scorings", installed().scoring("dot")))
    assert [each["rule"] for each in found] == rules
    assert all(each["passed"] for each in found)
    assert notes == [rule.replace("_", " ") for rule in rules]


@pytest.fixture
def outsider(monkeypatch):
    """A scoring that writes into its queries, in a module that waives one rule."""

    @scoring("leaky", formula="q k", same_size=True, reference="Nobody 2031", description="Leaks.")
    def leaky(queries, keys):
        queries.mul_(2)
        return queries @ keys.mT

    plugin = Plugin(
        name="leaky", distribution="leaks", version="1", module="leaks", offers={
            "scorings": ("leaky",)
        },
    )  # fmt: skip
    registry = Registry(scorings={"leaky": leaky}, plugins=(plugin,))
    monkeypatch.setattr(conformance, "installed", lambda: registry)
    return leaky


def test_a_fault_is_named_with_what_to_change_and_a_waiver_with_its_reason(outsider, monkeypatch):
    broken = [f.rule for f in findings("scorings", outsider, {}) if not f.passed]
    assert broken
    module = type("Module", (), {"ATTENTION_EXPECTED_FAILURES": {"leaky": {broken[0]: "known"}}})
    monkeypatch.setattr(conformance.pkgutil, "resolve_name", {"leaks": module}.__getitem__)
    found, _ = card("scorings", "leaky")
    assert [each["rule"] for each in found if each["waived"] == "known"] == broken[:1]
    assert [each["rule"] for each in found if not each["passed"]] == broken[1:]
    assert all(each["message"] for each in found if not each["passed"])


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("scoring", "dot", "need kind to be one of scorings, models, checkpoints, datasets"),
        ("scorings", "student_t", 'no scoring "student_t"'),
    ],
)
def test_what_is_not_there_is_refused(kind, name, message):
    with pytest.raises(ContractError, match=message):
        card(kind, name)
    assert torch.get_default_dtype() == torch.float32

from __future__ import annotations

import pytest
import torch

from attention_plugins import DatasetSpec, RegressionData, checking
from attention_plugins.checking import findings
from attention_plugins.contract import ContractError
from attention_plugins.discovery import Plugin
from attention_plugins.registry import Registry, installed
from dashboard.features.plugins import task
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request, Result


class Context:
    def __init__(self):
        self.notes = []

    def report(self, fraction, note="", facts=None):
        assert 0 <= fraction <= 1
        self.notes.append(note)

    def stopped(self):
        return False


def card(kind, name):
    request = Request.make("plugins", options={"kind": kind, "name": name})
    context = Context()
    result = perform(request, context)
    assert Result.from_bytes(result.to_bytes()).facts == result.facts
    return result.facts["findings"], context.notes


def test_a_built_in_keeps_every_rule_and_each_is_reported():
    found, notes = card("datasets", "sine")
    rules = list(checking.rules("datasets", installed().dataset("sine")))
    assert [each["rule"] for each in found] == rules
    assert all(each["passed"] for each in found)
    assert notes == [rule.replace("_", " ") for rule in rules]


@pytest.fixture
def outsider(monkeypatch):
    """A data set that does not care for its seed."""

    def load(values, seed):
        points = torch.rand(11, 1, generator=torch.Generator().manual_seed(3))
        return RegressionData(points, points[:, 0], points)

    spec = DatasetSpec(name="stubborn", title="Stubborn", task="regression", load=load)
    plugin = Plugin(
        name="stubborn", distribution="stubborn-data", version="1", module="stubborn_data",
        offers={"datasets": ("stubborn",)},
    )  # fmt: skip
    registry = Registry(records={"datasets": {"stubborn": spec}}, plugins=(plugin,))
    monkeypatch.setattr(task, "installed", lambda: registry)
    return spec


def test_a_fault_is_named_with_what_to_change_and_a_waiver_with_its_reason(outsider, monkeypatch):
    broken = [f.rule for f in findings("datasets", outsider, {}) if not f.passed]
    assert len(broken) > 1
    waivers = {"stubborn": {broken[0]: "known"}}
    module = type("Module", (), {"ATTENTION_EXPECTED_FAILURES": waivers})
    monkeypatch.setattr(task.pkgutil, "resolve_name", {"stubborn_data": module}.__getitem__)
    found, _ = card("datasets", "stubborn")
    assert [each["rule"] for each in found if each["waived"] == "known"] == broken[:1]
    assert [each["rule"] for each in found if not each["passed"]] == broken[1:]
    assert all(each["message"] for each in found if not each["passed"])


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (
            "scoring",
            "dot",
            "need kind to be one of scorings, normalisers, layers, models, datasets, tokenisers",
        ),
        ("scorings", "student_t", 'no scoring "student_t"'),
    ],
)
def test_what_is_not_there_is_refused(kind, name, message):
    with pytest.raises(ContractError, match=message):
        card(kind, name)

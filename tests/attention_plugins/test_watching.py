"""Whoever watches over a process hears whose code comes next."""

from __future__ import annotations

import json

import pytest
import torch

from attention_plugins import watching
from attention_plugins.discovery import Plugin


@pytest.fixture
def heard(monkeypatch):
    """What a watcher is told; afterwards nobody watches any more."""
    monkeypatch.setattr(watching._Watch, "tell", None)
    monkeypatch.setattr(watching._Watch, "quarantined", {})
    told = []
    entry = {"plugin": "bad", "distribution": "bad-kernels", "reason": "it hangs"}
    watching.watch(told.append, [entry])
    return told


def plugin(name="kernels", module="torch.nn", built_in=False):
    return Plugin(name=name, distribution=f"{name}-kernels", version="1", module=module,
                  offers={}, built_in=built_in)  # fmt: skip


def test_an_outsider_is_announced_with_where_it_lies_and_its_end_too(heard):
    with watching.running(plugin()):
        (said,) = heard
        assert (said["plugin"], said["distribution"]) == ("kernels", "kernels-kernels")
        assert torch.__file__ in said["paths"]
        json.dumps(said)
    assert heard[1:] == [None]


def test_its_end_is_told_even_if_it_raises(heard):
    with pytest.raises(SystemExit), watching.running(plugin(module="surely_not:there")):
        raise SystemExit
    assert heard[0]["paths"] == []
    assert heard[-1] is None


def test_built_ins_are_not_announced(heard):
    with watching.running(plugin(built_in=True)):
        assert heard == []


def test_a_plugin_in_quarantine_is_known_by_both_its_names(heard):
    assert watching.quarantined(plugin("bad")) == "it hangs"
    assert watching.quarantined(plugin("good")) == ""

"""The page Race without the races that ship, and with what small ones are of."""

import pytest
from support.catalogue import named

from dashboard.storage import races


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty data folder, and a workbench that ships no race."""
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setattr(races, "SHIPPED_FOLDER", tmp_path / "trained")
    return tmp_path


@pytest.fixture
def facts(facts):
    facts["models"] += [named("transformer", "translation")]
    facts["datasets"] += [named("reverse", "translation", examples=["a b"])]
    return facts

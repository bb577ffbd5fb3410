"""The table of threats names tests that exist, and settings that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from support.documents import DOCUMENTS, section

from dashboard.settings import Settings, variable

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / ".github" / "SECURITY.md").read_text("utf-8")
ROWS = [line.strip("|").split(" | ") for line in TEXT.splitlines() if line.startswith("| ")][1:]
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", TEXT)))


def test_every_threat_has_a_defence_and_a_test():
    assert len(ROWS) > 10
    for row in ROWS:
        assert len(row) == 3
        assert all(row)
        assert "tests/" in row[2]


@pytest.mark.parametrize(("path", "name"), NAMED, ids=str)
def test_the_named_test_exists(path, name):
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_named_settings_exist():
    settings = {variable(name) for name in Settings.model_fields} | {"ATTENTION_PLUGINS"}
    named = set(re.findall(r"ATTENTION_[A-Z_]+", TEXT))
    assert named
    assert named <= settings


def test_the_readme_leads_to_it():
    assert "(.github/SECURITY.md)" in DOCUMENTS["README.md"]
    assert "(../SECURITY.md)" in section("hosting.md", "Who may do what")

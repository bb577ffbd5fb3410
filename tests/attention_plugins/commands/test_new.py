"""A new package, as its author meets it: written, checked, installed, found, tested."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from attention_plugins.commands import main

ROOT = Path(__file__).parents[3]

# What `list` says, then pytest on the package's own test: one interpreter for both.
USE = """
import sys, pytest
from attention_plugins.commands import main
main(["list", "--json"])
sys.stdout.flush()
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "fig-scoring"]))
"""


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_new_package_installs_and_holds_everywhere(desk, capfd):
    assert main(["new", "fig-scoring"]) == 0
    folder, files = desk / "fig-scoring", ["README.md", "fig_scoring.py", "pyproject.toml"]
    assert sorted(path.name for path in folder.iterdir()) == [*files, "test_fig_scoring.py"]
    said = capfd.readouterr().out
    assert "python -m attention_plugins check fig-scoring\n" in said
    assert "-e fig-scoring\n" in said
    assert "Reload plugins" in said

    installed = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
         "--no-build-isolation", "--target", "site", "./fig-scoring"],
        cwd=desk, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert installed.returncode == 0, installed.stderr
    used = subprocess.run(
        [sys.executable, "-c", USE],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(desk / "site")])},
        cwd=desk, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert used.returncode == 0, used.stdout + used.stderr
    listed, end = json.JSONDecoder().raw_decode(used.stdout)
    assert [f for f in listed["failures"] if f["distribution"] == "fig-scoring"] == []
    assert listed["scorings"]["fig_scoring"] == {
        "title": "Fig scoring", "plugin": "fig-scoring", "version": "0.1.0",
    }  # fmt: skip
    assert int(re.search(r"(\d+) passed in", used.stdout[end:])[1]) > 20


def test_check_finds_nothing_wrong_with_it_before_it_is_installed(desk, monkeypatch, capfd):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (desk / "plugins").mkdir()
    assert main(["new", "Wide_Kernel", "--into", "plugins", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["folder"] == os.path.join("plugins", "wide-kernel")
    assert main(["check", told["folder"]]) == 0
    assert capfd.readouterr().out.startswith("scoring wide_kernel: all ")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("my scoring", "letters, digits and hyphens"),
        ("../outside", "letters, digits and hyphens"),
        ("", "letters, digits and hyphens"),
        ("3d", "starting with a letter"),
        ("a" * 41, "1 to 40"),
        ("Scaled.Dot", "'scaled_dot' already, of attention-workbench"),
        ("lambda", "lambda-scoring"),
        ("random", "random-scoring"),
        ("torch", "torch-scoring"),
        ("pytest-xdist", "pytest-xdist-scoring"),
        ("there", "is there already"),
    ],
)
def test_a_bad_name_costs_one_line(name, why, desk, capsys):
    (desk / "there").mkdir()
    assert main(["new", name]) == 2
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert line.startswith("python -m attention_plugins new: ")
    assert why in line
    assert captured.out == ""
    assert sorted(path.name for path in desk.iterdir()) == ["there"]


def test_a_folder_that_is_not_there_gets_none(desk, capsys):
    assert main(["new", "fig-scoring", "--into", "nowhere"]) == 2
    assert "cannot write nowhere" in capsys.readouterr().err
    assert not any(desk.iterdir())

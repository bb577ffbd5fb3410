"""A new package, as its author meets it: written, checked, installed, found, tested."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.documents import DOCUMENTS

from attention_plugins.commands import main
from attention_plugins.formula import package_of

ROOT = Path(__file__).parents[3]
TEXT = "\n".join(DOCUMENTS.values())

# What `list` says beside the folder, then pytest on the package's own test: one interpreter for
# both. The folder has the module's name: it must not be imported in the module's place.
USE = """
import site, sys, pytest
site.addsitedir("site")
from attention_plugins.commands import main
main(["list", "--json"])
sys.stdout.flush()
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "figkernel"]))
"""


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_new_package_installs_and_holds_everywhere(desk, capfd):
    assert main(["new", "figkernel"]) == 0
    files = [path.relative_to(desk).as_posix() for path in desk.rglob("*.*")]
    assert sorted(files) == [
        "figkernel/README.md", "figkernel/pyproject.toml", "figkernel/src/figkernel.py",
        "figkernel/test_figkernel.py",
    ]  # fmt: skip
    said = capfd.readouterr().out
    assert "python -m attention_plugins check figkernel\n" in said
    assert "-e figkernel\n" in said
    assert "Reload plugins" in said

    installed = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
         "--no-build-isolation", "--target", "site", "-e", "./figkernel"],
        cwd=desk, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert installed.returncode == 0, installed.stderr
    used = subprocess.run(
        [sys.executable, "-c", USE],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=desk,
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert used.returncode == 0, used.stdout + used.stderr
    listed, end = json.JSONDecoder().raw_decode(used.stdout)
    assert [f for f in listed["failures"] if f["distribution"] == "figkernel"] == []
    assert listed["scorings"]["figkernel"] == {
        "title": "Figkernel", "plugin": "figkernel", "version": "0.1.0",
    }  # fmt: skip
    assert int(re.search(r"(\d+) passed in", used.stdout[end:])[1]) > 20


@pytest.mark.slow
def test_what_is_generated_or_shown_passes_pyright_in_standard_mode(desk, capsys):
    """The package of `new`, those of formulas, and the plugins that the documents show."""
    assert main(["new", "figkernel"]) == 0
    texts = ["-(q - k).abs().max(-1) - m|i - j|", "-|q - k|^2 / (2w^2)", "q.k/√d - 2^(-8h/H)|i-j|"]
    shown = [text for text in re.findall(r"^```python\n(.*?)^```$", TEXT, re.S | re.M)
             if "@hookimpl" in text]  # fmt: skip
    assert len(shown) > 5
    modules = [package_of(text, f"typed-{n}")[f"src/typed_{n}.py"] for n, text in enumerate(texts)]
    for number, module in enumerate([*modules, *shown]):
        (desk / f"module_{number}.py").write_text(module, "utf-8")
    config = {"typeCheckingMode": "standard", "extraPaths": [str(ROOT), "figkernel/src"]}
    (desk / "pyrightconfig.json").write_text(json.dumps(config), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable],
        cwd=desk, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


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

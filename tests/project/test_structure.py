"""Facts about the project as a whole: its layout and its pins."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TOP_LEVEL = {
    "dashboard", "attention_plugins", "trained", "tests", "streamlit_app.py", "pyproject.toml",
    "README.md", "requirements.txt", "Dockerfile", "LICENSE", "CITATION.cff",
}  # fmt: skip


def requirements(text: str) -> dict[str, Requirement]:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {Requirement(line).name: Requirement(line) for line in lines}


PINS = requirements((ROOT / "requirements.txt").read_text(encoding="utf-8"))
# What baselines, other libraries' models and a cluster need, imported where there is one.
EXTRAS = requirements(
    "\n".join(
        line
        for name in ("baselines", "ray", "transformers")
        for line in PROJECT["optional-dependencies"][name]
    )
)


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.split("\0") if name]


def test_every_pin_is_a_name_and_one_version():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    wrong = [
        line
        for line in lines
        if not line.startswith("#")
        and not re.fullmatch(r"[a-z0-9-]+==\d+(\.\d+)*(; sys_platform != \"win32\")?", line)
    ]
    assert not wrong


def test_the_pins_lie_in_the_ranges():
    ranges = requirements("\n".join(PROJECT["dependencies"]))
    assert ranges.keys() == PINS.keys()
    outside = [
        f"{name}{ranges[name].specifier} without {pin.specifier}"
        for name, pin in PINS.items()
        if not ranges[name].specifier.contains(next(iter(pin.specifier)).version)
    ]
    assert not outside


def locked() -> dict[str, tuple[Requirement, list[str]]]:
    """By name: what the lock demands, and the sha256 that it allows."""
    lines = (
        (ROOT / ".github/requirements.lock").read_text("utf-8").replace("\\\n", "").splitlines()
    )
    entries = [line.partition(" --hash=") for line in lines]
    here = [(Requirement(each), hashes) for each, _, hashes in entries]
    return {
        each.name: (each, re.findall(r"\bsha256:([0-9a-f]{64})\b", hashes))
        for each, hashes in here
        if not each.marker or each.marker.evaluate({"sys_platform": "linux"})
    }


def test_the_lock_holds_every_pin_with_its_hashes():
    lock = locked()
    assert [name for name, (_, hashes) in lock.items() if not hashes] == []
    pins = {name: pin.specifier for name, pin in PINS.items() if name != "torch"}
    assert {name: lock[name][0].specifier for name in pins} == pins


def test_the_lock_holds_the_extras_of_the_image():
    """What these need in turn pip itself demands, once hashes are required."""
    assert {"authlib", "psycopg", "psycopg-binary", "streamlit"} <= locked().keys()


def test_the_bill_of_materials_lists_what_is_locked():
    bill = json.loads((ROOT / ".github/sbom.cdx.json").read_text("utf-8"))
    listed = {canonicalize_name(each["name"]): each["version"] for each in bill["components"]}
    lock = {name: str(each.specifier).removeprefix("==") for name, (each, _) in locked().items()}
    assert listed == lock | {"torch": str(PINS["torch"].specifier).removeprefix("==")}


MODULE_OF = {
    "huggingface-hub": "huggingface_hub",
    "pillow": "PIL",
    "prometheus-client": "prometheus_client",
    "pydantic-settings": "pydantic_settings",
    "scikit-learn": "sklearn",
    "vl-convert-python": "vl_convert",
}  # where it is not the distribution's name


def imported_by_us() -> set[str]:
    found = set()
    for path in (*ROOT.glob("attention_plugins/**/*.py"), *ROOT.glob("dashboard/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                found.add(node.module.split(".")[0])
    return found - sys.stdlib_module_names - {"attention_plugins", "dashboard"}


def test_what_is_imported_is_declared_and_nothing_else():
    pinned, extra = ({MODULE_OF.get(name, name) for name in names} for names in (PINS, EXTRAS))
    assert imported_by_us() - extra == pinned - {"uvloop"}  # the server imports it


def test_the_top_level_holds_what_belongs_there():
    names = {name.split("/")[0] for name in tracked()}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


def test_no_file_is_too_large_for_a_clone():
    sizes = {name: (ROOT / name).stat().st_size for name in tracked() if (ROOT / name).is_file()}
    assert not {name: size for name, size in sizes.items() if size > 25_000_000}
    trained = sum(size for name, size in sizes.items() if name.startswith("trained/"))
    assert trained < 60_000_000


def test_there_is_one_name_per_test_module():
    """Two test files of one path below their folder would shadow each other in a report."""
    wrong = [name for name in tracked() if re.fullmatch(r"tests/(.+/)?__init__\.py", name)]
    assert [name for name in wrong if not name.startswith("tests/plugins/")] == []

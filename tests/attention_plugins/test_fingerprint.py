"""Another code has another fingerprint, and equal code the same."""

import sys

import pytest

from attention_plugins.registry import fingerprint, load


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, imported as ``kernels.plugin``."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "plugin.py").write_text("from kernels import formula\n")
    (folder / "formula.py").write_text("def score(q, k):\n    return q @ k.mT\n")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("kernels.plugin")
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "kernels"]:
        del sys.modules[name]


def of(module="kernels.plugin:Plugin", version="1.0", whole=True):
    return fingerprint(module, version, whole=whole)


def test_any_file_of_the_package_counts_and_the_version(package):
    before = of()
    assert of() == before
    assert len(before) == 16
    assert of(version="1.1") != before
    (package / "formula.py").write_text("def score(q, k):\n    return -(q @ k.mT)\n")
    changed = of()
    assert changed != before
    (package / "more.py").write_text("")
    assert of() not in (before, changed)
    (package / "notes.txt").write_text("no code")


def test_a_module_alone_is_its_file(package):
    before = of("kernels.formula", whole=False)
    (package / "plugin.py").write_text("# another neighbour\n")
    assert of("kernels.formula", whole=False) == before
    (package / "formula.py").write_text("# another formula\n")
    assert of("kernels.formula", whole=False) != before


def test_moved_text_is_another_code(package):
    before = of()
    (package / "formula.py").write_text("")
    (package / "plugin.py").write_text(
        "def score(q, k):\n    return q @ k.mT\nfrom kernels import formula\n"
    )
    assert of() != before


def test_every_plugin_has_its_own():
    codes = {plugin.name: plugin.code for plugin in load(allow=[]).plugins}
    assert len(set(codes.values())) == len(codes) > 4
    assert all(codes.values())

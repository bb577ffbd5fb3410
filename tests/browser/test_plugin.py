"""The README's ten-line scoring, installed as its own distribution, on both pages of the app."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]


def block(language: str) -> str:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(rf"^```{language}\n(.*?)^```$", readme, re.S | re.M)[1]


def python(*words: str, **variables: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, env=os.environ | variables,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def app(tmp_path_factory, server):
    """An app beside which the plugin is installed, with a model that was trained with it."""
    folder = tmp_path_factory.mktemp("plugin")
    source, target, trained = folder / "source", folder / "target", folder / "trained"
    source.mkdir()
    (source / "pyproject.toml").write_text(block("toml"), encoding="utf-8")
    (source / "chebyshev_scoring.py").write_text(block("python"), encoding="utf-8")
    python(
        "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation",
        "--target", str(target), str(source),
    )  # fmt: skip
    corpus = folder / "pairs.tsv"
    corpus.write_text("go .\tva !\ni lost .\tj'ai perdu .\n" * 4, encoding="utf-8")
    python(
        "attention_plugins", "train", "--scoring", "chebyshev", "--corpus", str(corpus),
        "--epochs", "30", "--output", str(trained / "bahdanau-chebyshev"),
        PYTHONPATH=str(target),
    )  # fmt: skip
    variables = {"PYTHONPATH": str(target), "ATTENTION_CHECKPOINTS": str(trained)}
    with server(folder, **variables) as url:
        yield url


def test_it_appears_in_kernel_regression(window):
    seen = window("regression?a=chebyshev&b=gaussian")

    def drawn(panel):
        return seen.rows("q", "x", "prediction", key=f"panel-{panel}")

    seen.until(lambda: drawn("a") and drawn("b"), "both curves")
    assert drawn("a") != drawn("b")
    seen.screenshot("plugin-regression")


def test_it_trains_in_the_translation_model_and_appears_there(window):
    seen = window("translation?a=bahdanau.chebyshev&corpus=pairs&text=i lost .")
    seen.until(lambda: seen.rows("q", "k", "value", key="panel-a"), "its map")
    assert "j'ai perdu" in seen.text()
    seen.screenshot("plugin-translation")

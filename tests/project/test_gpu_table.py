"""The command that runs what needs a GPU, where there is none and where a check fails."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_checks_are_named_counted_and_skipped_without_a_gpu(tmp_path):
    (tmp_path / "test_planted.py").write_text(
        "import pytest\n"
        "pytestmark = pytest.mark.gpu\n"
        "@pytest.mark.parametrize('n', range(5))\n"
        "def test_some(n): assert n < 3\n"
        "def test_broken(nothing): pass\n"
    )
    given = "--rootdir", ROOT, "-c", ROOT / "pyproject.toml", tmp_path
    done = subprocess.run(
        [sys.executable, "-m", "tests.gpu", *map(str, given), "tests/devices/test_memory.py"],
        cwd=ROOT, capture_output=True, text=True, timeout=240, check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert re.search(r"^no CUDA device, torch \S+, commit \S+$", done.stdout, re.MULTILINE)
    rows = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| `")]
    assert {row[0].strip("| `").rpartition("::")[2]: row[1] for row in rows} == {
        "test_some": "3 passed, 2 failed",
        "test_broken": "1 failed",
        "test_blocks_hold_a_third_at_most": "3 skipped",
    }

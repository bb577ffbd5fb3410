"""Keep what pages and results are now: ``python -m tests.snapshots``, after reading what changed.

The tests of snapshots say what differs; see ``tests/support/snapshots.py``. Arguments go to
pytest, such as ``-k positions``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Run the tests of snapshots so that they keep what they see."""
    files = sorted(map(str, ROOT.glob("tests/**/test_*snapshots.py")))
    command = [sys.executable, "-m", "pytest", "-q", *files, *sys.argv[1:]]
    environment = {**os.environ, "ATTENTION_KEEP_SNAPSHOTS": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())

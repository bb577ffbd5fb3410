"""Every check that needs a GPU, and what came of it, as a Markdown table to paste.

``python -m tests.gpu``; arguments are pytest's, such as ``tests/devices/test_memory.py``.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

_MEGABYTE = 1 << 20
ROOT = Path(__file__).parents[1]


@dataclass
class Check:
    """One test with all its cases; ``peak`` is the most bytes that one case held on the GPU."""

    outcomes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    peak: int = 0


class Checks:
    """A plugin of pytest that keeps what every test came to."""

    def __init__(self) -> None:
        self.found: dict[str, Check] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        if torch.cuda.is_available():
            torch.cuda.reset_peak_memory_stats()
        done = yield
        if torch.cuda.is_available():
            check = self._of(item.nodeid)
            check.peak = max(check.peak, torch.cuda.max_memory_allocated())
        return done

    def pytest_runtest_logreport(self, report):
        check = self._of(report.nodeid)
        check.seconds += report.duration
        if report.when == "call" or not report.passed:
            check.outcomes.append(report.outcome)

    def _of(self, nodeid: str) -> Check:
        return self.found.setdefault(nodeid.partition("[")[0], Check())


def table(found: dict[str, Check]) -> str:
    """A row for each test: how many of its cases passed, failed or were skipped."""
    lines = ["| check | outcome | seconds | peak MB |", "|---|---|---|---|"]
    for name, check in sorted(found.items()):
        counts = {each: check.outcomes.count(each) for each in ("passed", "failed", "skipped")}
        said = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
        peak = f"{check.peak / _MEGABYTE:.0f}" if check.peak else ""
        lines.append(f"| `{name}` | {said} | {check.seconds:.1f} | {peak} |")
    return "\n".join(lines)


def where() -> str:
    """The device, torch and the commit."""
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no CUDA device"
    asked = ["git", "describe", "--always", "--dirty"]
    said = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return f"{device}, torch {torch.__version__}, commit {said.stdout.strip() or 'unknown'}"


def main(arguments: list[str]) -> int:
    """Run the checks and print the table; pytest's exit code."""
    checks = Checks()
    code = pytest.main(
        ["-m", "gpu", "-n", "0", "-q", *(arguments or ["tests/devices"])], plugins=[checks]
    )
    print(f"\n{where()}\n\n{table(checks.found)}")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

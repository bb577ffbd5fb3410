"""Checks in child processes with a time limit: what hangs or crashes is named."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from attention_plugins.checking.findings import Finding
from attention_plugins.checking.package import Fault
from attention_plugins.contract import ContractError

_START = 120.0  # seconds until torch is imported, on a machine that is busy


@dataclass
class Checked:
    """One record with its findings; they end at the one that hung or crashed."""

    kind: str
    name: str
    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether every rule holds or is waived."""
        return all(finding.passed for finding in self.findings)


@dataclass
class Report:
    """Everything found in a package."""

    records: list[Checked] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults and all(record.passed for record in self.records)


def check_package(package: str, limit: float) -> Report:
    """Check every record of a package, see :mod:`attention_plugins.checking.package`.

    Args:
        limit: seconds for importing it, and for all rules of one record.

    Raises:
        ContractError: there is no such package.
    """
    report = Report()
    first = 0
    while first is not None:
        first = _Watch(package, first, limit, report).follow()
    return report


class _Watch:
    """One child process, from its start to its end or to the limit."""

    def __init__(self, package: str, first: int, limit: float, report: Report) -> None:
        self._package, self._limit, self._report = package, limit, report
        self._first, self._rule, self._trying = first, "", ""
        self._number: int | None = None
        self._deadline = time.monotonic() + _START
        self._process = subprocess.Popen(
            [sys.executable, "-m", "attention_plugins.checking.child", package, str(first)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip
        assert self._process.stdout is not None
        self._said = self._process.stdout
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def follow(self) -> int | None:
        """Take in what the child says; the record to go on with in another child, if any."""
        try:
            while True:
                try:
                    left = max(0.0, self._deadline - time.monotonic())
                    line = self._lines.get(timeout=left)
                except queue.Empty:
                    return self._ended(
                        f"did not end within {self._limit:g} s; look for an endless loop, or give "
                        "more time with --limit"
                    )
                if not line:
                    return self._ended(self._how_it_died())
                said = json.loads(line)
                if said.pop("say") == "done":
                    return None
                self._hear(said)
        finally:
            self._process.kill()
            self._process.wait()
            self._said.close()

    def _read(self) -> None:
        try:
            for line in self._said:
                self._lines.put(line)
        except ValueError:  # closed while it was read
            return
        self._lines.put("")

    def _hear(self, said: dict[str, Any]) -> None:
        if "message" in said and "rule" not in said:
            raise ContractError(said["message"])
        if "records" in said:
            if not self._first:
                self._report.records = [Checked(**record) for record in said["records"]]
                self._report.faults = [Fault(**fault) for fault in said["faults"]]
        elif "tried" in said:
            self._trying = said["tried"]
            return
        elif "number" in said:
            self._number = said["number"]
        elif "passed" in said and self._number is not None:
            self._report.records[self._number].findings.append(Finding(**said))
            return
        else:
            self._rule, self._trying = said.get("rule", ""), ""
        if "rule" not in said:
            self._deadline = time.monotonic() + self._limit

    def _ended(self, how: str) -> int | None:
        if self._number is None:
            advice = f"python -c 'import {self._package}' may show more"
            self._report.faults.append(Fault(self._package, f"importing it {how}", advice))
            return None
        record = self._report.records[self._number]
        message = f"{self._trying} it {how}".lstrip()
        record.findings.append(Finding(rule=self._rule, passed=False, message=message))
        following = self._number + 1
        return following if following < len(self._report.records) else None

    def _how_it_died(self) -> str:
        code = self._process.wait()
        if code >= 0:
            return f"ended the process with exit code {code}; never call sys.exit or os._exit"
        name = signal.Signals(-code).name
        reason = " (most likely for lack of memory)" if name == "SIGKILL" else ""
        return f"killed the process by {name}{reason}; look at compiled code and at sizes"

"""Checks in child processes with a time limit: what hangs or crashes is named."""

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

    Importing it, and all rules of one record, may take ``limit`` seconds each. ContractError:
    there is no such package.
    """
    report, first = Report(), 0
    while first is not None:
        first = _Watch(package, first, limit, report).follow()
    return report


class _Watch:
    def __init__(self, package: str, first: int, limit: float, report: Report) -> None:
        self._package, self._limit, self._report = package, limit, report
        self._rule, self._trying = "", ""
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
                    line = self._lines.get(timeout=max(0.0, self._deadline - time.monotonic()))
                except queue.Empty:
                    return self._ended(
                        f"did not end within {self._limit:g} s; look for an endless loop, or give "
                        "more time with --limit"
                    )
                if not line:
                    return self._ended(self._how_it_died())
                facts = json.loads(line)
                if (what := facts.pop("say")) == "done":
                    return None
                self._hear(what, facts)
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

    def _hear(self, what: str, facts: dict[str, Any]) -> None:
        if what == "refused":
            raise ContractError(facts["message"])
        if what == "trying":
            self._trying = facts["tried"]
        elif what == "rule":
            self._rule, self._trying = facts["rule"], ""
        elif what == "finding" and self._number is not None:
            self._report.records[self._number].findings.append(Finding(**facts))
        else:  # ready, found, record
            self._deadline = time.monotonic() + self._limit
            self._number = facts.get("number")
        if what == "found" and not self._report.records:
            self._report.records = [Checked(**record) for record in facts["records"]]
            self._report.faults = [Fault(**fault) for fault in facts["faults"]]

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

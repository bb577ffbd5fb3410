"""What a report makes of children that say, crash, hang or refuse; none is started here."""

from __future__ import annotations

import json
import threading

import pytest

from attention_plugins.checking import watching
from attention_plugins.contract import ContractError

RECORDS = [{"kind": "scorings", "name": name} for name in ("first", "second")]
FOUND = ("found", {"records": RECORDS, "faults": []})
HOLDS = ("finding", {"rule": "one", "passed": True})


class Child:
    """Says its lines, then ends with a code, or hangs where that is None."""

    def __init__(self, code, *said):
        self.code, self.ended, self.stdout = code, threading.Event(), self
        self.lines = [json.dumps({"say": what, **facts}) + "\n" for what, facts in said]

    def __iter__(self):
        yield from self.lines
        if self.code is None:
            self.ended.wait(10)

    def kill(self):
        self.ended.set()

    def wait(self):
        return self.code

    def close(self):
        assert self.ended.is_set()


@pytest.fixture
def checked(monkeypatch):
    """``checked(child, ...)``: the report on a package, and from which record each child began."""

    def check(*children, limit=60.0):
        waiting, begun = [*children], []

        def start(command, **_):
            begun.append(command[-2:])
            return waiting.pop(0)

        monkeypatch.setattr(watching.subprocess, "Popen", start)
        try:
            report = watching.check_package("mine", limit)
        finally:
            assert all(child.ended.is_set() for child in children), "a child outlives its check"
        return report, begun

    return check


def record(number):
    return "record", {"number": number}


def test_what_crashes_is_named_with_what_it_tried_and_the_next_record_goes_on(checked):
    crashes = Child(
        -11, ("ready", {}), FOUND, record(0), HOLDS, ("rule", {"rule": "two"}),
        ("trying", {"tried": "with width=3"}),
    )  # fmt: skip
    goes_on = Child(0, ("ready", {}), FOUND, record(1), HOLDS, ("done", {}))
    report, begun = checked(crashes, goes_on)
    assert begun == [["mine", "0"], ["mine", "1"]]
    first, second = report.records
    assert [(one.rule, one.passed) for one in first.findings] == [("one", True), ("two", False)]
    assert first.findings[1].message == (
        "with width=3 it killed the process by SIGSEGV; look at compiled code and at sizes"
    )
    assert (first.passed, second.passed, report.passed) == (False, True, False)
    assert [one.rule for one in second.findings] == ["one"]


def test_what_was_tried_for_one_rule_is_not_said_of_the_next(checked):
    last = Child(
        3, ("ready", {}), FOUND, record(1), ("rule", {"rule": "one"}),
        ("trying", {"tried": "with width=3"}), ("rule", {"rule": "two"}),
    )  # fmt: skip
    report, begun = checked(last)
    assert len(begun) == 1
    (finding,) = report.records[1].findings
    assert (finding.rule, finding.message[:41]) == (
        "two", "it ended the process with exit code 3; ne",
    )  # fmt: skip


def test_what_hangs_is_named_after_the_limit(checked):
    hangs = Child(None, ("ready", {}), FOUND, record(1), ("rule", {"rule": "two"}))
    report, _ = checked(hangs, limit=0.05)
    (finding,) = report.records[1].findings
    assert finding.message.startswith("it did not end within 0.05 s; look for an endless loop")


def test_what_ends_or_hangs_while_it_is_imported_is_a_fault(checked):
    for code, said in ((-9, "killed the process by SIGKILL (most likely"), (None, "did not end")):
        limit = 60.0 if code else 0.05
        report, begun = checked(Child(code, ("ready", {})), limit=limit)
        (fault,) = report.faults
        assert fault.message.startswith(f"importing it {said}")
        assert (len(begun), report.records, report.passed) == (1, [], False)


def test_a_package_that_is_not_there_is_refused(checked):
    with pytest.raises(ContractError, match="no plugin"):
        checked(Child(0, ("ready", {}), ("refused", {"message": "no plugin 'mine'"})))

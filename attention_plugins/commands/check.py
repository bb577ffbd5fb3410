"""Check everything that a package offers before others use it."""

import argparse
from collections.abc import Iterator
from dataclasses import asdict

from attention_plugins.checking.watching import Checked, check_package
from attention_plugins.commands.common import show
from attention_plugins.contract import ContractError
from attention_plugins.hookspecs import HOOKS


def run(given: argparse.Namespace) -> int:
    """Print what does not hold and what to change; 1 if anything does not."""
    if not given.limit > 0:
        raise ContractError(f"need 0 < limit in seconds, got {given.limit:g}")
    report = check_package(given.package, given.limit)
    facts = {
        "package": given.package, "passed": report.passed,
        "failures": [fault._asdict() for fault in report.faults],
        "records": [{**asdict(record), "passed": record.passed} for record in report.records],
    }  # fmt: skip
    lines = [f"failed: {f.plugin}: {f.message}; {f.advice}" for f in report.faults]
    lines += [line for record in report.records for line in _lines(record, given.verbose)]
    show(given, facts, lines)
    return 0 if report.passed else 1


def _lines(record: Checked, verbose: bool) -> Iterator[str]:
    waived = sum(bool(finding.waived) for finding in record.findings)
    held = sum(finding.passed for finding in record.findings) - waived
    total = len(record.findings)
    count = f"all {total} rules hold" if held == total else f"{held} of {total} rules hold"
    more = f", {waived} waived" if waived else ""
    yield f"{HOOKS[record.kind].noun} {record.name}: {count}{more}"
    alike: dict[str, list[str]] = {}
    for finding in record.findings:
        if not finding.passed:
            alike.setdefault(finding.message, []).append(finding.rule)
        elif finding.waived:
            yield f"  waived  {finding.rule}: {finding.waived}"
        elif verbose:
            yield f"  holds   {finding.rule} ({finding.seconds:.2f} s)"
    for message, rules in alike.items():
        yield f"  failed  {', '.join(rules)}: {message}"

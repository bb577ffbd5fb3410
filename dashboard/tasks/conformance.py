"""The conformance card of one record: every rule, whether it holds, and what to change if not."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from attention_plugins.checking import findings, rules
from attention_plugins.contract import ContractError
from attention_plugins.discovery import HOOKS
from attention_plugins.registry import installed
from dashboard.runs.request import Request
from dashboard.runs.result import Result
from dashboard.tasks.context import Context


def perform(request: Request, context: Context) -> Result:
    """Check the record that the options ``kind`` and ``name`` name.

    Returns:
        Facts ``findings``: of each rule ``rule``, ``passed``, ``message`` (what to change),
        ``waived`` and ``seconds``.

    Raises:
        ValueError: no such kind, or nothing of that name is installed.
    """
    options = dict(request.options)
    kind, name = str(options.get("kind", "")), str(options.get("name", ""))
    if kind not in HOOKS:
        raise ContractError(f"need kind to be one of {', '.join(HOOKS)}, got {kind!r}")
    registry = installed()
    registry.provider(kind, name)
    spec = getattr(registry, kind)[name]
    count = len(rules(kind, spec))
    found: list[dict[str, Any]] = []
    context.report(0.0, f"checking {count} rules")
    for finding in findings(kind, spec, {}):
        found.append(asdict(finding))
        context.report(len(found) / count, finding.rule.replace("_", " "))
    return Result(facts={"findings": found})

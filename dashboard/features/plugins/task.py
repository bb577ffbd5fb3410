"""The conformance card of one record: every rule, whether it holds, and what to change if not."""

import pkgutil
from dataclasses import asdict
from typing import Any

from attention_plugins.checking import findings, rules
from attention_plugins.checking.package import expected_failures
from attention_plugins.contract import ContractError
from attention_plugins.hookspecs import HOOKS
from attention_plugins.registry import installed
from dashboard.jobs.tasks import Context
from dashboard.records.request import Request, Result


def perform(request: Request, context: Context) -> Result:
    """Check the record that the options ``kind`` and ``name`` name.

    Returns:
        Facts ``findings``, see :class:`attention_plugins.checking.Finding`.

    Raises:
        ValueError: no such kind, or nothing of that name is installed.
    """
    options = dict(request.options)
    kind, name = str(options.get("kind", "")), str(options.get("name", ""))
    if kind not in HOOKS:
        raise ContractError(f"need kind to be one of {', '.join(HOOKS)}, got {kind!r}")
    registry = installed()
    plugin = registry.provider(kind, name)
    spec = registry.named(HOOKS[kind].record, name)
    waivers = expected_failures(pkgutil.resolve_name(plugin.module), name)
    count = len(rules(kind, spec))
    found: list[dict[str, Any]] = []

    def on_rule(rule: str) -> None:
        context.report(min(1.0, len(found) / count), rule.replace("_", " "))

    found.extend(asdict(finding) for finding in findings(kind, spec, waivers, on_rule))
    return Result(facts={"findings": found})

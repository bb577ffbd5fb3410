"""The conformance kit: whether a plugin holds everywhere, and what to change if it does not.

::

    from attention_plugins.checking import check_scoring

    for finding in check_scoring(my_scoring):
        print(finding.rule, finding.passed, finding.message)

Each rule is a public function ``check_<sentence>(spec)`` that raises :class:`Broken`. Nothing
here needs pytest; :mod:`attention_plugins.checking.pytest` gives each rule as a test.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType

from attention_plugins.checking.findings import Broken, Finding, findings, rules
from attention_plugins.contract import (
    CheckpointSpec,
    DatasetSpec,
    ModelSpec,
    ScoringSpec,
    Spec,
)
from attention_plugins.hookspecs import HOOKS

__all__ = [
    "Broken",
    "Finding",
    "check",
    "check_checkpoint",
    "check_dataset",
    "check_model",
    "check_scoring",
    "findings",
    "rules",
]

_NONE: Mapping[str, str] = MappingProxyType({})

for _hook in HOOKS.values():
    importlib.import_module(_hook.rules)  # which registers them


def check(
    kind: str, spec: Spec, *, expected_failures: Mapping[str, str] = _NONE
) -> tuple[Finding, ...]:
    """Every rule's finding on one record.

    Args:
        kind: one of :data:`~attention_plugins.hookspecs.HOOKS`, such as ``"scorings"``.
        spec: the record.
        expected_failures: rules that do not hold, with the reason why not. An unknown rule, and
            one that holds after all, are failed findings.

    Raises:
        ContractError: no such kind of records, or a record of another kind.
    """
    return tuple(findings(kind, spec, expected_failures))


def check_scoring(
    spec: ScoringSpec, *, expected_failures: Mapping[str, str] = _NONE
) -> tuple[Finding, ...]:
    """Every rule's finding on a scoring; see :func:`check`."""
    return check("scorings", spec, expected_failures=expected_failures)


def check_model(
    spec: ModelSpec, *, expected_failures: Mapping[str, str] = _NONE
) -> tuple[Finding, ...]:
    """Every rule's finding on a model; see :func:`check`."""
    return check("models", spec, expected_failures=expected_failures)


def check_checkpoint(
    spec: CheckpointSpec, *, expected_failures: Mapping[str, str] = _NONE
) -> tuple[Finding, ...]:
    """Every rule's finding on a checkpoint; see :func:`check`."""
    return check("checkpoints", spec, expected_failures=expected_failures)


def check_dataset(
    spec: DatasetSpec, *, expected_failures: Mapping[str, str] = _NONE
) -> tuple[Finding, ...]:
    """Every rule's finding on a data set; see :func:`check`."""
    return check("datasets", spec, expected_failures=expected_failures)

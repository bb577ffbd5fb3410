"""The conformance kit: whether a plugin holds everywhere, and what to change if it does not.

::

    from attention_plugins.checking import check_scoring

    for finding in check_scoring(my_scoring):
        print(finding.rule, finding.passed, finding.message)

Each rule is a public function ``check_<sentence>(spec)`` that raises :class:`Broken`. Nothing
here needs pytest; :mod:`attention_plugins.checking.pytest` gives each rule as a test.
"""

import importlib
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from attention_plugins.checking.findings import Broken, Finding, findings, rules
from attention_plugins.contract import Spec
from attention_plugins.hookspecs import HOOKS

__all__ = [
    "Broken", "Finding", "check", "check_checkpoint", "check_dataset", "check_model",
    "check_scoring", "findings", "rules",
]  # fmt: skip

NO_FAILURES: Mapping[str, str] = MappingProxyType({})

for _hook in HOOKS.values():
    importlib.import_module(_hook.rules)  # which registers them


def check(
    kind: str, spec: Spec, *, expected_failures: Mapping[str, str] = NO_FAILURES
) -> tuple[Finding, ...]:
    """Every rule's finding on one record.

    Args:
        kind: one of :data:`~attention_plugins.hookspecs.HOOKS`, such as ``"scorings"``.
        expected_failures: rules that do not hold, with the reason why not. An unknown rule, and
            one that holds after all, are failed findings.

    Raises:
        ContractError: no such kind of records, or a record of another kind.
    """
    return tuple(findings(kind, spec, expected_failures))


# Of the records that most packages hold, as ``check_scoring(spec, expected_failures={...})``.
check_scoring = partial(check, "scorings")
check_model = partial(check, "models")
check_checkpoint = partial(check, "checkpoints")
check_dataset = partial(check, "datasets")

"""Each rule as a test of pytest's. Pytest itself is not imported: it names a case by its rule.

A whole test file::

    import pytest
    from attention_plugins.checking.pytest import scoring_rules
    from my_plugin import my_scoring

    @pytest.mark.parametrize("rule", scoring_rules(my_scoring))
    def test_it_holds_everywhere(rule):
        rule()
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attention_plugins.checking import Broken, rules
from attention_plugins.checking.findings import Rule, judge
from attention_plugins.contract import (
    CheckpointSpec,
    ContractError,
    DatasetSpec,
    ModelSpec,
    ScoringSpec,
    Spec,
)

_NONE: Mapping[str, str] = MappingProxyType({})


class Case:
    """One rule on one record; calling it raises :class:`Broken` where the rule does not hold.

    A rule with a waiver must not hold: one that does raises too.
    """

    def __init__(self, rule: str, check: Rule, spec: Spec, waived: str) -> None:
        self.__name__ = rule  # pytest's name of the case
        self._check, self._spec, self._waived = check, spec, waived

    def __call__(self) -> None:
        """Judge the rule."""
        finding = judge(self.__name__, self._check, self._spec, self._waived)
        if not finding.passed:
            raise Broken(finding.message)


def cases(kind: str, spec: Spec, *, expected_failures: Mapping[str, str] = _NONE) -> list[Case]:
    """The rules of any kind of record, for ``pytest.mark.parametrize``.

    Raises:
        ContractError: a waiver of a rule that does not exist.
    """
    found = rules(kind, spec)
    if unknown := sorted(expected_failures.keys() - found.keys()):
        raise ContractError(
            f"no rule {unknown[0]!r} for {spec.name!r}; the rules are {', '.join(found)}"
        )
    return [
        Case(name, check, spec, expected_failures.get(name, "")) for name, check in found.items()
    ]


def scoring_rules(
    spec: ScoringSpec, *, expected_failures: Mapping[str, str] = _NONE
) -> list[Case]:
    """See :func:`cases`."""
    return cases("scorings", spec, expected_failures=expected_failures)


def model_rules(spec: ModelSpec, *, expected_failures: Mapping[str, str] = _NONE) -> list[Case]:
    """See :func:`cases`."""
    return cases("models", spec, expected_failures=expected_failures)


def checkpoint_rules(
    spec: CheckpointSpec, *, expected_failures: Mapping[str, str] = _NONE
) -> list[Case]:
    """See :func:`cases`."""
    return cases("checkpoints", spec, expected_failures=expected_failures)


def dataset_rules(
    spec: DatasetSpec, *, expected_failures: Mapping[str, str] = _NONE
) -> list[Case]:
    """See :func:`cases`."""
    return cases("datasets", spec, expected_failures=expected_failures)

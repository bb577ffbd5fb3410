"""Each rule as a test of pytest's. Pytest itself is not imported: it names a case by its rule.

A whole test file::

    import pytest
    from attention_plugins.checking.pytest import scoring_rules
    from my_plugin import my_scoring

    @pytest.mark.parametrize("rule", scoring_rules(my_scoring))
    def test_it_holds_everywhere(rule):
        rule()
"""

from collections.abc import Callable, Mapping
from functools import partial

from attention_plugins.checking import NO_FAILURES, Broken, rules
from attention_plugins.checking.findings import Rule, judge
from attention_plugins.contract import ContractError, Spec

Case = Callable[[], None]  # raises Broken where its rule, which is its name, does not hold


def cases(
    kind: str, spec: Spec, *, expected_failures: Mapping[str, str] = NO_FAILURES
) -> list[Case]:
    """The rules of any kind of record, for ``pytest.mark.parametrize``.

    A rule with a waiver must not hold: one that does fails too. ContractError: a waiver of what
    is no rule.
    """
    found = rules(kind, spec)
    if unknown := sorted(expected_failures.keys() - found.keys()):
        raise ContractError(
            f"no rule {unknown[0]!r} for {spec.name!r}; the rules are {', '.join(found)}"
        )
    return [_case(name, one, spec, expected_failures.get(name, "")) for name, one in found.items()]


def _case(rule: str, check: Rule, spec: Spec, waived: str) -> Case:
    def case() -> None:
        finding = judge(rule, check, spec, waived)
        if not finding.passed:
            raise Broken(finding.message)

    case.__name__ = rule  # pytest's name of the case
    return case


# Of the records that most packages hold, as ``scoring_rules(spec, expected_failures={...})``.
scoring_rules = partial(cases, "scorings")
model_rules = partial(cases, "models")
checkpoint_rules = partial(cases, "checkpoints")
dataset_rules = partial(cases, "datasets")

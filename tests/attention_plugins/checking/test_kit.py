"""The kit itself: findings, strict waivers, pytest's cases, records of all kinds."""

from __future__ import annotations

import random

import pytest
import torch

from attention_plugins import ContractError, Parameter, scoring
from attention_plugins.checking import Broken, Finding, check, check_model, check_scoring, rules
from attention_plugins.checking.pytest import scoring_rules
from attention_plugins.checking.records import formula_problem, values_of
from attention_plugins.models.nadaraya_watson import NADARAYA_WATSON
from attention_plugins.models.self_attention import SELF_ATTENTION
from attention_plugins.scorings.dot import dot_product
from attention_plugins.scorings.kernels import GAUSSIAN

ORDER = "moving_a_key_moves_its_scores"
REASON = "it prefers what comes late"


@scoring("late", formula="q^\\top k + j", reference="nobody", same_size=True)
def late(queries, keys):
    return queries @ keys.mT + torch.arange(keys.shape[-2], device=keys.device)


@scoring("raises", formula="q^\\top k", reference="nobody", same_size=True)
def raises(queries, keys):
    raise SystemExit("not today")


def failed(findings):
    return {finding.rule: finding.message for finding in findings if not finding.passed}


@pytest.mark.parametrize("model", [NADARAYA_WATSON, SELF_ATTENTION])
def test_models_that_do_not_translate_keep_every_rule(model):
    assert failed(check_model(model)) == {}


def test_a_finding_says_which_rule_how_long_and_that_nothing_is_wrong():
    found = check("scorings", dot_product)
    assert [finding.rule for finding in found] == list(rules("scorings", dot_product))
    assert {finding.message for finding in found} == {""}
    assert all(0 < finding.seconds < 60 for finding in found)


def test_a_rule_is_a_function_that_raises():
    from attention_plugins.checking.scorings.independence import (
        check_moving_a_key_moves_its_scores,
    )

    assert check_moving_a_key_moves_its_scores(dot_product) is None
    with pytest.raises(Broken, match="order of the keys"):
        check_moving_a_key_moves_its_scores(late)


def test_a_waiver_says_why_a_rule_may_fail():
    assert list(failed(check_scoring(late))) == [ORDER]
    found = check_scoring(late, expected_failures={ORDER: REASON})
    assert failed(found) == {}
    assert [(f.rule, f.waived) for f in found if f.waived] == [(ORDER, REASON)]


def test_a_waiver_that_is_not_needed_or_unknown_is_a_failure():
    waivers = {"scores_are_finite": REASON, "it_is_beautiful": REASON, ORDER: REASON}
    found = failed(check_scoring(late, expected_failures=waivers))
    assert set(found) == {"scores_are_finite", "it_is_beautiful"}
    assert "but holds; take its waiver away" in found["scores_are_finite"]
    assert "there is no rule 'it_is_beautiful'" in found["it_is_beautiful"]


def test_a_plugin_that_raises_breaks_rules_with_its_last_line():
    found = failed(check_scoring(raises))
    place = "test_kit.py, line"
    assert list(found) == ["it_can_be_built_and_asked"]
    assert "it raised SystemExit: not today" in found["it_can_be_built_and_asked"]
    assert place in found["it_can_be_built_and_asked"]


def test_the_place_is_the_plugin_s_line_not_torch_s():
    @scoring("cdist", formula="q^\\top k", reference="nobody", same_size=True)
    def cdist(queries, keys):
        return torch.cdist(queries, keys[..., 1:])

    message = failed(check_scoring(cdist))["it_can_be_built_and_asked"]
    assert f"(test_kit.py, line {cdist_line(cdist)})" in message


def cdist_line(spec):
    from attention_plugins import Sizes

    return spec.create(Sizes(5, 5, 5)).function.__code__.co_firstlineno + 2


def test_only_rules_that_apply_are_asked():
    learnable = "learnable_parameters_are_weights"
    assert learnable in rules("scorings", GAUSSIAN)
    assert learnable not in rules("scorings", dot_product)
    assert "points_have_no_order" not in rules("models", SELF_ATTENTION)


def test_another_kind_or_record_is_refused():
    kinds = (
        "scorings, normalisers, layers, models, datasets, tokenisers, metrics, translations, "
        "checkpoints"
    )
    with pytest.raises(ContractError, match=f"need a kind of {kinds}"):
        check("charts", dot_product)
    with pytest.raises(ContractError, match="models are checked from a ModelSpec"):
        check("models", dot_product)


def test_checking_draws_nothing_from_the_generators_of_others():
    before = torch.get_rng_state(), random.getstate()
    check_scoring(GAUSSIAN)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]


@pytest.mark.parametrize("rule", scoring_rules(dot_product))
def test_pytest_shows_each_rule_as_a_case(rule, request):
    assert f"[{rule.__name__}]" in request.node.name
    rule()


def test_a_case_raises_what_is_broken_and_keeps_waivers_strict():
    (case,) = [case for case in scoring_rules(late) if case.__name__ == ORDER]
    with pytest.raises(Broken, match="order of the keys"):
        case()
    waivers = {ORDER: REASON, "scores_are_finite": REASON}
    cases = {case.__name__: case for case in scoring_rules(late, expected_failures=waivers)}
    cases[ORDER]()
    with pytest.raises(Broken, match="take its waiver away"):
        cases["scores_are_finite"]()
    with pytest.raises(ContractError, match="no rule 'orders' for 'late'; the rules are it_can"):
        scoring_rules(late, expected_failures={"orders": REASON})


def test_findings_are_plain_values():
    assert Finding(rule="a", passed=True) == Finding(rule="a", passed=True, message="")


@pytest.mark.parametrize(
    ("formula", "problem"),
    [
        (r"\frac{q}{k}", ""),
        (r"\{q\} \left( k \right) \leftarrow \rightarrow", ""),
        ("", ""),
        ("$q k$", "dollars"),
        (r"\frac{q}{k", "braces"),
        ("}q{", "braces"),
        (r"\left( q k)", r"\left without \right"),
    ],
)
def test_formulas_that_cannot_be_set_are_seen(formula, problem):
    found = formula_problem(formula)
    assert problem in found
    assert bool(found) == bool(problem)


def test_of_a_number_in_steps_the_highest_step_is_tried():
    kernel = Parameter(name="kernel", title="Kernel", default=5, low=3, high=10, step=2)
    width = Parameter(name="width", title="Width", default=1.0, low=0.5, high=8.25, step=1.0)
    assert values_of(kernel, on_step=True) == [3, 5, 9]
    assert values_of(width, on_step=True) == [0.5, 1.0, 8.25]
    assert values_of(kernel) == [3, 5, 10]


def test_a_choice_a_switch_and_a_number_are_tried_at_all_their_values():
    seen = []

    @scoring(
        "choices", formula="q^\\top k", reference="nobody", same_size=True,
        parameters=(
            Parameter(name="side", title="Side", default="left", choices=("left", "right")),
            Parameter(name="sharp", title="Sharp", default=True),
            Parameter(name="power", title="Power", default=2, low=1, high=4),
        ),
    )  # fmt: skip
    def choices(queries, keys, side, sharp, power):
        seen.append((side, sharp, power))
        factor = (1 if side == "left" else -1) * (2 if sharp else 1) * power
        return factor * queries @ keys.mT

    assert failed(check_scoring(choices)) == {}
    given = {("left", True, 2), ("right", True, 2), ("left", False, 2)}
    assert set(seen) == given | {("left", True, 1), ("left", True, 4)}

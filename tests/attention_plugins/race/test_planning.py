import pytest

from attention_plugins.contract import ContractError
from attention_plugins.race.records import Contestant
from attention_plugins.race.trials import REFERENCES, TASKS, plan
from attention_plugins.registry import installed


def test_all_scorings_run_their_own_way_and_all_normalisers_with_the_reference():
    registry = installed()
    found = plan(tasks=("copy",))
    ways = [who.normaliser for who in found.contestants if who.scoring == "scaled_dot"]
    assert {who.scoring for who in found.contestants} == set(registry.scorings)
    assert ways == ["", *(name for name in registry.normalisers if name != "softmax")]
    assert {who.scoring for who in found.contestants if who.normaliser} == {"scaled_dot"}
    assert {who.model for who in found.contestants} == {"bahdanau"}


def test_each_kind_of_task_has_its_model_and_its_reference():
    found = plan()
    assert tuple(found.tasks) == TASKS
    by_model = {who.model: who.scoring for who in found.contestants if who.normaliser}
    assert by_model == {
        "nadaraya_watson": REFERENCES["regression"], "bahdanau": REFERENCES["translation"],
    }  # fmt: skip


def test_named_scorings_run_alone_and_with_every_normaliser_that_is_named():
    names = {"scorings": ("cosine", "=q.k"), "tasks": ("copy",)}
    assert [who.name for who in plan(**names).contestants] == [
        "cosine", "=dot(q, k)",
    ]  # fmt: skip
    found = plan(**names, normalisers=("sparsemax",), every_pair=True)
    assert [who.name for who in found.contestants] == [
        "cosine", "=dot(q, k)", "cosine + sparsemax", "=dot(q, k) + sparsemax",
    ]  # fmt: skip
    assert found.contestants[2] == Contestant(
        model="bahdanau", scoring="cosine", normaliser="sparsemax"
    )


def test_a_scoring_that_makes_its_own_weights_gets_no_normaliser():
    names = {"scorings": ("monotonic", "cosine"), "normalisers": ("sparsemax",)}
    found = plan(**names, tasks=("copy",), every_pair=True)
    assert [who.name for who in found.contestants] == [
        "monotonic", "cosine", "cosine + sparsemax",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"tasks": ("nothing",)}, "nothing"), ({"scorings": ("nobody",)}, "nobody"),
        ({"normalisers": ("never",)}, "never"),
        ({"tasks": ("copy", "sine"), "models": ("bahdanau",)}, "no model for regression"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_named(given, why):
    with pytest.raises(ContractError, match=why):
        plan(**given)


def test_budgets_and_references_are_those_that_races_were_run_with():
    made = plan(tasks=["sine", "copy", "phrasebook"], scorings=["dot"]).tasks
    assert [(one.examples, one.epochs, one.batch_size, one.widen) for one in made.values()] == [
        (50, 150, 50, 2), (1000, 12, 64, 2), (3000, 12, 32, 2),
    ]  # fmt: skip
    assert made["sine"].rates == (0.01, 0.03, 0.1, 0.3)
    assert made["copy"].rates == made["phrasebook"].rates == (0.003, 0.01, 0.03, 0.1)
    assert [REFERENCES[kind] for kind in ("zoology", "mad")] == ["scaled_dot", "rope"]

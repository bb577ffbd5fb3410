import copy

from dashboard.records.catalogue import Catalogue
from dashboard.ui.reloading import NO_CHANGE, describe_changes


def installed(facts, offers, version="0.3", failures=()):
    """A catalogue with one plugin, of the distribution ``attention-student-t``."""
    name = "attention-student-t"
    return Catalogue.of(
        {
            **copy.deepcopy(facts),
            "distributions": [{"name": name, "version": version, "summary": "", "links": []}],
            "plugins": [
                {"name": "p", "distribution": name, "module": "m", "contract": "",
                 "built_in": False, "offers": offers}
            ],
            "failures": [
                {"plugin": "p", "distribution": who, "stage": "import", "message": message}
                for who, message in failures
            ],
        }
    )  # fmt: skip


def test_additions_and_removals_are_named_with_kind_and_owner(facts):
    before = installed(facts, {"scorings": ["cauchy", "kept"]})
    after = installed(facts, {"scorings": ["kept", "student_t"], "models": ["cauchy"]})
    assert describe_changes(before, after) == (
        "student_t is new: a scoring of attention-student-t.",
        "cauchy is new: a model of attention-student-t.",
        "cauchy is gone: a scoring of attention-student-t.",
    )


def test_models_that_no_package_brings_are_named(facts):
    offers = {"checkpoints": ["one"], "scorings": ["two"]}
    before = installed({**facts, "checkpoints": facts["checkpoints"][:2]}, offers)
    after = installed({**facts, "checkpoints": facts["checkpoints"][2:3]}, offers)
    assert describe_changes(before, after) == (
        "three is new: a model kept on this server.",
        "two is gone: a model kept on this server.",
    )


def test_new_versions_new_problems_and_solved_problems_are_named(facts):
    before = installed(facts, {}, failures=[("a", "old problem"), ("b", "no module x")])
    after = installed(facts, {}, "0.4", failures=[("b", "no module y"), ("c", "z" * 500)])
    assert describe_changes(before, after) == (
        "attention-student-t is now 0.4; it was 0.3.",
        "b has a problem: no module y",
        f"c has a problem: {'z' * 200}",
        "a has no problem any more.",
    )


def test_equal_catalogues_give_one_sentence(facts):
    same = installed(facts, {"scorings": ["kept"]}, failures=[("a", "problem")])
    assert describe_changes(same, same) == (NO_CHANGE,)

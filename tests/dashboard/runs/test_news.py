import copy

from dashboard.runs.news import NOTHING, news
from dashboard.runs.offers import Catalogue


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


def test_what_is_new_or_gone_is_said_with_its_kind_and_its_owner(facts):
    before = installed(facts, {"scorings": ["cauchy", "kept"]})
    after = installed(facts, {"scorings": ["kept", "student_t"], "models": ["cauchy"]})
    assert news(before, after) == (
        "student_t is new: a scoring of attention-student-t.",
        "cauchy is new: a model of attention-student-t.",
        "cauchy is gone: a scoring of attention-student-t.",
    )


def test_a_new_version_a_fault_and_a_repair_are_said(facts):
    before = installed(facts, {}, failures=[("a", "old fault"), ("b", "no module x")])
    after = installed(facts, {}, "0.4", failures=[("b", "no module y"), ("c", "z" * 500)])
    assert news(before, after) == (
        "attention-student-t is now 0.4; it was 0.3.",
        "b has a problem: no module y",
        f"c has a problem: {'z' * 200}",
        "a has no problem any more.",
    )


def test_nothing_is_said_too(facts):
    same = installed(facts, {"scorings": ["kept"]}, failures=[("a", "fault")])
    assert news(same, same) == (NOTHING,)

"""``check PACKAGE``: what it prints of good and bad packages, and of those that never end."""

from __future__ import annotations

import json
import textwrap
from dataclasses import replace

import pytest

from attention_plugins.checking import package, rules, watching
from attention_plugins.checking.package import contents
from attention_plugins.commands import main
from attention_plugins.contract import ContractError
from attention_plugins.discovery import Failure, Plugin
from attention_plugins.registry import load
from attention_plugins.scorings.dot import dot_product

RULES = len(rules("scorings", dot_product))

HEAD = """
import os, time
from attention_plugins import hookimpl, scoring

def make(name):
    return scoring(name, formula="q^\\\\top k", reference="nobody", same_size=True)
"""
GOOD = """
@make("good")
def good(queries, keys):
    return queries @ keys.mT
"""
LATE = """
@make("late")
def late(queries, keys):
    return queries @ keys.mT + __import__("torch").arange(keys.shape[-2])
"""
LOOP = """
@make("loop")
def loop(queries, keys):
    print("noise on standard output", flush=True)
    while True:
        time.sleep(0.01)
"""
CRASH = """
@make("crash")
def crash(queries, keys):
    os.kill(os.getpid(), 11)
"""


def hook(*names):
    return f"\n@hookimpl\ndef attention_scorings():\n    return [{', '.join(names)}]\n"


@pytest.fixture
def write(tmp_path):
    def write(*parts, name="mine"):
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent("".join((HEAD, *parts))), "utf-8")
        return str(path)

    return write


@pytest.mark.slow
def test_what_crashes_or_hangs_is_named_and_costs_no_other(write, capfd):
    """Each of them ends its process; the next record gets a process of its own."""
    path = write(CRASH, LOOP, hook("crash", "loop"))
    assert main(["check", path, "--limit", "3", "--json"]) == 1
    report = json.loads(capfd.readouterr().out)
    assert not report["passed"]
    assert [record["name"] for record in report["records"]] == ["crash", "loop"]
    (crash,), (loop,) = (record["findings"] for record in report["records"])
    assert crash["rule"] == loop["rule"] == "it_can_be_built_and_asked"
    assert "it killed the process by SIGSEGV" in crash["message"]
    assert "did not end within 3 s; look for an endless loop" in loop["message"]


@pytest.mark.slow
def test_what_comes_after_a_crash_is_checked(write, capsys):
    assert main(["check", write(CRASH, LATE, GOOD, hook("crash", "late", "good"))]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "scoring crash: 0 of 1 rules hold"
    assert lines[2] == f"scoring late: {RULES - 2} of {RULES} rules hold"
    assert lines[-1] == f"scoring good: all {RULES} rules hold"


@pytest.mark.slow
def test_a_good_package_is_praised_in_one_line_or_rule_by_rule(write, capsys):
    path = write(GOOD, hook("good"))
    assert main(["check", path]) == 0
    assert capsys.readouterr().out == f"scoring good: all {RULES} rules hold\n"
    assert main(["check", path, "--verbose"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == RULES + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("while True: time.sleep(0.01)", "importing it did not end within 3 s"),
        ("os._exit(3)", "importing it ended the process with exit code 3"),
    ],
)
def test_what_never_gets_imported_is_named(write, capsys, code, message):
    assert main(["check", write(code), "--limit", "3"]) == 1
    assert message in capsys.readouterr().out


@pytest.mark.slow
def test_a_package_that_is_not_there_is_bad_usage(capsys):
    assert main(["check", "nothing_of_this_name"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "no plugin 'nothing_of_this_name'; need an installed distribution" in captured.err


def test_a_limit_is_positive(capsys):
    assert main(["check", "anything", "--limit", "0"]) == 2
    assert "need 0 < limit in seconds, got 0" in capsys.readouterr().err


def report(*findings):
    record = watching.Checked("scorings", "mine", [watching.Finding(**f) for f in findings])
    return watching.Report([record], [watching.Fault("mine", "what is wrong", "what to do")])


def test_lines_are_few_and_equal_messages_are_said_once(monkeypatch, capsys):
    found = report(
        {"rule": "one", "passed": True, "seconds": 0.123},
        {"rule": "two", "passed": False, "message": "change this"},
        {"rule": "three", "passed": False, "message": "change this"},
        {"rule": "four", "passed": True, "waived": "a reason"},
    )
    monkeypatch.setattr("attention_plugins.commands.packages.check_package", lambda *given: found)
    assert main(["check", "mine"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "failed: mine: what is wrong; what to do",
        "scoring mine: 1 of 4 rules hold, 1 waived",
        "  waived  four: a reason",
        "  failed  two, three: change this",
    ]
    assert main(["check", "mine", "--verbose"]) == 1
    assert "  holds   one (0.12 s)" in capsys.readouterr().out.splitlines()


def messages(package):
    return [fault.message for fault in contents(package).faults]


def test_what_is_wrong_before_any_rule_is_said(write):
    assert messages(write("1 / 0", name="zero")) == [
        "ZeroDivisionError: division by zero (zero.py, line 7)"
    ]
    assert messages(write("raise SystemExit(3)", name="exits"))[0].startswith("SystemExit: 3")
    assert "implements no hook" in messages(write(name="empty"))[0]
    (misspelt,) = messages(write("@hookimpl\ndef attention_scoring(): pass\n", name="misspelt"))
    assert "did you mean attention_scorings?" in misspelt
    assert messages(write(hook(), name="nothing"))[0] == "it offers nothing"
    clash = write('@make("dot")\ndef dot(queries, keys): ...\n', hook("dot", "dot"), name="clash")
    assert messages(clash)[0] == 'scoring "dot" has the name of a built-in'
    assert messages(clash)[-1] == 'scoring "dot" is offered 2 times'


def test_a_name_that_another_installed_plugin_has_is_a_fault(write, monkeypatch):
    """Both would be refused, and checkpoints of either would stop working."""
    mine = write('@make("near")\ndef near(queries, keys): ...\n', hook("near"), name="mine")
    other = Plugin(name="other", distribution="far-pack", version="1", module="far",
                   offers={"scorings": ("near",), "models": ("mine",)})  # fmt: skip
    known = load(allow=[])
    monkeypatch.setattr(package, "load", lambda: replace(known, plugins=(*known.plugins, other)))
    assert messages(mine) == ['scoring "near" has the name of one of far-pack']
    itself = replace(other, module="mine")
    monkeypatch.setattr(package, "load", lambda: replace(known, plugins=(*known.plugins, itself)))
    assert messages(mine) == []


def test_an_installed_package_of_several_modules_does_not_clash_with_itself(tmp_path, monkeypatch):
    for name in ("one", "two"):
        code = f'@make("{name}_of_two")\ndef {name}(queries, keys): ...\n{hook(name)}'
        (tmp_path / f"checked_{name}.py").write_text(HEAD + code, "utf-8")
    info = tmp_path / "two_modules-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: two-modules\nVersion: 1\n")
    points = "[attention_plugins]\none = checked_one\ntwo = checked_two\n"
    (info / "entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(tmp_path)
    found = contents("two-modules")
    assert [offer.spec.name for offer in found.offers] == ["one_of_two", "two_of_two"]
    assert found.faults == []


def test_a_name_that_is_claimed_twice_is_a_fault_where_both_are_installed(write, monkeypatch):
    mine = write('@make("near")\ndef near(queries, keys): ...\n', hook("near"), name="mine")
    claimed = 'scoring "near" is claimed by mine (mine) and by far-pack (other)'
    failures = tuple(
        Failure(plugin=name, distribution=name, stage="clash", message=message, advice="rename",
                module=name)
        for name, message in (("mine", claimed), ("other", "another's"), ("mine", "else"))
    )  # fmt: skip
    known = replace(load(allow=[]), failures=failures)
    monkeypatch.setattr(package, "load", lambda: known)
    assert messages(mine) == [claimed]


def test_a_plugin_may_say_which_rules_it_does_not_keep(write):
    reasons = 'ATTENTION_EXPECTED_FAILURES = {"good": {"scores_are_finite": "why"}}\n'
    (offer,) = contents(write(GOOD, hook("good"), reasons, name="waived")).offers
    assert (offer.kind, offer.spec.name) == ("scorings", "good")
    assert offer.expected_failures == {"scores_are_finite": "why"}
    wrong = contents(
        write(GOOD, hook("good"), "ATTENTION_EXPECTED_FAILURES = ['good']\n", name="w")
    )
    (fault,) = wrong.faults
    assert fault.message == "ATTENTION_EXPECTED_FAILURES is no mapping of records to rules"
    assert 'write {"good": {"a_rule": "the reason"}}' in fault.advice


def test_a_package_is_a_module_a_folder_a_project_or_a_distribution(tmp_path, write, monkeypatch):
    package = tmp_path / "project" / "src" / "mypackage_in_src"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(HEAD + GOOD + hook("good"), "utf-8")
    pyproject = tmp_path / "project" / "pyproject.toml"
    pyproject.write_text('[project.entry-points.attention_plugins]\na = "mypackage_in_src"\n')
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    for given in (tmp_path / "project", package, "mypackage_in_src"):
        assert [offer.spec.name for offer in contents(str(given)).offers] == ["good"]
    built_in = contents("Attention_Workbench")
    assert built_in.faults == []
    assert {offer.kind for offer in built_in.offers} >= {"scorings", "models", "datasets"}
    pyproject.write_text("[project]\n")
    with pytest.raises(ContractError, match="announces no plugin; need a table"):
        contents(str(tmp_path / "project"))
    with pytest.raises(ContractError, match=r"need a \.py file, or a folder with"):
        contents(str(tmp_path))


OWN_METRIC = """
from attention_plugins import DatasetSpec, MetricSpec, Parameter, SentencePair

def load(values, seed):
    while values["pairs"] == 90:
        time.sleep(0.1)
    return [SentencePair(f"a b c d{n}", "x y") for n in range(values["pairs"])]

@hookimpl
def attention_metrics():
    yield MetricSpec(
        name="mine", title="Mine", reference="nobody",
        score=lambda said, right: 100 * sum(a in b for a, b in zip(said, right)) / len(said),
    )

@hookimpl
def attention_datasets():
    yield DatasetSpec(
        name="data", title="Data", task="translation", load=load, metric="mine",
        reference="nobody",
        parameters=(Parameter(name="pairs", title="Pairs", default=20, low=10, high=90),),
    )
"""


@pytest.mark.slow
def test_a_value_that_never_ends_is_named_and_a_metric_beside_it_is_known(write, capfd):
    assert main(["check", write(OWN_METRIC), "--limit", "4"]) == 1
    said = capfd.readouterr().out
    assert "every_parameter_is_used: with pairs=90 it did not end within 4 s" in said
    assert "its_metric_is_installed" not in said
    assert "metric mine: all 5 rules hold" in said


@pytest.mark.slow
def test_a_formula_is_checked_as_a_package_is(capsys):
    assert main(["check", "=-max(abs(q - k)) / w"]) == 0
    assert (
        capsys.readouterr().out == f"scoring =-max(abs(q - k)) / w: all {RULES + 1} rules hold\n"
    )
    assert main(["check", "=q.k + b"]) == 1
    assert "failed  every_weight_learns" in capsys.readouterr().out
    assert main(["check", "=q.k +"]) == 2
    assert "formula, character 7: the formula ends too early" in capsys.readouterr().err

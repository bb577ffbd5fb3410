import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from support.outcomes import contestant, outcome

from attention_plugins.commands import main
from attention_plugins.commands import race as race_command
from attention_plugins.race import trials
from attention_plugins.race.field.tasks import TASKS
from attention_plugins.race.records import Budget, Contestant, Plan
from attention_plugins.race.store import Race
from attention_plugins.registry import installed

QUICK = [
    "--tasks", "sine", "--scorings", "gaussian", "uniform", "--tuning-seeds", "1", "--seeds", "2",
]  # fmt: skip
EACH = 2 + 4  # seeds, and rates of a new race
WIDER = 2  # beyond the edge that the Gaussian kernel's best rate lies at
ALL = 2 * EACH + WIDER


@pytest.fixture(autouse=True)
def _few_epochs(monkeypatch):
    usual = trials._BUDGETS["regression"]
    monkeypatch.setitem(trials._BUDGETS, "regression", replace(usual, epochs=20))


def raced(capsys, *arguments):
    code = main(["race", *arguments])
    return code, capsys.readouterr()


def test_a_race_is_run_and_gone_on_with_and_others_join_it(tmp_path, capsys):
    folder = tmp_path / "one"
    code, said = raced(capsys, "--output", str(folder), *QUICK, "--json")
    assert code == 0
    facts = json.loads(said.out)
    assert facts.pop("hours") > 0
    assert 0 < facts.pop("share") < 100
    assert facts == {"race": str(folder), "trials": ALL, "of": ALL, "problems": []}
    lines = (folder / "outcomes.jsonl").read_text().splitlines()
    (folder / "outcomes.jsonl").write_text("\n".join(lines[:-2]) + "\n")
    assert raced(capsys, "--output", str(folder))[0] == 0
    again = (folder / "outcomes.jsonl").read_text().splitlines()
    assert again[:-2] == lines[:-2]
    assert len(again) == ALL
    before, after = (sorted(_numbers(each)) for each in (lines, again))
    assert before == after

    mine = tmp_path / "mine"
    code, _ = raced(
        capsys, "--output", str(mine), "--join", str(folder), "--scorings", "=-|q - k| / w"
    )
    assert code == 0
    joined = Race.open(mine)
    assert [who.name for who in joined.plan.contestants] == [
        "gaussian", "uniform", "=-norm(q - k) / w",
    ]  # fmt: skip
    assert len(joined.outcomes()) >= ALL + EACH
    assert (mine / "outcomes.jsonl").read_text().splitlines()[:ALL] == again


def test_a_task_of_the_field_is_learned_at_each_rate_and_others_join(
    tmp_path, capsys, monkeypatch
):
    budget = Budget(examples=60, epochs=1, batch_size=30, rates=(0.01, 0.001))
    small = {"pairs": 1, "power": 0.01, "random_non_queries": False}
    tiny = replace(
        TASKS["mqar_64_4"], name="quick_8", vocabulary=12, length=8, budget=budget, reported=30,
        settings=small,
    )  # fmt: skip
    monkeypatch.setitem(TASKS, "quick_8", tiny)
    folder = tmp_path / "field"
    asked = ["--tasks", "quick", "--scorings", "scaled_dot"]  # all tasks of that family
    for _ in range(2):
        assert raced(capsys, "--output", str(folder), *asked)[0] == 0
    race = Race.open(folder)
    assert (race.plan.tasks, race.plan.seeds) == ({"quick_8": budget}, 0)
    found = [(one.trial.rate, one.trial.tuning, one.ended) for one in race.outcomes()]
    assert found == [(0.01, True, "out of budget"), (0.001, True, "out of budget")]

    mine = tmp_path / "mine"
    joined = raced(capsys, "--output", str(mine), "--join", str(folder), "--scorings", "dot")
    assert joined[0] == 0
    assert [one.trial.contestant.scoring for one in Race.open(mine).outcomes()] == [
        "scaled_dot", "scaled_dot", "dot", "dot",
    ]  # fmt: skip


def test_a_race_is_verified_by_repeating_some_of_it(tmp_path, capsys):
    folder = tmp_path / "theirs"
    assert raced(capsys, "--output", str(folder), *QUICK)[0] == 0
    code, said = raced(capsys, "--output", str(folder), "--verify", "5")
    assert code == 0
    assert "5 of 5 came out the same" in said.out
    assert len(Race.open(folder).outcomes()) == ALL

    outcomes = folder / "outcomes.jsonl"
    lines = outcomes.read_text().splitlines()
    number = next(n for n, line in enumerate(lines) if json.loads(line)["trial"]["tuning"])
    better = json.loads(lines[number]) | {"validation": 0.001}
    outcomes.write_text("\n".join([*lines[:number], json.dumps(better), *lines[number + 1 :]]))
    code, said = raced(capsys, "--output", str(folder), "--verify", "99", "--json")
    assert code == 1
    facts = json.loads(said.out)
    assert facts["repeated"] == ALL
    ((other,)) = facts["otherwise"]
    assert other.startswith("sine/nadaraya_watson/")
    assert "tuning 1000000: 0.001, again " in other


def _numbers(lines):
    """What is not a matter of time."""
    for line in lines:
        found = json.loads(line)
        yield json.dumps({k: v for k, v in found.items() if k not in ("milliseconds", "seconds")})


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--seeds", "1"], "need 2 <= seeds"),
        (["--processes", "0"], "1 <= processes"),
        (["--budget", "0"], "1 <= budget"),
        (["--tuning-seeds", "0"], "1 <= tuning seeds"),
        (["--join", "--budget", "2", "--scorings", "dot"], "without --budget"),
        (["--tasks", "nothing"], "nothing"),
        (["--join", "/nowhere", "--scorings", "dot"], "holds no race"),
    ],
)
def test_what_cannot_be_raced_is_said_in_a_line(tmp_path, capsys, arguments, why):
    code, said = raced(capsys, "--output", str(tmp_path / "race"), *arguments)
    assert code == 2
    assert why in said.err
    assert not (tmp_path / "race").exists()


def test_the_same_command_goes_on_with_its_race(tmp_path, capsys):
    assert raced(capsys, "--output", str(tmp_path), *QUICK)[0] == 0
    done = (tmp_path / "outcomes.jsonl").read_bytes()
    code, said = raced(capsys, "--output", str(tmp_path), *QUICK)
    assert code == 0, said.err
    assert (tmp_path / "outcomes.jsonl").read_bytes() == done


def test_a_race_that_is_interrupted_keeps_what_is_done_and_says_how_to_go_on(
    tmp_path, capsys, monkeypatch
):
    real, done = trials.perform, []

    def interrupted(*given):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(given[0].id)
        return real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(trials, "perform", interrupted)
        code, said = raced(capsys, "--output", str(tmp_path), *QUICK)
    assert code == 0
    assert "stopped; the same command goes on" in said.err
    assert ": 2 trainings" in said.out
    kept = [json.loads(line) for line in (tmp_path / "outcomes.jsonl").read_text().splitlines()]
    assert len(kept) == 2
    assert raced(capsys, "--output", str(tmp_path), *QUICK)[0] == 0
    after = (tmp_path / "outcomes.jsonl").read_text().splitlines()
    assert len(after) > 2
    assert all(one in [json.loads(line) for line in after] for one in kept)


def test_another_race_is_not_written_over(tmp_path, capsys):
    raced(capsys, "--output", str(tmp_path), *QUICK)
    code, said = raced(capsys, "--output", str(tmp_path), "--tasks", "step", "--seeds", "2")
    assert code == 2
    assert "holds another race" in said.err


def test_another_budget_is_so_many_times_the_epochs(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("attention_plugins.race.trials.run", lambda *given: None)
    plans = []
    for times in ("1", "2"):
        code, said = raced(capsys, "--output", str(tmp_path / times), *QUICK, "--budget", times)
        assert (code, said.out.splitlines()[1][:9]) == (0, "0.0 hours")
        plans.append(Race.open(tmp_path / times).plan)
    once, twice = (plan.tasks["sine"] for plan in plans)
    assert twice == replace(once, epochs=2 * once.epochs)
    assert replace(plans[1], tasks=plans[0].tasks) == plans[0]
    assert raced(capsys, "--output", str(tmp_path / "1"), *QUICK, "--budget", "2")[0] == 2


def _planned(folder, capsys, monkeypatch, *asked):
    """The plan of a race whose trainings are left out."""
    monkeypatch.setattr(trials, "run", lambda *given: None)
    code, said = raced(capsys, "--output", str(folder), *asked)
    assert code == 0, said.err
    return Race.open(folder).plan


def test_who_races_on_what_and_how_often_is_as_the_command_says(tmp_path, capsys, monkeypatch):
    asked = [
        "--tasks", "copy", "reverse", "--models", "transformer", "--scorings", "cosine", "dot",
        "--normalisers", "sparsemax", "--seeds", "3", "--tuning-seeds", "5", "--halving", "2",
    ]  # fmt: skip
    found = _planned(tmp_path / "one", capsys, monkeypatch, *asked)
    assert [*found.tasks] == ["copy", "reverse"]
    assert (found.seeds, found.tuning_seeds, found.halving) == (3, 5, 2)
    assert {who.model for who in found.contestants} == {"transformer"}
    assert [who.name for who in found.contestants] == ["cosine", "dot", "scaled_dot + sparsemax"]
    pairs = _planned(tmp_path / "two", capsys, monkeypatch, *asked, "--every-pair")
    assert [who.name for who in pairs.contestants] == [
        "cosine", "dot", "cosine + sparsemax", "dot + sparsemax",
    ]  # fmt: skip
    code, said = raced(capsys, "--output", str(tmp_path / "three"), *asked[:-1], "6")
    assert code == 2
    assert "need 0 <= halving <= 5, the tuning seeds" in said.err


def test_who_joins_runs_in_each_of_the_models_there_or_those_named(tmp_path, capsys, monkeypatch):
    shared = ["--tasks", "copy", "--models", "transformer", "bahdanau", "--scorings", "dot"]
    _planned(tmp_path / "theirs", capsys, monkeypatch, *shared)
    joins = ["--join", str(tmp_path / "theirs"), "--scorings", "cosine"]
    every = _planned(tmp_path / "every", capsys, monkeypatch, *joins)
    mine = _planned(
        tmp_path / "mine", capsys, monkeypatch, *joins, "--models", "bahdanau",
        "--normalisers", "sparsemax",
    )  # fmt: skip
    assert [(who.model, who.name) for who in every.contestants[2:]] == [
        ("transformer", "cosine"), ("bahdanau", "cosine"),
    ]  # fmt: skip
    assert [(who.model, who.name) for who in mine.contestants[2:]] == [
        ("bahdanau", "cosine"), ("bahdanau", "cosine + sparsemax"),
    ]  # fmt: skip
    code, said = raced(capsys, "--output", str(tmp_path / "none"), *joins[:2])
    assert (code, "--join needs --scorings" in said.err) == (2, True)


def test_trainings_side_by_side_are_as_many_as_asked_for(tmp_path, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(trials, "run_beside", lambda *given: asked.append(given[:3]))
    more = ("--processes", "3", "--device", "cpu")
    assert raced(capsys, "--output", str(tmp_path / "race"), *QUICK, *more)[0] == 0
    assert asked == [(tmp_path / "race", 3, "cpu")]


@pytest.mark.parametrize(("again", "same"), [
    ({}, True), ({"quality": 0.50004}, True), ({"quality": 0.5006}, False),
    ({"validation": 0.71}, False), ({"quality": math.nan}, False), ({"problem": "why"}, False),
])  # fmt: skip
def test_an_outcome_comes_out_the_same_but_for_rounding(again, same):
    theirs = outcome(contestant("dot"), 0, 0.5, validation=0.7)
    assert race_command._agree(theirs, replace(theirs, **again)) is same
    tuned = replace(theirs, quality=math.nan)
    assert race_command._agree(tuned, tuned)


def _machine(folder, processes):
    """The command that goes on with a race, as a machine that sees its folder would run it."""
    command = [sys.executable, "-m", "attention_plugins", "race", "--output", str(folder)]
    return subprocess.Popen(
        [*command, "--processes", str(processes)], stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def _kill(machine):
    os.killpg(machine.pid, signal.SIGKILL)
    machine.wait()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_machines_killed_twenty_times_do_each_of_200_trainings_once(tmp_path):
    quick = Budget(examples=20, epochs=20, batch_size=20, rates=(0.03, 0.2))
    who = [Contestant(model="nadaraya_watson", scoring=name) for name in ("gaussian", "laplacian")]
    plan = Plan(tasks={"sine": quick, "step": quick}, contestants=who, seeds=48)
    race = Race.create(tmp_path, plan, {})
    assert trials.count(plan) == 200
    machines, kills, seen = [_machine(tmp_path, 2), _machine(tmp_path, 1)], 0, 0
    end = time.monotonic() + 600
    path = tmp_path / "outcomes.jsonl"
    while time.monotonic() < end and kills < 20:
        done = path.read_bytes().count(b"\n") if path.exists() else 0
        if done < seen + 6 and all(one.poll() is None for one in machines):
            time.sleep(0.01)
            continue
        seen, which = done, kills % 2
        _kill(machines[which])
        kills += 1
        if kills < 20:  # the last one is lost for good
            machines[which] = _machine(tmp_path, 2 - which)
    assert kills == 20
    assert len(race.outcomes()) < 200  # all were killed while there was work
    assert machines[0].wait(120) == 0
    lines = path.read_text("utf-8").splitlines()
    found = race.outcomes()
    whole = [line for line in lines if race._parsed(line)]
    assert len(whole) == len(found) == 200
    assert not any(one.problem for one in found)
    for one in found[::25]:
        again = trials.perform(one.trial, plan)
        assert (again.validation, again.quality) == pytest.approx(
            (one.validation, one.quality), nan_ok=True
        )


@pytest.mark.slow
def test_a_file_of_sentence_pairs_is_raced_on(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path / "home"))
    words = [f"w{n}" for n in range(20)]
    pairs = [f"{a} {b}\t{b} {a}" for a in words for b in words]
    (tmp_path / "swap.tsv").write_text("\n".join(pairs))
    arguments = ["--tasks", str(tmp_path / "swap.tsv"), "--scorings", "dot", "uniform"]
    folder = tmp_path / "race"
    code, _ = raced(capsys, "--output", str(folder), *arguments, "--seeds", "2")
    installed.cache_clear()
    assert code == 0
    found = Race.open(folder).outcomes()
    assert {one.trial.task for one in found} == {"own_swap"}
    assert len([one for one in found if not one.problem and not one.trial.tuning]) == 4

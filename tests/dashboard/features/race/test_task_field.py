"""What a worker says of a race on a task of the field."""

from dataclasses import replace

import pytest
from support.field_races import AWAY, MAD, PLAN, PROBLEM, TASK, laid_down, of_mad, outcomes

from attention_plugins.race.field.results import cells, sentences
from attention_plugins.race.field.tasks import FLOORS, TASKS
from attention_plugins.race.records import SOLVED
from dashboard.features.race import task
from dashboard.features.race.task_import import read_race
from dashboard.features.race.view import ALL, FIELD, RaceView, chosen, requests
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Result
from dashboard.storage import races
from dashboard.storage.bundle import pack
from tests.dashboard.features.race.test_task import Context


@pytest.fixture(autouse=True)
def race(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return laid_down(tmp_path / "races" / "mine")


def asked(model):
    found = chosen(RaceView(race="mine", model=model), races.read("mine"), Catalogue())
    (request,) = requests(found)  # nobody is compared in pairs: there is no matrix
    return Result.from_bytes(task.perform(request, Context()).to_bytes())


def test_cells_are_those_of_the_outcomes_with_what_their_rates_cost():
    result = asked(ALL)
    rows = {row["key"]: row for row in result.tables["cells"].to_pylist()}
    assert len(rows) == len(cells(outcomes(), TASK)) == 4
    dot = rows["zoology_64.scaled_dot"]
    assert (dot["accuracy"], dot["ended"], dot["steps"]) == (pytest.approx(99.5), "solved", 588)
    assert [dot[f"part_{part}"] for part in (8, 4, 2)] == pytest.approx([60.0, 99.5, 99.5])
    assert rows["zoology_64.linear_attention"]["part_8"] == pytest.approx(24.0)
    assert (dot["tried"], dot["minutes"], dot["rate"]) == (2, 20.0, 0.0021544)
    sharp = rows["zoology_64.scaled_dot + sparsemax"]
    assert (sharp["accuracy"], sharp["ended"]) == (None, PROBLEM)
    course = [row for row in result.tables["courses"].to_pylist() if row["key"] == dot["key"]]
    assert [row["x"] for row in course] == [196, 392, 588]
    assert [row["y"] for row in course] == pytest.approx([20, 60, 99.5])


def test_a_course_is_the_mean_over_the_seeds_at_the_best_rate_with_its_ends(race):
    """A training that ended before another keeps its last accuracy."""
    (first,) = [one for one in outcomes() if one.trial.rate == 0.0021544 and one.ended == SOLVED]
    again = [replace(first.trial, seed=seed, tuning=False) for seed in (0, 1)]
    longer = ((196.0, 0.4, 9.0), (392.0, 0.3, 9.0), (588.0, 0.5, 9.0), (784.0, 0.991, 9.0))
    for trial, course in zip(again, (longer, longer[:2]), strict=True):
        race.add(replace(first, trial=trial, course=course))
    slow = replace(again[0], rate=0.01)  # of another rate
    race.add(replace(first, trial=slow, course=longer * 3))
    rows = asked("zoology_64").tables["courses"].to_pylist()
    own = [row for row in rows if row["key"] == "zoology_64.scaled_dot"]
    assert [row["x"] for row in own] == [196, 392, 588, 784]
    assert [row["y"] for row in own] == pytest.approx(
        [(20 + 40 + 40) / 3, (60 + 30 + 30) / 3, (99.5 + 50 + 30) / 3, (99.5 + 99.1 + 30) / 3]
    )
    assert [row["low"] for row in own] == pytest.approx([20, 30, 30, 30])
    assert [row["high"] for row in own] == pytest.approx([40, 60, 99.5, 99.5])
    assert {row["seeds"] for row in own} == {3}
    (alone,) = {(row["seeds"], row["low"] == row["y"] == row["high"]) for row in rows
                if row["key"] == "zoology_64.linear_attention"}  # fmt: skip
    assert alone == (1, True)


def test_what_is_published_stands_beside_every_task_that_is_through(race):
    rows = asked(ALL).tables["published"].to_pylist()
    assert [(row["model"], row["name"], row["form"]) for row in rows] == [
        ("zoology_64", "scaled_dot", "at_least")
    ]
    assert (rows[0]["published"], rows[0]["difference"]) == pytest.approx((99, 0.5))
    (race.folder / races.OUTCOMES).unlink()
    laid_down(race.folder, MAD, of_mad())
    rows = asked("mad_128").tables["published"].to_pylist()
    assert [row["task"] for row in rows] == [TASKS[name].title for name in MAD.tasks]
    assert {(row["mechanism"], row["name"], row["form"]) for row in rows} == {
        ("Transformer", "rope", "averaged")
    }
    assert [row["difference"] for row in rows] == pytest.approx([*AWAY.values()])
    assert [row["accuracy"] - row["published"] for row in rows] == pytest.approx([*AWAY.values()])
    whole = race.outcomes()
    unfinished = [one for one in whole if one.trial.rate != 1e-4 or one.trial.task != "mad_fuzzy"]
    (race.folder / races.OUTCOMES).unlink()
    laid_down(race.folder, MAD, unfinished)
    rows = asked("mad_128").tables["published"].to_pylist()
    assert "MAD: fuzzy recall" not in {row["task"] for row in rows}
    assert len(rows) == len(AWAY) - 1


def test_facts_are_the_tasks_and_the_plans():
    facts, budget = asked(ALL).facts, PLAN.tasks[TASK]
    assert facts["limits"] == {"floor": 25, "how": FLOORS["shown"], "ceiling": 100}
    assert (facts["solved"], facts["flat"]) == (99, 16)
    assert facts["budget"]["steps"] == budget.steps == 17 * 196
    assert facts["sentences"] == [*sentences(cells(outcomes(), TASK), TASKS[TASK], budget)]
    assert (facts["done"], facts["total"], facts["complete"]) == (6, 12, False)


def test_one_model_is_shown_alone():
    result = asked("zoology_128")
    assert {row["model"] for row in result.tables["cells"].to_pylist()} == {"zoology_128"}
    assert len(result.facts["sentences"]) == 2


def test_titles_of_the_page_are_those_of_the_tasks():
    assert {name: one.title for name, one in TASKS.items()} == FIELD


def test_a_race_of_the_field_is_imported_whole(race):
    files = {path.name: path.read_bytes() for path in race.folder.iterdir() if path.is_file()}
    plan, lines, problems = read_race(pack(files))
    assert not problems
    assert lines.count(b"\n") == len(outcomes())
    assert b'"course"' in lines
    assert b'"seeds": 0' in plan

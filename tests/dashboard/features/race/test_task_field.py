"""What a worker says of a race on a task of the field."""

import pytest
from support.field_races import PLAN, PROBLEM, TASK, laid_down, outcomes

from attention_plugins.race.field.results import cells, sentences
from attention_plugins.race.field.tasks import FLOORS, TASKS
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

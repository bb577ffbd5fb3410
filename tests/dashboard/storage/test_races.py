"""Races at rest, as the page lists them: it reads no outcome, and trusts no plan."""

from __future__ import annotations

import json
import os

import pytest
from support.races import FACTS, GAINS, PLAN, laid_down

from attention_plugins.home import SHIPPED as TRAINED
from dashboard.storage import races
from dashboard.storage.races import SHIPPED, Entrant


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def folder(home):
    return laid_down(home / "races" / "mine").folder


def test_the_shipped_race_lies_where_the_command_puts_it():
    assert races.folder_of(SHIPPED) == TRAINED / "race"
    assert races.folder_of("shipped-phrasebook") == TRAINED / "race-phrasebook"


def test_a_folder_of_a_shipped_races_name_hides_none(folder, home):
    """What lies in the data folder is another visitor's or the host's."""
    for name in races.shipped():
        laid_down(home / "races" / name)
    found, _ = races.races()
    assert "mine" in [one.name for one in found]
    assert all(one.folder.parent == TRAINED for one in found if one.name in races.shipped())


def test_a_race_is_told_as_its_plan_says(folder):
    found = races.read("mine")
    assert found.tasks == tuple(PLAN.tasks)
    assert found.budgets["sine"]["examples"] == 50
    assert found.entrants[: len(GAINS)] == tuple(
        Entrant(one.model, one.scoring, one.normaliser) for one in GAINS
    )
    assert [one.name for one in found.entrants] == [one.name for one in PLAN.contestants]
    assert found.facts == FACTS
    assert found.owner is None


@pytest.mark.parametrize("name", ["outcomes.jsonl", "race.json"])
def test_another_version_after_another_outcome_or_plan(folder, name):
    before = races.read("mine").version
    with (folder / name).open("a") as file:
        file.write("\n")
    after = races.read("mine").version
    os.utime(folder / name, (1, 1))  # as many bytes of another time
    assert len({before, after, races.read("mine").version}) == 3


def test_what_lies_there_comes_by_name_and_is_damaged_without_its_place(folder, home):
    for name in ("b", "c", "a"):
        laid_down(home / "races" / name)
    (home / "races" / "b" / "race.json").unlink()
    (home / "races" / "b" / "race.json").mkdir()
    (home / "races" / "c" / "imported.json").mkdir()
    found, damaged = races.races()
    assert [one.name for one in found if one.name not in races.shipped()] == ["a", "mine"]
    ((name, said),) = damaged
    assert name == "c"
    assert str(home) not in said


def test_facts_that_are_no_texts_by_name_are_left_out(folder):
    path = folder / "race.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "facts": ["on a laptop"]}))
    assert races.read("mine").facts == {}


@pytest.mark.parametrize(
    "name", ["../mine", "a/b", "", ".hidden", "a" * 61, "mine\n", "a\\b", "..", "/etc"]
)
def test_no_name_leads_out_of_the_folder(name):
    with pytest.raises(ValueError, match="need the name of a race"):
        races.folder_of(name)


def plan(contestant=None, tasks=None, seeds=1):
    contestants = [contestant or {"model": "m", "scoring": "a"}]
    return json.dumps({"plan": {"contestants": contestants, "tasks": tasks, "seeds": seeds}})


@pytest.mark.parametrize(
    "plan",
    [
        "[]", "{}", "{", '{"plan": 3}', "[" * 100_000, " " * (races.LARGEST_PLAN + 1),
        plan(tasks={}), plan({"model": 1, "scoring": "a"}, {"t": {}}),
        plan({"who": "a"}, {"t": {}}),
        plan(tasks=[1]), plan(tasks={"t": {}}, seeds="x"), plan(tasks={"t": 3}),
    ],
    ids=range(12),
)  # fmt: skip
def test_a_damaged_plan_costs_its_race_alone(folder, home, plan):
    other = home / "races" / "other"
    other.mkdir()
    (other / "race.json").write_text(plan)
    found, damaged = races.races()
    assert [one.name for one in found if one.name not in races.shipped()] == ["mine"]
    assert [name for name, _ in damaged] == ["other"]


def test_what_has_no_plan_is_no_race(folder, home):
    (home / "races" / "empty").mkdir()
    (home / "races" / "a file").write_text("x")
    found, damaged = races.races()
    assert [one.name for one in found if one.name not in races.shipped()] == ["mine"]
    assert damaged == []


def test_facts_that_are_long_or_none_are_cut(folder):
    path = folder / "race.json"
    held = json.loads(path.read_text())
    path.write_text(json.dumps({**held, "facts": {"command": "x" * 10_000, "n": 3}}))
    assert races.read("mine").facts == {"command": "x" * 2_000, "n": "3"}

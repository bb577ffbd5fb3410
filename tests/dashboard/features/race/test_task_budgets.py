"""Somebody's race as rows beside those of another one on the same task."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import field_races
from support.races import FACTS, PLAN, SEEDS, contestant, laid_down, outcomes

from attention_plugins.race.records import Contestant
from attention_plugins.race.standings import standings
from attention_plugins.race.store import OUTCOMES, Race
from dashboard.features.race.task_import import known
from dashboard.features.race.view import ALL, RaceView, chosen, of_race, requests
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Result
from dashboard.storage import races
from tests.dashboard.features.race.test_task import perform

MINE = contestant("=-|q - k|")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setattr(races, "SHIPPED_FOLDER", tmp_path / "trained")
    laid_down(tmp_path / "races" / "first")
    return tmp_path


def theirs(home, name="theirs", who=MINE, gain=9.0, **budget):
    """A race of one more contestant, who is a copy of another one but for its gain."""
    tasks = {"reverse": replace(PLAN.tasks["reverse"], **budget)}
    plan = replace(PLAN, tasks=tasks, contestants=(contestant("scaled_dot"), who))
    race = Race.create(home / "races" / name, plan, {**FACTS, "commit": "7654321"})
    for one in outcomes():
        if one.trial.task == "reverse" and one.trial.contestant == contestant("scaled_dot"):
            race.add(replace(one, quality=1.0))  # what they say of who raced in the first race
            new = replace(one, trial=replace(one.trial, contestant=who))
            race.add(replace(new, quality=one.quality + gain))
    return race


def shown(task="reverse", race="first", model="transformer"):
    everybody = races.races()[0]
    view = RaceView(race=race, task=task, model=model, joined="1")
    found = chosen(view, races.read(race), Catalogue(), everybody)
    return found, perform(requests(found)[0])


def test_who_raced_at_the_same_budget_is_a_row_compared_as_all_others(home):
    race = theirs(home)
    found, result = shown()
    assert [one.name for one in found.joined] == ["theirs"]
    rows = {row["key"]: row for row in result.tables["standings"].to_pylist()}
    key = f"transformer.{MINE.name}"
    assert result.facts["whose"] == {key: "theirs"}
    both = Race.open(home / "races" / "first").outcomes()
    both += [one for one in race.outcomes() if one.trial.contestant == MINE]
    own = standings(
        both, "reverse", reference=contestant("scaled_dot"), higher_is_better=True,
        models=["transformer"],
    )  # fmt: skip
    assert [row["p"] for row in rows.values()] == [known(one.corrected_p) for one in own]
    assert rows[key]["verdict"] == "too few seeds"  # they were enough for three comparisons
    assert rows[key]["seeds"] == SEEDS
    assert rows["transformer.scaled_dot"]["quality"] > 50  # the first race's, not theirs
    assert "|q - k| (theirs)" in result.facts["files"]["md"].replace("\\", "")
    assert (result.facts["done"], result.facts["complete"]) == (len([*outcomes()]), True)
    assert of_race("Mine", key, result) == "Mine · theirs"
    assert of_race("Dot", "transformer.scaled_dot", result) == "Dot"
    assert not chosen(
        RaceView(race="first", a=key, joined="1"),
        races.read("first"),
        Catalogue(),
        races.races()[0],
    ).problems


def test_nobody_joins_who_was_not_asked_for(home):
    """So nothing that is said of a race changes with what else lies here."""
    theirs(home)
    view, everybody = RaceView(race="first", task="reverse"), races.races()[0]
    found = chosen(view, races.read("first"), Catalogue(), everybody)
    assert found.joined == ()
    assert requests(found) == requests(chosen(view, races.read("first"), Catalogue()))


@pytest.mark.parametrize("other", [{"epochs": 6}, {"examples": 300}, {"rates": (0.01, 0.1)}])
def test_nobody_is_joined_who_was_given_something_else(home, other):
    theirs(home, **other)
    found, result = shown()
    assert found.joined == ()
    assert result.facts["whose"] == {}


def test_who_is_in_several_races_counts_once_and_damage_costs_its_race(home):
    first, second, third = (theirs(home, name, gain=gain)
                            for name, gain in (("a", 5.0), ("b", 7.0), ("c", 8.0)))  # fmt: skip
    _, result = shown()
    assert result.facts["whose"] == {f"transformer.{MINE.name}": "a"}
    (first.folder / OUTCOMES).write_text("nothing\n")
    assert shown()[1].facts["whose"] == {f"transformer.{MINE.name}": "b"}
    found, _ = shown()
    (second.folder / "race.json").unlink()
    assert Result.from_bytes(perform(requests(found)[0]).to_bytes()).facts["whose"] == {
        f"transformer.{MINE.name}": "c"
    }
    assert len(third.outcomes()) > 0


def test_a_race_on_a_task_of_the_field_joins_another_one(home):
    field_races.laid_down(home / "races" / "mqar")
    new = Contestant(model="zoology_64", scoring="=-|q - k|")
    one = field_races.outcomes()[1]
    plan = replace(field_races.PLAN, contestants=[one.trial.contestant, new])
    race = Race.create(home / "races" / "theirs", plan, {})
    race.add(replace(one, validation=0.1))
    race.add(replace(one, trial=replace(one.trial, contestant=new), seconds=1.0))
    found, result = shown(field_races.TASK, "mqar", ALL)
    assert [one.name for one in found.joined] == ["theirs"]
    rows = {row["key"]: row for row in result.tables["cells"].to_pylist()}
    assert rows[f"zoology_64.{new.name}"]["accuracy"] == pytest.approx(99.5)
    assert result.facts["whose"] == {f"zoology_64.{new.name}": "theirs"}
    assert rows["zoology_64.scaled_dot"]["tried"] == 2  # none of theirs
    assert {one["key"] for one in result.tables["courses"].to_pylist()} >= result.facts[
        "whose"
    ].keys()

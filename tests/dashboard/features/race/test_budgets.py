"""A race beside one at another budget: found by its plan, compared, told on the page."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from support.races import GAINS, PLAN, SEEDS, contestant, laid_down

from dashboard.features.race import task
from dashboard.features.race.view import RaceView, chosen, requests
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Result
from dashboard.storage import races

ADDITIVE, DOT = contestant("additive"), contestant("scaled_dot")
LONGER = replace(PLAN, tasks={name: one.longer(2) for name, one in PLAN.tasks.items()})


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def both(home):
    """On "reverse", additive is 11 points better at first, and 19 worse with twice the steps."""
    laid_down(home / "races" / "mine")
    made = laid_down(home / "races" / "twice", plan=LONGER)
    found = made.outcomes()
    (made.folder / races.OUTCOMES).unlink()
    for one in found:
        lost = 30 if one.trial.contestant == ADDITIVE and not one.trial.tuning else 0
        made.add(replace(one, quality=one.quality - lost))
    return made


class Context:
    def report(self, fraction, note="", facts=None):
        pass

    def stopped(self):
        return False


def asked(**view):
    found = chosen(
        RaceView(race="mine", **view), races.read("mine"), Catalogue(), races.races()[0]
    )
    return found, requests(found)[0]


def test_a_worker_compares_the_races_that_the_page_names(both):
    choices, request = asked(task="reverse", model="transformer")
    assert [one.name for one in choices.beside] == ["twice"]
    result = Result.from_bytes(task.perform(request, Context()).to_bytes())
    said = result.facts["at_budgets"]
    assert f"After 35 / 70 steps, with the {SEEDS} seeds and the 4 contestants" in said[0]
    assert "of 6 pairs 3 have the same leader beyond chance at every budget, 2 change" in said[0]
    rows = {
        (row["key"].partition(".")[2], row["steps"]): (row["verdict"], row["rank"])
        for row in result.facts["budgets"]
    }
    assert rows["additive", 35] == ("better", 1)
    assert rows["additive", 70] == ("worse", 3)
    assert rows["uniform", 35] == rows["uniform", 70] == ("worse", 4)
    assert rows["scaled_dot", 35] == (None, 2)
    assert said[0] in result.facts["files"]["md"].replace("\\", "")
    assert "at every budget" in result.facts["files"]["tex"]


def test_without_another_budget_the_request_is_that_of_before(home):
    laid_down(home / "races" / "mine")
    laid_down(home / "races" / "same")
    choices, request = asked()
    assert choices.beside == ()
    assert "beside" not in dict(request.options)
    found = task.perform(request, Context())
    assert found.facts["at_budgets"] == []
    assert found.facts["budgets"] == []


def test_the_page_says_what_holds_and_what_changes(opened, both):
    app = opened("race", race="mine", task="reverse", model="transformer")
    assert not app.exception
    said = "\n".join(
        str(one.value) for kind in (app.header, app.markdown, app.caption) for one in kind
    ).replace("\\", "")
    assert "At several budgets" in said
    assert "2 change their leader beyond chance" in said
    assert "Worse than Scaled dot at every budget: Uniform" in said
    assert "at another budget: Additive (better → worse)" in said
    assert re.search("Races: mine.*twice", said)
    (table,) = (one.value for one in app.dataframe if "mean after 70 steps" in one.value.columns)
    assert [*table["verdict after 70 steps"]].count("worse") == 2
    assert [*table["verdict after 35 steps"]].count("reference") == 1
    assert len(table) == len(GAINS) - 1  # one could not run


def test_a_page_of_one_budget_says_nothing_of_others(opened, home):
    laid_down(home / "races" / "mine")
    app = opened("race", race="mine", task="reverse", model="transformer")
    assert not any("At several budgets" in str(one.value) for one in app.header)


def record(name, plan):
    return laid_down(races.files.home() / "races" / name, plan=plan) and races.read(name)


def test_a_race_at_another_budget_is_known_by_its_plan(home):
    own, twice = record("own", PLAN), record("twice", LONGER)
    two = record("two", replace(LONGER, contestants=PLAN.contestants[:2]))
    four = {name: one.longer(4) for name, one in PLAN.tasks.items()}
    one_of_ours = record("alone", replace(PLAN, tasks=four, contestants=PLAN.contestants[:1]))
    data = {name: replace(one.longer(3), examples=7) for name, one in PLAN.tasks.items()}
    others = record("others", replace(PLAN, tasks=data))
    among = [two, twice, own, one_of_ours, others]
    assert own.at_other_budgets("reverse", own.entrants, among) == (twice,)
    assert own.at_other_budgets("reverse", own.entrants, among[:1]) == (two,)
    assert own.at_other_budgets("reverse", own.entrants[:1], among) == ()
    assert own.at_other_budgets("copy", own.entrants, among) == ()
    assert {one.name for one in two.at_other_budgets("sine", two.entrants, among)} == {"own"}


def test_every_shipped_folder_is_a_race(opened, home):
    for name, plan in (("race", PLAN), ("race-twice", LONGER), ("race-of-others", PLAN)):
        laid_down(home / "trained" / name, plan=plan)
    assert races.shipped() == ("shipped", "shipped-of-others", "shipped-twice")
    assert races.folder_of("shipped-twice") == home / "trained" / "race-twice"
    assert [one.name for one in races.races()[0]] == [*races.shipped()]
    app = opened("race", task="reverse")
    assert app.selectbox[0].options == [
        "shipped with the workbench", "shipped-of-others", "shipped: twice the steps",
    ]  # fmt: skip
    assert "At several budgets" in "\n".join(str(one.value) for one in app.header)

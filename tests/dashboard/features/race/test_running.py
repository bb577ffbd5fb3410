"""A race that is run from its page: entered, estimated, started, watched, stopped."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import parse_qsl

import pytest
import streamlit as st
from support.races import PLAN, SEEDS, laid_down

from dashboard.features.race import running
from dashboard.jobs.backend import Event
from dashboard.storage import races
from dashboard.ui import workbench
from dashboard.visitors import Visitor

FORMULA = "-sum((q - k)^2)"
TRAININGS = 2 + 7  # rates, and seeds


@pytest.fixture(autouse=True)
def home(home):
    laid_down(home / "races" / "known")
    return home


class Racing:
    """What is told to the trainers, which do nothing."""

    def __init__(self):
        self.started, self.stopped, self.ended = [], [], None
        self.stopping_now = set()

    def start(self, race, owner=""):
        if race in self.stopped:
            raise ValueError("another race runs")
        self.started.append((race, owner))

    def stop(self, race):
        self.stopped.append(race)

    def running(self, race):
        return race in {name for name, _ in self.started} - {*self.stopped}

    def stopping(self, race):
        return race in self.stopping_now

    def failure(self, race):
        return self.ended


@pytest.fixture
def racing(backend, monkeypatch):
    made = Racing()
    monkeypatch.setattr(workbench.workbench(), "racing", made)
    monkeypatch.setattr(workbench.workbench().trainings.jobs, "backend", lambda: backend)
    return made


def said(app):
    kinds = (app.text, app.caption, app.markdown)
    return "\n".join(str(one.value) for kind in kinds for one in kind).replace("\\", "")


def is_open(app):
    (form,) = (each for each in app.expander if each.label == "Run a race of your own")
    return form.proto.expanded


def own(folder, seeds=SEEDS):
    """Lay a race down into which a page entered *Additive*."""
    laid_down(folder, seeds=seeds)
    held = json.loads((folder / "race.json").read_text())
    held["facts"]["entered"] = "additive\nnobody"
    (folder / "race.json").write_text(json.dumps(held))


def entered(app, formula=FORMULA):
    app.text_input("race-formula").set_value(formula).run()
    app.button("race-estimate").click().run()
    assert not app.exception
    return app


def test_a_formula_is_entered_estimated_started_and_watched(opened, home, racing):
    app = opened("race", task="sine")
    assert app.button("race-estimate").disabled
    assert "race-start" not in {button.key for button in app.button}
    app = entered(app)
    assert f"{TRAININGS} trainings: about" in said(app)
    known = 3 * TRAININGS
    total = f"{known + TRAININGS} in all"
    assert f"Another {known} are taken over from the race that is joined: {total}" in said(app)
    app.button("race-start").click().run()
    assert not app.exception
    ((name, owner),) = racing.started
    assert owner == ""
    race = races.read(name)
    assert (race.tasks, race.entrants[-1].scoring) == (("sine",), f"={FORMULA}")
    assert races.done(race) == known
    assert "race-stop" in {button.key for button in app.button}
    assert (is_open(app), app.text_input("race-formula").value) == (False, "")
    (bar,) = app.get("progress")
    assert bar.proto.text == f"{known} of {known + TRAININGS} trainings"
    assert f"These rows are of the first {known} of {known + TRAININGS} trainings." in said(app)
    assert FORMULA in app.selectbox("race-race").options
    assert bar.proto.value == 75
    racing.stopping_now = {name}
    app.run()
    assert app.button("race-stop").disabled
    (bar,) = app.get("progress")
    assert bar.proto.text.endswith("trainings. Stopping: the trainings that run are ending.")
    racing.stopping_now = set()
    app.run()
    app.button("race-stop").click().run()
    assert racing.stopped == [name]
    assert "race-stop" not in {button.key for button in app.button}
    app.button("race-go-on").click().run()
    assert "Refused: another race runs." in said(app)


def test_a_press_is_said_at_once_and_a_second_one_starts_nothing(opened, racing, monkeypatch):
    app = entered(opened("race", task="sine"))
    assert not app.button("race-start").disabled
    with monkeypatch.context() as only:
        only.setattr("streamlit.rerun", st.stop)  # before the run that starts the race
        app.button("race-start").click().run()
        assert "The race begins …" in said(app)
        assert app.button("race-start").disabled
        assert not racing.started
    app.run()
    assert not app.exception
    assert len(racing.started) == 1
    assert not is_open(app)
    monkeypatch.setattr("streamlit.session_state", {})  # as it is now
    running._press()  # sent before the browser heard of the first one
    assert st.session_state == {}


def test_a_race_that_may_not_start_is_offered_again(opened, racing, monkeypatch):
    def refuse(race, owner):
        raise ValueError("another race runs")

    monkeypatch.setattr(racing, "start", refuse)
    app = entered(opened("race", task="sine"))
    app.button("race-start").click().run()
    assert "Refused: another race runs." in said(app)
    assert not app.button("race-start").disabled


@pytest.mark.parametrize(
    ("page", "view", "task"),
    [("regression", {"a": f"={FORMULA}", "b": "gaussian"}, "sine"),
     ("experiment", {"task": "translation", "scorings": f"={FORMULA},gaussian"}, "pairs"),
     ("regression", {"a": f"={FORMULA}", "data": "upload:" + "0" * 64}, "")],
)  # fmt: skip
def test_a_formula_of_another_page_is_in_the_form(opened, home, racing, page, view, task):
    laid_down(home / "races" / "other", plan=replace(PLAN, tasks={"pairs": PLAN.tasks["reverse"]}))
    app = opened(page, **view)
    assert not app.exception
    links = [one.proto for one in app.get("page_link") if one.proto.page == "race"]
    (query,) = (dict(parse_qsl(one.query_string)) for one in links if one.query_string)
    assert query == {"formula": FORMULA} | ({"task": task} if task else {})
    app = opened("race", **query)
    assert app.selectbox("race-race").value == ("other" if task == "pairs" else "known")
    assert app.text_input("race-formula").value == FORMULA
    assert is_open(app)
    assert "formula" not in app.query_params
    assert not racing.started
    assert "begins at" not in said(app)
    app.text_input("race-formula").set_value("-|q - k|^p").run()
    assert "It begins at its own values, p 1, whatever a panel has." in said(app)
    app.text_input("race-formula").set_value("q @ k").run()
    assert app.text_input("race-formula").value == "q @ k"
    assert not app.button("race-estimate").disabled


def test_a_race_that_ends_while_its_rows_are_made_is_seen_to_its_end(
    opened, home, racing, backend, monkeypatch
):
    folder, waited, kept = home / "races" / "known", backend.wait, {}
    laid_down(folder, seeds=SEEDS - 1)
    racing.start("known")

    def wait(job, timeout):  # as workers do, which make nothing twice
        request = backend.submitted[job]
        event = kept[request] = kept.get(request) or waited(job, timeout)
        if request.task == "race" and racing.running("known"):
            laid_down(folder)
            racing.stop("known")
        return event

    monkeypatch.setattr(backend, "wait", wait)
    app = opened("race", race="known", task="reverse")
    assert not app.exception
    assert "trainings done; these are the rows so far" not in said(app)
    assert not {"race-stop", "race-go-on"} & {button.key for button in app.button}


def test_tasks_of_other_races_may_be_raced_on(opened, home, racing):
    one = replace(PLAN, tasks={"sort": PLAN.tasks["reverse"]})
    laid_down(home / "races" / "other", plan=one)
    app = opened("race", race="known", task="sine")
    assert [*app.multiselect("race-tasks").options][-1] == "sort"
    app.multiselect("race-tasks").set_value(["sort", "sine"]).run()
    assert "No race has all these tasks: choose fewer." in said(app)
    app.multiselect("race-tasks").set_value(["sort"]).run()
    app = entered(app)
    assert "trainings: " in said(app)
    app.button("race-start").click().run()
    assert races.read(racing.started[0][0]).tasks == ("sort",)


def test_halving_is_chosen_and_what_it_takes_is_called_the_most(opened, racing):
    app = opened("race", task="sine")
    app.button_group("race-halving").set_value(1).run()
    app = entered(app)
    told = said(app)
    assert "That is the most: whom halving leaves behind is known only then." in told
    assert f"{2 * (4 * 2 + 7)} trainings: about" in told  # two contestants anew, at four rates
    assert "taken over" not in told
    app.button("race-start").click().run()
    ((name, _),) = racing.started
    plan = json.loads((races.read(name).folder / "race.json").read_text())["plan"]
    assert (plan["halving"], plan["tuning_seeds"], races.done(races.read(name))) == (1, 2, 0)


def test_another_choice_must_be_estimated_again(opened, racing):
    app = entered(opened("race", task="sine"))
    assert app.button("race-start")
    app.text_input("race-formula").set_value("q @ k").run()
    assert "race-start" not in {button.key for button in app.button}


def test_what_cannot_race_is_refused_in_words(opened, racing, home):
    app = opened("race", task="sine")
    assert "Type a formula of q and k." in said(app)
    assert app.multiselect("race-scorings").proto.placeholder.startswith("Optional")
    app.text_input("race-formula").set_value("q @ k / d").run()
    assert "q is the point to predict at" in said(app)
    assert "It gives a score for each query and key." in said(app)
    assert not app.button("race-estimate").disabled
    app.text_input("race-formula").set_value("q @ k / i").run()
    assert "Points have no positions" in app.error[0].value
    app.text_input("race-formula").set_value("q +").run()
    assert "The formula ends too early" in app.error[0].value
    assert app.button("race-estimate").disabled
    assert is_open(app)
    assert "race-start" not in {button.key for button in app.button}
    assert not racing.started
    assert [path.name for path in (home / "races").iterdir()] == ["known"]


def test_how_a_trainer_failed_is_said(opened, home, racing):
    laid_down(home / "races" / "known", seeds=3)
    racing.ended = Event(number=2, stage="failed", note="the disk is full")
    assert "the disk is full" in said(opened("race"))


def test_who_was_entered_is_told_with_rank_and_mean_once_all_seeds_are_done(opened, home, racing):
    folder = home / "races" / "known"

    def told(seeds):
        own(folder, seeds=seeds)
        return said(opened("race", task="reverse"))

    whole = told(SEEDS)
    assert "**Additive**: rank 1 of 4 after 35 steps; the mean is 7" in whole
    (own_line,) = (line for line in whole.split("\n") if "**Additive**: rank" in line)
    assert "4 contestants ran; those with equal outcomes and losses in every" in own_line
    difference = r"to Scaled dot is \d[\d.]* \[[\d.]+, [\d.]+\], positive where better: better"
    tested = r" \(p = 0\.047, corrected by Holm over 3 comparisons\)"  # 3 x 2 / 2^7 of 7 seeds
    assert re.search(difference + tested, whole), whole
    assert "In bold, with a tall mark, entered on this page: Additive." in whole
    early = told(SEEDS - 4)
    assert "**Additive**: 3 of 7 seeds are done." in early
    assert "rank 1 of" not in early
    laid_down(folder)
    alone = said(opened("race", task="reverse"))
    assert "rank 1 of 4" not in alone
    assert "In bold" not in alone


def test_a_figure_says_task_reference_and_seeds_but_no_folder(opened, home, racing):
    own(home / "races" / "known")
    app = opened("race", task="reverse")
    app.session_state["page-figure"] = True
    parts = app.run().selectbox("page-figure-part")
    parts.select(next(one for one in parts.options if "with its interval" in one)).run()
    (words,) = (one.value for one in app.code if one.value.startswith("Race: "))
    assert words.startswith(
        "Race: Difference to Scaled dot with its interval, a lane per contestant. "
        "Task: Reverse. Model: Transformer. Mean over 7 seeds with 95% bootstrap intervals. "
        "In bold, with a tall mark, entered on this page: Additive. Computed with "
    ), words


def test_a_race_that_ships_is_not_gone_on_with(opened, home, racing):
    laid_down(home / "trained" / "race", seeds=3)
    app = opened("race", task="reverse")
    assert "race-go-on" not in {button.key for button in app.button}
    laid_down(home / "races" / "known", seeds=3)
    app = opened("race", race="known", task="reverse")
    assert "race-go-on" in {button.key for button in app.button}


def test_a_visitor_neither_enters_nor_stops(opened, home, racing, monkeypatch):
    laid_down(home / "races" / "known", seeds=3)
    visitor = Visitor(owner="ann", role="visitor")
    monkeypatch.setattr("dashboard.ui.owner.visitor", lambda: visitor)
    racing.started.append(("known", "bob"))
    app = opened("race", race="known")
    keys = {button.key for button in app.button}
    assert not keys & {"race-estimate", "race-stop", "race-go-on"}


@pytest.mark.parametrize(
    ("trainers", "duration"), [(1, "about 10 minutes"), (2, "about 5 minutes")]
)
def test_an_offer_says_how_long_all_trainers_take_and_what_choosing_rates_does(
    trainers, duration, monkeypatch
):
    said = []
    facts = {"trials": 9, "tuning": 150.0, "seconds": 600.0, "kept": 0, "more": 0, "halving": 0}
    monkeypatch.setattr(running, "settings", lambda: SimpleNamespace(trainers=trainers))
    monkeypatch.setattr(running.shown, "text", said.append)
    monkeypatch.setattr(running.st, "button", lambda *_, **__: None)
    event = SimpleNamespace(result=SimpleNamespace(facts=facts))
    running._offer(None, event, running._ASKED)
    assert said[0].startswith(f"9 trainings: {duration} on this server, 25% of it to choose")

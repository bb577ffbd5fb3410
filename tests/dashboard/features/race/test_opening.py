"""The links to other pages name what raced, as those pages read them here."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from support.races import RATES, laid_down

from dashboard.features.race import figures, task
from dashboard.features.race.close import link_of
from dashboard.features.race.view import RaceView, Seen, chosen, requests
from dashboard.features.regression import view as regression
from dashboard.features.training import view as training
from dashboard.jobs import task_catalogue
from dashboard.links import recipes
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request
from dashboard.storage import races


class Context:
    def report(self, fraction, note="", facts=None):
        """As of a worker."""

    def stopped(self):
        return False


@pytest.fixture(scope="module")
def catalogue():
    """What is really installed: the links name its parameters."""
    return Catalogue.of(task_catalogue.perform(Request.make("catalogue"), Context()).facts)


@pytest.fixture
def seen(tmp_path, monkeypatch, catalogue):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    laid_down(tmp_path / "races" / "mine")

    def of(key, **view):
        view = RaceView(race="mine", a=key, **view)
        choices = chosen(view, races.read("mine"), catalogue)
        request, _ = requests(choices)
        result = task.perform(request, Context())
        found = Seen(SimpleNamespace(view=view, catalogue=catalogue), choices, result)
        return found, found.by_key[key]

    return of


def test_a_training_is_named_with_its_recipe(seen, catalogue):
    page, query, _ = link_of(*seen("transformer.scaled_dot + sparsemax"))
    assert page == "training"
    view, problems = training.LINK.parse(query, catalogue)
    assert problems == []
    (request,) = training.requests(view)
    options = dict(request.options)
    assert (request.model, request.scoring, request.data) == (
        "transformer", "scaled_dot", "reverse",
    )  # fmt: skip
    assert options["recipe.epochs"] == 5
    assert options["recipe.learning_rate"] == max(RATES)
    assert options["model.hidden"] == 32
    assert options["normaliser"] == "sparsemax"


def test_a_fit_is_named_beside_the_reference_and_learns(seen, catalogue):
    page, query, _ = link_of(*seen("nadaraya_watson.laplacian", task="sine"))
    assert page == "regression"
    view, problems = regression.LINK.parse(query, catalogue)
    assert problems == []
    asked = regression.requests(view, catalogue)
    assert [one.scoring for one in asked.values()] == ["laplacian", "gaussian"]
    for one in asked.values():
        options = dict(one.options)
        assert one.data == "sine"
        assert options["data.points"] == 50
        assert (options["learn"], options["epochs"], options["lr"]) == (True, 20, min(RATES))
        assert options["optimiser"] == "adam"


def test_each_of_two_learns_at_the_rate_that_it_chose_itself(seen, catalogue):
    found, row = seen("nadaraya_watson.laplacian", task="sine")
    _, query, _ = link_of(found, {**row, "rate": 0.125})
    assert (query["a.lr"], query["b.lr"]) == ("0.125", f"{min(RATES):g}")


def test_what_has_nothing_to_learn_is_not_asked_to(seen, catalogue):
    _, query, _ = link_of(*seen("nadaraya_watson.uniform", task="sine"))
    assert regression.LINK.parse(query, catalogue)[1] == []
    assert "a.learn" not in query
    assert query["b.learn"] == "1"


def test_a_formula_is_named_as_it_was_typed(seen):
    found, row = seen("transformer.additive")
    text = "dot(q, k) / sqrt(d) - m * abs(i - j)"
    _, query, _ = link_of(found, {**row, "scoring": f"={text}"})
    assert [*recipes.formulas(query, None)] == [text]
    found, row = seen("nadaraya_watson.laplacian", task="sine")
    _, query, _ = link_of(found, {**row, "scoring": f"={text}"})
    assert [*regression.formulas(query, None)] == [text]


def test_where_a_page_cannot_show_it_there_is_no_link(seen):
    found, row = seen("transformer.additive")
    assert link_of(found, {**row, "model": "of_a_friend"}) is None
    session = SimpleNamespace(view=found.session.view, catalogue=Catalogue())
    other = Seen(session, found.choices, found.result)
    assert link_of(other, row) is None


def test_two_contestants_begin_with_what_was_entered_else_with_the_best(seen, tmp_path):
    def first():
        found, _ = seen("transformer.additive", task="reverse")
        view = replace(found.session.view, a="")
        session = SimpleNamespace(view=view, catalogue=found.session.catalogue)
        return Seen(session, found.choices, found.result).a

    assert first() == "transformer.additive"
    told = tmp_path / "races" / "mine" / "race.json"
    held = json.loads(told.read_text())
    held["facts"]["entered"] = "uniform"
    told.write_text(json.dumps(held))
    assert first() == "transformer.uniform"


def test_charts_are_kept_under_a_key_that_tells_apart_all_that_they_draw(seen):
    """Else whoever chooses another contestant goes on seeing the one before."""
    drawn = {}
    additive, uniform = "transformer.additive", "transformer.uniform"
    for a, b in ((additive, ""), (additive, uniform), (uniform, additive), (uniform, uniform)):
        found, _ = seen(a, task="reverse", b=b)
        makers = (figures._differences, figures._sizes, figures._learning)
        charts = [prepare() for make in makers if (prepare := make(found))]
        made = [
            (one.shape, one.values, {name: held.to_pydict() for name, held in one.tables.items()})
            for one in charts
        ]
        assert len(made) == 3
        assert drawn.setdefault(found.key, made) == made
    assert len(drawn) == 4

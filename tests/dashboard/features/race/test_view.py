"""The page's link, what of it a race has, and what workers are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.races import PLAN

from dashboard.features.race.view import (
    ALL,
    LINK,
    RaceView,
    chosen,
    requests,
    usual_reference,
)
from dashboard.records.catalogue import Catalogue, Entry
from dashboard.storage.races import Entrant, RaceRecord

RACE = RaceRecord(
    name="mine", folder=Path("nowhere"), version="7", tasks=tuple(PLAN.tasks), seeds=PLAN.seeds,
    entrants=tuple(Entrant(one.model, one.scoring, one.normaliser) for one in PLAN.contestants),
)  # fmt: skip
INSTALLED = Catalogue(
    models={
        "transformer": Entry(name="transformer", title="T", task="translation"),
        "nadaraya_watson": Entry(name="nadaraya_watson", title="N", task="regression"),
    },
    datasets={
        "reverse": Entry(name="reverse", title="R", task="translation"),
        "sine": Entry(name="sine", title="S", task="regression"),
    },
)


def test_a_view_is_its_link():
    view = RaceView(
        race="mine", task="sine", model=ALL, reference="m.=q.k + 1", a="m.x", b_map="1"
    )
    link = LINK.format(view, INSTALLED)
    assert LINK.parse(link, INSTALLED) == (view, [])
    assert LINK.format(RaceView(), INSTALLED) == {}


def test_what_is_usual_stands_for_what_is_not_said():
    found = chosen(RaceView(), RACE, INSTALLED)
    assert (found.task, found.model, found.reference.key) == (
        "reverse", "transformer", "transformer.scaled_dot",
    )  # fmt: skip
    assert found.models == ("transformer",)
    assert {one.model for one in found.entrants} == {"transformer"}
    assert found.problems == ()
    assert found.title(found.entrants[3]) == "scaled_dot + sparsemax"


def test_another_task_has_its_own_models_and_reference():
    found = chosen(RaceView(task="sine"), RACE, INSTALLED)
    assert found.models == ("nadaraya_watson",)
    assert found.reference.key == "nadaraya_watson.gaussian"


def test_what_is_not_installed_is_not_guessed():
    found = chosen(RaceView(model=ALL), RACE, Catalogue())
    assert found.models == ("transformer", "nadaraya_watson")
    assert len(found.entrants) == len(PLAN.contestants)
    assert found.title(found.entrants[0]) == "scaled_dot · transformer"


def test_what_the_race_has_not_is_told_and_replaced():
    view = RaceView(task="x" * 200, model="y", reference="z", a="v", b="w")
    found = chosen(view, RACE, INSTALLED)
    assert (found.task, found.model) == ("reverse", "transformer")
    assert [sentence.partition("=")[0] for sentence in found.problems] == [
        "task", "model", "reference", "a", "b",
    ]  # fmt: skip
    assert max(map(len, found.problems)) < 200


def test_the_reference_is_a_plain_scoring_where_there_is_one():
    assert (
        usual_reference([Entrant("m", "x", "n"), Entrant("m", "additive")]).scoring == "additive"
    )
    odd = [Entrant("m", "scaled_dot", "hard"), Entrant("m", "x")]
    assert usual_reference(odd) == odd[0]


def test_the_reference_is_the_one_that_normalisers_were_raced_with():
    plain = [Entrant("m", name) for name in ("scaled_dot", "gaussian", "additive")]
    entrants = [*plain, Entrant("m", "gaussian", "hard"), Entrant("m", "gaussian", "entmax")]
    assert usual_reference(entrants) == Entrant("m", "gaussian")
    every_pair = [*entrants, Entrant("m", "additive", "hard")]
    assert usual_reference(every_pair) == Entrant("m", "scaled_dot")


@pytest.mark.parametrize("model", ["", ALL])
def test_workers_are_asked_for_the_task_and_for_all_tasks(model):
    found = chosen(RaceView(model=model), RACE, Catalogue())
    standings, matrix = requests(found)
    options = dict(standings.options)
    assert (standings.task, standings.data, standings.scoring) == ("race", "mine", "scaled_dot")
    assert options["task"] == "reverse"
    assert options["version"] == "7"
    names = "transformer,nadaraya_watson" if model == ALL else "transformer"
    assert options["models"] == names
    assert dict(matrix.options) == {"normaliser": "", "show": "matrix", "version": "7"}


def test_another_task_leaves_the_matrix_as_it_is():
    view = RaceView(reference="transformer.uniform")
    first = requests(chosen(view, RACE, INSTALLED))
    other = requests(chosen(RaceView(task="sine", reference="nadaraya_watson.uniform"), RACE,
                            INSTALLED))  # fmt: skip
    assert first[1] == other[1]
    assert first[0] != other[0]

"""What a worker says of a race: standings, a matrix that agrees with them, checked uploads."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from support.races import FACTORS, GAINS, PLAN, RATES, SEEDS, contestant, laid_down

from attention_plugins.race.endings import sentence
from attention_plugins.race.records import Outcome, Trial
from attention_plugins.race.standings import standings
from attention_plugins.race.store import Race
from dashboard.charts.frames import maps
from dashboard.features.race import task
from dashboard.features.race.grid import mean_ranks
from dashboard.features.race.task_import import MOST_SEEDS, checked_outcome
from dashboard.features.race.view import ALL, RaceView, chosen, import_request, requests
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result
from dashboard.storage import races
from dashboard.storage.blobs import Blobs
from dashboard.storage.bundle import pack


class Context:
    """Takes every report and stops nothing."""

    def __init__(self):
        self.reports = []

    def report(self, fraction, note="", facts=None):
        self.reports.append((fraction, note))

    def stopped(self):
        return False


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def race(home):
    return laid_down(home / "races" / "mine")


def perform(request) -> Result:
    # As it crosses to the page.
    return Result.from_bytes(task.perform(request, Context()).to_bytes())


def asked(**view) -> tuple[Result, Result]:
    view = {"race": "mine", "model": "transformer", **view}
    found = chosen(RaceView(**view), races.read("mine"), Catalogue())
    one, other = requests(found)
    return perform(one), perform(other)


def by_key(result, table="standings"):
    return {row["key"]: row for row in result.tables[table].to_pylist()}


def test_the_standings_are_those_of_the_statistics(race):
    result, _ = asked()
    rows = by_key(result)
    assert len(rows) == len(GAINS)
    own = standings(
        race.outcomes(), "reverse", reference=contestant("scaled_dot"), higher_is_better=True,
        models=["transformer"],
    )  # fmt: skip
    for one in own:
        row = rows[f"transformer.{one.contestant.name}"]
        assert row["verdict"] == one.verdict
        assert row["rank"] == one.rank
        assert row["quality"] == (None if math.isnan(one.quality.mean) else one.quality.mean)
        if one.difference:
            assert row["difference"] == one.difference.mean
            assert (row["difference_low"], row["difference_high"]) == one.difference[1:3]
            assert row["near"] == one.parts["near"].mean
    assert rows["transformer.uniform + hard"]["problem"]
    assert result.facts["higher_is_better"] is True
    assert (result.facts["metric"], result.facts["unit"]) == ("Exact match", "%")


def test_it_is_said_why_trainings_ended(race):
    result, _ = asked()
    own = [one for one in race.outcomes() if one.trial.task == "reverse"]
    assert result.facts["endings"] == sentence(own, 100.0, 35)
    assert result.facts["endings"].startswith("All 28 trainings were out of budget after 35")
    ends = {row["ended"] for row in result.tables["trials"].to_pylist() if not row["tuning"]}
    assert ends == {"out of budget"}


def test_every_contestant_has_its_curve_its_losses_and_its_map(race):
    result, _ = asked()
    row = [one for one in race.outcomes() if one.trial.contestant == contestant("additive")
           and one.trial.task == "reverse" and not one.trial.tuning]  # fmt: skip
    curve = [
        one for one in result.tables["curves"].to_pylist() if one["key"] == "transformer.additive"
    ]
    assert [one["size"] for one in curve] == [4, 8, 16]
    assert curve[0]["quality"] == pytest.approx(np.mean([one.curve[0][1] for one in row]))
    assert curve[0]["low"] < curve[0]["quality"] < curve[0]["high"]
    losses = [
        one
        for one in result.tables["learning"].to_pylist()
        if one["key"] == "transformer.additive"
    ]
    assert [one["epoch"] for one in losses] == [1, 2, 3, 4, 5]
    assert losses[1]["loss"] == pytest.approx(1.0)
    table = result.tables["maps"]
    assert {*table["key"].to_pylist()} == {
        f"transformer.{who.name}" for who, gain in GAINS.items() if gain is not None
    }
    assert maps(table)[0].weights.shape == (2, 3, 5)
    assert maps(table)[0].weights[0, 1, 4] == 0.5
    trials = [
        one for one in result.tables["trials"].to_pylist() if one["key"] == "transformer.additive"
    ]
    assert len(trials) == SEEDS + len(RATES)
    assert result.facts["trained"] == [3.0, 8.0]
    assert result.facts["sizes"]["transformer"]["hidden"] == 32


def test_of_a_problem_there_are_curves_and_kept_losses_are_spread_over_the_epochs(race):
    result, _ = asked(task="sine", model="nadaraya_watson")
    assert next(iter(by_key(result))) == "nadaraya_watson.laplacian"
    fits = [row for row in result.tables["fits"].to_pylist() if row["key"].endswith("gaussian")]
    assert [row["truth"] for row in fits] == [0.0, 0.5, 1.0]
    epochs = [row["epoch"] for row in result.tables["learning"].to_pylist()][:3]
    assert epochs == [0, 10, 20]
    assert result.facts["trained"] == [50, 50]
    assert result.facts["higher_is_better"] is False
    assert result.tables["maps"].num_rows == 0


def test_files_are_those_of_the_exports(race):
    result, _ = asked()
    assert r"\toprule" in result.facts["files"]["tex"]
    assert "| Additive |" in result.facts["files"]["md"]
    assert not {"transformer", "scaled", "additive"} & {
        *re.findall("[a-z]+", result.facts["files"]["tex"])
    }
    assert " in Transformer" in result.facts["files"]["tex"]
    floors = {name: values for name, *values in result.facts["limits"]["floors"]}
    assert floors["copying the nearest learned example"][0] == pytest.approx(31.3)
    assert "| copying the nearest learned example |" in result.facts["files"]["md"]


@pytest.mark.parametrize(("seeds", "complete"), [(3, False), (SEEDS, True)])
def test_how_far_a_race_is(home, seeds, complete):
    made = laid_down(home / "races" / "mine", seeds)
    outcomes = made.outcomes()
    for view in ({"task": "reverse"}, {"task": "sine", "model": "nadaraya_watson"}):
        facts = asked(**view)[0].facts  # of the whole race, whichever task is shown
        assert facts["complete"] is complete
        assert facts["done"] == len(outcomes)
        assert facts["total"] == 8 * (SEEDS + len(RATES))
        tuning = sum(one.seconds for one in outcomes if one.trial.tuning)
        assert facts["hours"] == pytest.approx(sum(one.seconds for one in outcomes) / 3600)
        assert facts["share"] == pytest.approx(tuning / facts["hours"] / 36)


def test_a_line_that_is_none_is_named(race):
    with (race.folder / "outcomes.jsonl").open("a") as file:
        file.write("nothing\n")
    result, _ = asked()
    count = len(race.outcomes())
    assert [line.partition(":")[0] for line in result.facts["skipped"]] == [f"line {count + 1}"]


def cells(result, task):
    return {row["name"]: row for row in result.tables["cells"].to_pylist() if row["task"] == task}


@pytest.mark.parametrize("seeds", [3, 6, SEEDS])
@pytest.mark.parametrize("reference", ["scaled_dot", "additive", "uniform + hard"])
def test_the_matrix_agrees_with_the_standings(home, seeds, reference):
    laid_down(home / "races" / "mine", seeds)
    found, matrix = asked(reference=f"transformer.{reference}")
    rows, drawn = by_key(found), cells(matrix, "reverse")
    assert len(drawn) == len(GAINS)
    for name, cell in drawn.items():
        row = rows[f"transformer.{name}"]
        said = "could not run" if row["verdict"] == "could not run" else row["verdict"]
        if reference != "uniform + hard":
            assert cell["verdict"] == said
        assert cell["rank"] == row["rank"]
        assert cell["p"] == pytest.approx(row["p"])
        assert cell["difference"] == pytest.approx(row["difference"])


@pytest.mark.parametrize("reference", ["scaled_dot", "additive"])
def test_equal_contestants_have_one_row_and_equal_cells(home, reference):
    twin = contestant("dot")
    made = laid_down(
        home / "races" / "mine", plan=replace(PLAN, contestants=(*PLAN.contestants, twin))
    )
    for one in made.outcomes():
        if one.trial.task == "reverse" and one.trial.contestant == contestant("additive"):
            made.add(replace(one, trial=replace(one.trial, contestant=twin)))
    found, matrix = asked(reference=f"transformer.{reference}")
    rows, drawn = by_key(found), cells(matrix, "reverse")
    assert rows["transformer.additive"]["equals"] == ["transformer.dot"]
    assert "transformer.dot" not in rows
    assert {row["key"] for row in found.tables["trials"].to_pylist()} == {*rows}
    assert drawn["dot"]["equals"] == ["additive"]
    assert {**drawn["dot"], "name": "", "equals": []} == {
        **drawn["additive"], "name": "", "equals": []
    }  # fmt: skip
    for name in ("uniform", "scaled_dot + sparsemax"):
        assert drawn[name]["p"] == pytest.approx(rows[f"transformer.{name}"]["p"])


def test_an_effect_is_the_difference_in_pooled_standard_deviations(race):
    _, matrix = asked()
    values = {
        who: [one.quality for one in race.outcomes() if one.trial.task == "reverse"
              and one.trial.contestant == who and not one.trial.tuning]
        for who in (contestant("additive"), contestant("scaled_dot"))
    }  # fmt: skip
    ours, theirs = values.values()
    spread = math.sqrt((np.var(ours, ddof=1) + np.var(theirs, ddof=1)) / 2)
    drawn = cells(matrix, "reverse")
    assert drawn["additive"]["effect"] == pytest.approx(
        np.mean(np.subtract(ours, theirs)) / spread
    )
    assert drawn["uniform"]["effect"] == -3
    assert drawn["scaled_dot"]["effect"] is None
    assert drawn["uniform + hard"]["effect"] is None


def test_less_is_better_where_the_quality_is_an_error(race):
    _, matrix = asked(task="sine", model="nadaraya_watson")
    drawn = cells(matrix, "sine")
    assert drawn["laplacian"]["effect"] > 0 > drawn["uniform"]["effect"]
    assert {row["verdict"] for row in cells(matrix, "reverse").values()} == {
        "no reference", "could not run",
    }  # fmt: skip


def test_mean_ranks_are_of_those_that_ran_on_all_tasks(home):
    plan = replace(PLAN, tasks={**PLAN.tasks, "step": PLAN.tasks["sine"]})
    race = laid_down(home / "races" / "mine", plan=plan)
    for who in [*FACTORS][:2]:
        for seed in range(SEEDS):
            trial = Trial(task="step", contestant=who, rate=0.01, seed=seed)
            race.add(Outcome(trial=trial, quality=1.0))
    _, matrix = asked(task="sine", model="nadaraya_watson")
    found = mean_ranks(matrix.tables["cells"]).query("model == 'nadaraya_watson'")
    wanted = [("laplacian", 1.0, 1, 2), ("gaussian", 1.5, 2, 2)]
    assert [*found[["name", "mean", "place", "tasks"]].itertuples(index=False)] == wanted


def test_equal_mean_ranks_share_a_place_and_the_next_is_as_many_further():
    ranks = {"one": (1, 2), "other": (2, 1), "third": (3, 3), "failed": (4, None), "new": (5,)}
    rows = [{"task": task, "model": "m", "name": name, "rank": rank}
            for name, own in ranks.items() for task, rank in enumerate(own)]  # fmt: skip
    table = pa.Table.from_pylist(rows)
    found = mean_ranks(table)
    wanted = [("one", 1.5, 1), ("other", 1.5, 1), ("third", 3.0, 3)]
    assert [*found[["name", "mean", "place"]].itertuples(index=False)] == wanted
    assert mean_ranks(table.slice(0, 0)).empty


def test_a_task_that_is_not_installed_is_left_out(home):
    plan = replace(PLAN, tasks={"of_a_friend": PLAN.tasks["sine"], **PLAN.tasks})
    laid_down(home / "races" / "mine", plan=plan)
    found = chosen(RaceView(race="mine"), races.read("mine"), Catalogue())
    standings_of, matrix = requests(found)
    assert perform(matrix).facts["left_out"] == ["of_a_friend"]
    with pytest.raises(ValueError, match="of_a_friend"):
        perform(standings_of)


@pytest.mark.parametrize(
    "request_",
    [
        Request.make("race", data="nothing", options={"show": "matrix"}),
        Request.make("race", data="../mine", options={"show": "matrix"}),
        Request.make("race", data="mine", options={"show": "secrets"}),
        Request.make("race", data="mine"),
        Request.make(
            "race", data="mine", options={"show": "standings", "task": "x", "models": ""}
        ),
    ],
    ids=range(5),
)
def test_what_cannot_be_is_refused_in_a_sentence(race, request_):
    with pytest.raises(ValueError, match=r"race|need show"):
        perform(request_)


# ------------------------------------------------------------------------------------- uploads


def upload(folder, **changes) -> Result:
    files = {name: (folder / name).read_bytes() for name in ("race.json", "outcomes.jsonl")}
    files |= changes
    digest = Blobs().put(pack({name: data for name, data in files.items() if data is not None}))
    return perform(import_request(digest))


def written(result, name) -> bytes:
    return result.tables["files"][name][0].as_py()


def test_a_race_arrives_as_it_left(race, home):
    result = upload(race.folder)
    assert (result.facts["left_out"], result.facts["cacheable"]) == (0, False)
    there = home / "races" / "there"
    there.mkdir()
    (there / "race.json").write_bytes(written(result, "plan"))
    (there / "outcomes.jsonl").write_bytes(written(result, "outcomes"))
    again = Race.open(there)
    assert again.plan == Race.open(race.folder).plan
    assert again.facts == race.facts
    assert [one.to_json() for one in again.outcomes()] == [
        one.to_json() for one in race.outcomes()
    ]


def line(**changes) -> bytes:
    trial = Trial(task="sine", contestant=next(iter(FACTORS)), rate=0.01, seed=0)
    return json.dumps(Outcome(trial=trial, quality=1.0).to_json() | changes).encode()


def trial(**changes):
    return json.loads(line())["trial"] | changes


EXAMPLE = {"queries": ["a"], "keys": ["b", "c"], "weights": [[[0.5, 0.5]]], "x": [],
           "predicted": [], "truth": []}  # fmt: skip
WRONG = {
    "no json": b"nothing",
    "no object": b"[1]",
    "no trial": b"{}",
    "infinite": line(quality=1.0).replace(b'"quality": 1.0', b'"quality": 1e999'),
    "NaN": line(quality=1.0).replace(b'"quality": 1.0', b'"quality": NaN'),
    "a text": line(quality="good"),
    "a switch": line(quality=True),
    "a list": line(validation=[1.0]),
    "another task": line(trial=trial(task="secrets")),
    "another contestant": line(trial=trial(contestant={"model": "m", "scoring": "s"})),
    "another field": line(pickled="x"),
    "a late seed": line(trial=trial(seed=SEEDS)),
    "half a seed": line(trial=trial(seed=0.5)),
    "a rate in words": line(trial=trial(rate="fast")),
    "another part": line(parts={"somewhere": 1.0}),
    "a long problem": line(problem="x" * 3_000),
    "a long curve": line(curve=[[1.0, 1.0]] * 101),
    "many losses": line(losses=[1.0] * 2_001),
    "a crooked map": line(example={**EXAMPLE, "weights": [[[0.5]]]}),
    "a map of texts": line(example={**EXAMPLE, "weights": [[["x", "y"]]]}),
    "labels of numbers": line(example={**EXAMPLE, "queries": [1]}),
    "no labels": line(example={**EXAMPLE, "queries": None}),
    "no parts": line(parts=None),
    "a giant": line(parameters=2**63),
    "a crooked curve": line(example={**EXAMPLE, "x": [1.0]}),
    "a deep nest": b'{"trial": ' + b"[" * 1_000 + b"]" * 1_000 + b"}",
}


@pytest.mark.parametrize("what", WRONG)
def test_one_bad_line_costs_that_line_and_is_named(race, what):
    lines = (race.folder / "outcomes.jsonl").read_bytes().splitlines()
    lines.insert(4, WRONG[what])
    result = upload(race.folder, **{"outcomes.jsonl": b"\n".join(lines)})
    assert result.facts["kept"] == len(race.outcomes())
    (problem,) = result.facts["problems"]
    assert problem.startswith("line 5 is left out: ")
    assert len(problem) < 1_000


def test_a_good_line_is_taken(race):
    outcome = checked_outcome(json.loads(line(example=EXAMPLE)), PLAN, PLAN.contestants)
    assert outcome.example.weights == [[[0.5, 0.5]]]


def test_a_training_that_stands_twice_counts_once(race):
    lines = (race.folder / "outcomes.jsonl").read_bytes()
    first = lines.splitlines()[0]
    result = upload(race.folder, **{"outcomes.jsonl": lines + first + b"\n"})
    assert result.facts["kept"] == len(race.outcomes())
    assert "the same training as an earlier line" in result.facts["problems"][0]


def test_a_name_with_a_line_separator_stays_one_line(home):
    odd = replace(PLAN.contestants[0], scoring="a\u2028b")
    made = Race.create(home / "odd", replace(PLAN, contestants=(odd,)), {})
    (made.folder / "outcomes.jsonl").write_bytes(line(
        trial=trial(contestant={"model": odd.model, "scoring": odd.scoring, "normaliser": ""}),
    ))  # fmt: skip
    result = upload(made.folder)
    assert written(result, "outcomes").count(b"\n") == len(
        written(result, "outcomes").splitlines()
    )
    assert result.facts["kept"] == 1


def changed(**changes) -> bytes:
    return json.dumps({"plan": PLAN.to_json() | changes, "facts": {"n": 1}}).encode()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"race.json": None}, "there is no race.json in it"),
        ({"race.json": b"{"}, "race.json is not the JSON it should be"),
        ({"race.json": b"[]"}, "need an object"),
        ({"race.json": b"{}"}, "no plan of a race: need an object with named values, got nothing"),
        ({"race.json": b" " * (races.LARGEST_PLAN + 1)}, "bytes"),
        ({"race.json": changed(format=99)}, "format"),
        ({"race.json": changed(contestants=[])}, "contestants: need a length of at least 1"),
        ({"race.json": changed(seeds=MOST_SEEDS + 1)}, f"seeds: need at most {MOST_SEEDS}, got"),
        (
            {"race.json": changed(contestants=[{"model": "m", "scoring": 3}])},
            r"at contestants\.0\.scoring: need a text, got ‘3’",
        ),
        (
            {"race.json": changed(tasks={"t": {"examples": "x", "epochs": 1, "batch_size": 1,
                                               "rates": [0.1]}})},
            r"at tasks\.t\.examples: need a whole number, got ‘x’",
        ),
        *(
            (
                {"race.json": changed(tasks={"t": {"examples": 1, "epochs": 1, "batch_size": 1,
                                                   "rates": [0.1], name: 0}})},
                rf"at tasks\.t\.{name}: need at least 1, got ‘0’",
            )
            for name in ("examples", "epochs", "batch_size")
        ),
        ({"secrets.txt": b"x"}, "no entry called"),
        ({"../race.json": b"x"}, "no entry called"),
    ],
)  # fmt: skip
def test_what_is_no_race_is_refused(race, files, words):
    with pytest.raises(ValueError, match=words):
        upload(race.folder, **files)


def test_what_is_no_zip_is_refused():
    with pytest.raises(ValueError, match="not a zip file"):
        perform(import_request(Blobs().put(b"PK nothing")))


def test_all_models_are_compared_with_one(race):
    found = chosen(RaceView(race="mine", model=ALL), races.read("mine"), Catalogue())
    result = perform(requests(found)[0])
    assert {row["model"] for row in result.tables["standings"].to_pylist()} == {"transformer"}

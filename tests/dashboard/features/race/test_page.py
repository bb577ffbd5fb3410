"""The page *Race*: what it shows of a race, and where its parts lead."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from support.catalogue import normaliser
from support.races import (
    FACTS,
    GAINS,
    PLAN,
    PROBLEM,
    RATES,
    SEEDS,
    contestant,
    laid_down,
    outcomes,
)

from attention_plugins.race.store import Race
from dashboard import language
from dashboard.jobs.backend import Event
from dashboard.storage import races
from dashboard.storage.bundle import pack, unpack
from dashboard.visitors import Visitor

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def facts(facts):
    facts["normalisers"] += [normaliser("hard")]
    return facts


@pytest.fixture
def race(home):
    return laid_down(home / "races" / "mine")


def words(app) -> str:
    kinds = (app.text, app.caption, app.markdown, app.header)
    return "\n".join(str(one.value) for kind in kinds for one in kind).replace("\\", "")


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


BOX, PHONE = 34, 358  # px: of a row's box, and of a table on a phone


def standings(app):
    return app.dataframe[0].value.set_index("Contestant")


def test_the_standings_are_those_of_the_race(opened, race):
    app = opened("race")
    assert not app.exception
    table = standings(app)
    assert [*table.index[:2]] == ["Additive", "Scaled dot + Sparsemax"]
    floors = table.index[table["Verdict"] == "floor"]
    assert [*table.index[-len(floors) :]] == [*floors]
    assert {"copying the nearest learned example", "copying the input"} < {*floors}
    assert table.loc["Additive", "Verdict"] == "better"
    assert table.loc["Uniform", "Verdict"] == "worse"
    assert table.loc["Scaled dot + Sparsemax", "Verdict"] == "no difference found"
    assert [*table["Rank"].dropna()] == [1, 2, 2, 4]
    assert table.loc["Additive", "Near"] - table.loc["Additive", "Far"] == pytest.approx(10)
    assert 31 < table.loc["copying the nearest learned example", "Exact match, % ↑"] < 32
    assert link(app) == {"race": "mine"}


def test_it_says_who_is_beyond_the_axis_and_what_near_and_far_are(opened, race, monkeypatch):
    monkeypatch.setattr("dashboard.features.race.chart_lines._FENCE", 1e-9)
    told = words(opened("race", a="transformer.additive"))
    beyond = r"beyond the axis: Additive 1\d\.\d \[[\d., ]+\], Uniform -2\d\.\d \[[-\d., ]+\]\."
    assert re.search(beyond, told), told
    near, far = "Near: Quality on unseen examples that are close", "Far: Quality on all other"
    assert [told.count(one) for one in (near, far)] == [2, 2]  # below the table, and of additive


def test_contestants_are_called_by_their_titles_everywhere(opened, race):
    app = opened("race", task="reverse", a="transformer.additive", b="transformer.uniform")
    drawn = "\n".join(chart.proto.spec for chart in app.get("vega_lite_chart"))
    for title in ("Additive", "Uniform", "Scaled dot + Sparsemax"):
        assert title in drawn
    assert "scaled_dot" not in drawn
    assert "Difference to Scaled dot in Transformer" in words(app)
    assert "Additive" in app.selectbox("race-reference").options


def test_rank_and_verdict_stand_beside_the_names_where_a_phone_shows_them(opened, race):
    app = opened("race")
    columns = json.loads(app.dataframe[1].proto.columns)
    assert [*app.dataframe[1].value.columns[:3]] == ["Contestant", "Rank", "Verdict"]
    mean = columns["Exact match, % ↑"]
    assert (mean["label"], mean["help"].replace("\\", "")) == (
        "Mean, %", "Reverse: Exact match (%), higher is better, on data that nobody learned."
    )  # fmt: skip
    assert columns["Difference"]["label"] == "Difference (+ better)"
    ranked = app.dataframe[1].value.dropna(subset="Rank")
    order = ranked.sort_values(["Rank", "Exact match, % ↑"], ascending=[True, False])
    assert [*order["Contestant"]] == [*ranked["Contestant"]]  # as the line above the table says
    assert "Rows go by rank, then by the mean." in words(app)
    assert BOX + sum(columns[one]["width"] for one in ("Contestant", "Rank", "Verdict")) < PHONE


def test_it_says_how_it_was_tested_and_who_could_not_run(opened, race):
    app = opened("race")
    told = words(app)
    assert f"Mean over {SEEDS} seeds with 95% bootstrap intervals" in told
    assert "corrected by Holm over the 3 comparisons with it on this task" in told
    assert f"Uniform + Hard: {PROBLEM}" in told
    assert FACTS["commit"] in told
    assert "machine x86_64, 1 thread ·" in told  # its file says "1 threads"
    files = [one.proto.label for one in app.get("download_button")]
    assert {"CSV", "LaTeX", "Markdown", "The whole race"} <= {*files}
    assert FACTS["command"] in [code.value for code in app.code]


def test_it_says_between_which_limits_a_task_is_and_what_it_was_given(opened, race):
    told = words(opened("race"))
    uniform = [
        one.quality
        for one in race.outcomes()
        if not one.trial.tuning
        and one.trial.task == "reverse"
        and one.trial.contestant.scoring == "uniform"
    ]
    floor = f"Floor {sum(uniform) / SEEDS:.4g} (uniform attention)"
    assert f"{floor}, ceiling 100 (the right answers)" in told
    assert told.count("After 35 steps on 400 examples, at the best of 2 learning rates.") == 2
    assert "Effects are those after 20–35 steps" in told
    assert "every choice is at an edge of the grid, unless both came out alike." in told
    assert "decides nothing" not in told


def test_a_task_whose_best_contestant_is_near_its_floor_says_so(opened, home):
    plan = replace(PLAN, contestants=[*GAINS][2:3])
    made = Race.create(home / "races" / "mine", plan, FACTS)
    for outcome in outcomes():
        if outcome.trial.contestant in plan.contestants:
            made.add(outcome)
    told = words(opened("race"))
    assert "covers 0.0% of the way" in told
    assert "This task decides nothing: after 35 steps its best contestant" in told
    assert "Decides nothing, since its best contestant is near the task's floor: " in told
    assert "Reverse after 35 steps" in told


def test_rows_of_another_race_join_where_they_are_asked_for(opened, race, home):
    assert "race-joined" not in {one.key for one in opened("race").toggle}
    others = replace(PLAN, contestants=(contestant("scaled_dot"), contestant("cosine")))
    made = Race.create(home / "races" / "of-ann", others, {"commit": "7654321"})
    for one in race.outcomes():
        if one.trial.contestant == contestant("additive"):
            made.add(replace(one, trial=replace(one.trial, contestant=contestant("cosine"))))
    app = opened("race", race="mine")
    assert "Additive" in standings(app).index
    assert "cosine · of-ann" not in standings(app).index
    app.toggle("race-joined").set_value(True).run()
    assert not app.exception
    rows = standings(app)
    assert rows.loc["Additive = cosine · of-ann", "Rank"] == 1
    assert link(app)["joined"] == "1"
    assert "of-ann · commit 7654321" in words(app)


def test_equal_contestants_are_one_row_that_both_of_their_names_open(opened, home):
    """Of which the reference is the first."""
    twin = contestant("additive", normaliser="sparsemax")
    plan = replace(PLAN, contestants=(*PLAN.contestants, twin))
    made = laid_down(home / "races" / "mine", plan=plan)
    for one in made.outcomes():
        if one.trial.task == "reverse" and one.trial.contestant == contestant("additive"):
            made.add(replace(one, trial=replace(one.trial, contestant=twin)))
    app = opened("race", a=f"transformer.{twin.name}")
    assert not app.exception
    both = "Additive = Additive + Sparsemax"
    assert standings(app).loc[both, "Verdict"] == "better"
    told = words(app)
    assert "with equal outcomes and losses in every seed count once, so 4 are ranked." in told
    assert "5 contestants ran; " in told
    assert f"One row each: {both}." in told
    assert f"{both} on Reverse" in told
    assert "corrected by Holm over the 3 comparisons with it on this task" in told
    app = opened("race", reference=f"transformer.{twin.name}")
    assert standings(app).loc["Additive + Sparsemax = Additive", "Verdict"] == "reference"


def test_task_and_reference_are_chosen_and_travel(opened, race):
    app = opened("race")
    app.selectbox("race-task").set_value("sine").run()
    assert not app.exception
    assert {"Gaussian", "Laplacian", "Uniform"} < {*standings(app).index}
    app.selectbox("race-reference").set_value("nadaraya_watson.uniform").run()
    assert standings(app).loc["Uniform", "Verdict"] == "reference"
    assert standings(app).loc["Gaussian", "Verdict"] == "better"
    chosen = {"task": "sine", "reference": "nadaraya_watson.uniform"}
    assert link(app) == {"race": "mine", **chosen}
    again = opened("race", **link(app))
    assert standings(again).equals(standings(app))


def test_a_task_offers_the_models_that_race_on_it(opened, race):
    app = opened("race")
    assert app.selectbox("race-model").options == ["Transformer"]
    app = opened("race", task="sine")
    assert app.selectbox("race-model").options == ["Nadaraya_watson"]


def test_what_a_link_names_and_the_race_has_not_is_told(opened, race):
    app = opened("race", task="nothing", a="nobody.at_all", race="mine")
    assert not app.exception
    assert "task=nothing: this race has none of that name; reverse is shown" in words(app)
    assert "a=nobody.at_all: nobody of that name races on this task" in words(app)
    app = opened("race", race="../../etc")
    assert not app.exception
    assert "need the name of a race" in words(app)
    assert standings(app).loc["Additive", "Verdict"] == "better"


def test_a_contestant_is_opened_with_its_seeds_its_rates_and_its_page(opened, race):
    app = opened("race", a="transformer.uniform")
    assert "Uniform on Reverse" in words(app)
    assert "in links and commands: transformer.uniform" in words(app)
    seeds, rates = app.dataframe[2].value, app.dataframe[3].value
    assert [*seeds["Seed"]] == [*range(SEEDS)]
    assert {*seeds["why it ended"]} == {"out of budget"}
    assert "All 28 trainings were out of budget after 35 steps: they were not flat yet." in words(
        app
    )
    assert all(seeds["Better by"] < -15)
    assert [*rates["Rate"]] == [*RATES]
    assert [*rates["Chosen"]] == ["", "✓"]
    (way,) = app.get("page_link")
    assert way.proto.page == "train"
    asked = dict(part.split("=") for part in way.proto.query_string.split("&"))
    assert asked | {
        "model": "transformer", "scorings": "uniform", "data": "reverse", "epochs": "5",
        "learning_rate": "0.03", "model.hidden": "32",
    } == asked  # fmt: skip


def test_a_fit_is_opened_beside_the_reference_whoever_else_is_looked_at(opened, race):
    app = opened("race", task="sine", a="nadaraya_watson.laplacian", b="nadaraya_watson.uniform")
    (way,) = app.get("page_link")
    assert way.proto.page in ("regression", "")
    asked = dict(part.split("=") for part in way.proto.query_string.split("&"))
    assert (asked["a"], asked["b"]) == ("laplacian", "gaussian")
    seeds = app.dataframe[2].value  # of errors, of which the lower is better
    own = next(name for name in seeds if "error" in name)
    assert [*seeds["Better by"]] == [*(seeds["Reference"] - seeds[own])]
    assert all(seeds["Better by"] > 0)
    reference = contestant("gaussian", "nadaraya_watson")
    recorded = {
        one.trial.seed: one.quality
        for one in race.outcomes()
        if one.trial.contestant == reference and not one.trial.tuning
    }
    assert [*seeds["Reference"]] == pytest.approx([recorded[seed] for seed in seeds["Seed"]])


def test_what_a_click_on_a_cell_says_is_shown(opened, race):
    from dashboard.features.race.grid import _opened
    from dashboard.features.race.view import RaceView, chosen
    from dashboard.records.catalogue import Catalogue

    found = races.read("mine")
    view = RaceView(a_map="1.1", b="transformer.additive")
    now = _opened(view, chosen(view, found, Catalogue()), "sine", "nadaraya_watson.uniform")
    assert now.task == "sine"
    assert now.a == "nadaraya_watson.uniform"
    assert now.model == "nadaraya_watson"
    assert now.a_map == ""
    assert not now.b


def test_maps_of_two_stand_side_by_side(opened, race):
    app = opened("race", a="transformer.additive", b="transformer.uniform")
    alts = [chart.proto.alt.removesuffix(".") for chart in app.get("vega_lite_chart")]
    assert "Attention of panel a: queries down, keys across" in alts
    assert "Attention of panel b: queries down, keys across" in alts
    fits = opened("race", task="sine")
    alts = [chart.proto.alt.removesuffix(".") for chart in fits.get("vega_lite_chart")]
    assert "Predictions of the two contestants and the truth" in alts


def test_a_race_that_runs_says_how_far_it_is(opened, home):
    laid_down(home / "races" / "young", seeds=3)
    app = opened("race")
    assert not app.exception
    assert "These rows are of the first 37 of 72 trainings." in words(app)
    assert standings(app).loc["Additive", "Verdict"] == "too few seeds"
    assert f"{SEEDS} seeds would do." in words(app)
    laid_down(home / "races" / "young")
    app.button("race-refresh").click().run()
    assert "trainings done; these" not in words(app)
    assert standings(app).loc["Additive", "Verdict"] == "better"


def test_without_a_race_there_is_the_command_that_runs_one(opened, home):
    app = opened("race")
    assert not app.exception
    assert "No race yet" in words(app)
    assert any("attention_plugins race" in code.value for code in app.code)
    assert any(str(home / "races" / "my-race") in code.value for code in app.code)


def test_the_shipped_race_comes_first_and_what_cannot_be_read_is_named(opened, home, race):
    laid_down(home / "trained" / "race", plan=replace(PLAN, seeds=SEEDS + 1))
    damaged = home / "races" / "broken"
    damaged.mkdir()
    (damaged / "race.json").write_text("{")
    app = opened("race")
    assert app.selectbox("race-race").value == "shipped"
    assert link(app) == {}
    assert len(app.selectbox("race-race").options) == 2
    assert "The race broken is not shown" in words(app)
    app.selectbox("race-race").set_value("mine").run()
    assert link(app) == {"race": "mine"}


def test_the_race_leaves_as_files(opened, race):
    from dashboard.features.race.table import bundle

    app = opened("race")
    labels = [button.proto.label for button in app.get("download_button")]
    assert [*labels[-4:]] == ["CSV", "LaTeX", "Markdown", "The whole race"]
    entries = unpack(bundle(races.read("mine")), lambda name: True)
    assert {*entries} == {"race.json", "outcomes.jsonl"}
    assert json.loads(entries["race.json"])["plan"]["seeds"] == SEEDS


def test_a_failed_job_says_why(opened, backend, race):
    backend.failing["race"] = Event(number=1, stage="failed", note="Out of memory.")
    app = opened("race")
    assert not app.exception
    assert "Out of memory." in words(app)


def test_only_ones_own_imports_are_listed_and_removed(opened, home, race, monkeypatch):
    plan, lines = ((race.folder / name).read_bytes() for name in ("race.json", "outcomes.jsonl"))
    for owner in ("ann_b", "bob"):
        held = {races.PLAN: plan, races.OUTCOMES: lines}
        races.add(owner, held, owner, megabytes=1, total=2)
    visitor = Visitor(owner="ann_b", role="author")
    monkeypatch.setattr("dashboard.ui.owner.visitor", lambda: visitor)
    app = opened("race")
    assert app.selectbox("race-race").options == ["ann_b", "mine"]
    link_of_bob = opened("race", race="bob")
    assert not link_of_bob.exception
    assert not [one for one in link_of_bob.button if one.key == "race-remove"]
    own = opened("race", race="ann_b")
    own.button("race-remove").click().run()
    assert not own.exception
    assert "The race ann_b was removed." in [one.value for one in own.get("text")]
    assert not (home / "races" / "ann_b").exists()


def upload(app, entries, name="a friend's.zip"):
    app.file_uploader[0].set_value((name, pack(entries), "application/zip")).run()
    assert not app.exception
    return app


def files(race):
    return {name: (race.folder / name).read_bytes() for name in ("race.json", "outcomes.jsonl")}


def test_a_race_of_another_dashboard_is_taken_in_and_shown(opened, home, race):
    theirs = files(race)
    theirs["outcomes.jsonl"] += b"nothing\n"
    app = upload(opened("race"), theirs)
    assert link(app) == {"race": "a-friend-s"}
    count = len(race.outcomes())
    assert f"a-friend-s: {count:,} trainings were taken in." in words(app)
    assert "1 line left out." in words(app)
    assert f"line {count + 1} is left out: line {count + 1} is not the JSON" in words(app)
    assert standings(app).loc["Additive", "Verdict"] == "better"
    assert races.read("a-friend-s").owner == ""
    assert not [*(home / "blobs").iterdir()]


@pytest.mark.parametrize(
    ("change", "words_"),
    [
        ({"race.json": b"{}"}, "Refused: race.json is no plan of a race"),
        ({"virus.exe": b"x"}, "Refused: a bundle has no entry called 'virus.exe'"),
    ],
)
def test_what_is_no_race_is_refused_and_nothing_is_stored(opened, home, race, change, words_):
    app = upload(opened("race"), {**files(race), **change})
    assert words_ in words(app)
    assert [path.name for path in (home / "races").iterdir()] == ["mine"]


def test_who_may_not_make_anything_imports_nothing(opened, race, monkeypatch):
    visitor = Visitor(owner="ann", role="visitor")
    monkeypatch.setattr("dashboard.ui.owner.visitor", lambda: visitor)
    app = opened("race")
    assert not app.exception
    assert not app.file_uploader


def test_a_setting_limits_what_is_taken_in(opened, home, race, monkeypatch):
    monkeypatch.setattr("dashboard.features.race.bringing.MB", 1)
    app = upload(opened("race"), files(race))
    assert "imported races together" in words(app) or "need a file of at most" in words(app)
    assert [path.name for path in (home / "races").iterdir()] == ["mine"]


def test_it_speaks_chinese(opened, race, monkeypatch):
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    app = opened("race")
    assert not app.exception
    table = app.dataframe[0].value  # its columns are named in the browser
    assert [*table["Verdict"][:2]] == ["更好", "未发现差异"]
    assert "照抄最近的已学样本的答案" in [*table["Contestant"]]
    assert json.loads(app.dataframe[0].proto.columns)["Verdict"]["label"] == "结论"
    told = words(app)
    assert "与 Scaled dot 的差异" in told
    assert "机器 x86_64, 1 个线程 ·" in told
    assert f"{SEEDS} 个随机种子的均值，附 95% 自助法置信区间。" in told
    assert link(app) == {"race": "mine"}

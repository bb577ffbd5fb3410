"""The page *Race* at a task of the field."""

from dataclasses import replace

import pytest
from support.field_races import AWAY, MAD, PLAN, PROBLEM, laid_down, of_mad, outcomes

from attention_plugins.race.records import Contestant
from attention_plugins.race.store import Race
from dashboard import language
from dashboard.features.race.view import FIELD
from dashboard.storage import races


@pytest.fixture(autouse=True)
def race(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setattr(races, "SHIPPED_FOLDER", tmp_path / "trained")
    return laid_down(tmp_path / "races" / "mine")


def words(app):
    kinds = (app.text, app.caption, app.markdown, app.header)
    return "\n".join(str(one.value) for kind in kinds for one in kind).replace("\\", "")


def test_a_task_of_the_field_shows_its_cells_limits_budget_and_what_follows(opened):
    app = opened("race", model="all")
    assert not app.exception
    table = app.dataframe[0].value.set_index(["contestant", "model"])
    assert table.loc["Scaled dot", "zoology_64"].tolist() == [
        pytest.approx(99.5), "solved", 588, *map(pytest.approx, (60.0, 99.5, 99.5)), 0.0021544, 2,
        20.0,
    ]  # fmt: skip
    assert table.loc["linear_attention", "zoology_128"]["why it ended"] == "out of budget"
    assert table.loc["Scaled dot + Sparsemax", "zoology_64"]["why it ended"] == PROBLEM
    told = words(app)
    assert "Floor 25 (any of the values in the sequence), ceiling 100." in told
    assert "Up to 3,332 steps on 100,000 sequences, at up to 2 rates" in told
    assert "A training above 99% has solved the task" in told
    assert "Published for softmax attention: at least 99%" in told
    assert "zoology_64, contestants that are through: 2. At any rate tried 0, 1, 1, 1 of" in told
    assert "6 contestants, 2 models, 1 task, a training at each rate" in told
    assert "These rows are of the first 6 of 12 trainings" in told
    assert [one.label for one in app.selectbox][:3] == ["Race", "Task", "Model"]
    assert app.selectbox("race-model").options == ["zoology_64", "zoology_128", "all models"]
    assert app.selectbox("race-task").options == ["MQAR: 64 tokens, 4 pairs"]
    assert len(app.get("vega_lite_chart")) == 2  # one a size
    by_size = app.dataframe[1].value.set_index("contestant")
    assert by_size.loc["linear_attention"].tolist() == ["31.0", "81.0"]
    assert by_size.loc["Scaled dot"].fillna("–").tolist() == ["99.5 (588)", "–"]
    assert "Scaled dot + Sparsemax" not in by_size.index  # it could not run
    (beside,) = app.dataframe[2].value.to_dict("records")
    assert (beside["published, %"], beside["accuracy, %"]) == ("≥ 99.0", pytest.approx(99.5))
    assert beside["here − published"] == pytest.approx(0.5)


def test_who_stands_out_is_chosen(opened):
    app = opened("race", model="zoology_64")
    assert len(app.dataframe) == 2  # no table by size
    (chosen,) = (one for one in app.multiselect if one.key == "race-coloured")
    assert chosen.options == ["Scaled dot", "linear_attention"] == chosen.value
    chosen.set_value(["linear_attention"]).run()
    assert not app.exception
    spec = app.get("vega_lite_chart")[-1].proto.spec
    assert '"linear_attention"' in spec
    assert '"Scaled dot"' not in spec


def test_rows_of_another_race_say_so_and_by_what_it_was_made(opened, tmp_path):
    new = Contestant(model="zoology_64", scoring="=-|q - k|")
    known, facts = outcomes()[1], {"command": "make it", "commit": "7654321", "machine": "2 cores"}
    facts["joined"] = "1234567"
    race = Race.create(tmp_path / "races" / "of-ann", replace(PLAN, contestants=[new]), facts)
    race.add(replace(known, trial=replace(known.trial, contestant=new)))
    app = opened("race", race="mine")
    assert "-|q - k| · of-ann" in {*app.dataframe[0].value["contestant"]}
    assert "commit 7654321 · trainings taken over from commit 1234567 · machine" in words(app)
    assert "make it" in [code.value for code in app.code]


def test_of_mad_all_tasks_stand_beside_what_is_published(opened, tmp_path):
    (tmp_path / "races" / "mine" / "outcomes.jsonl").unlink()
    laid_down(tmp_path / "races" / "mine", MAD, of_mad())
    app = opened("race", task="mad_memorisation")
    assert not app.exception
    rows = app.dataframe[1].value
    assert [f"mad_{name}" for name in AWAY] == [name for title in rows["task"] for name in FIELD
                                                if FIELD[name] == title]  # fmt: skip
    assert rows["here − published"].tolist() == pytest.approx([*AWAY.values()])
    assert rows["published, %"].tolist()[3] == "~ 78.8"
    told = words(app)
    assert "8.0 points below the published mean" in told
    assert "5 of the 6 settings were not run here" in told
    assert "~ is a mean of this setting and others" in told


def test_its_sentences_are_in_the_visitors_language(opened, monkeypatch):
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    told = words(opened("race"))
    assert "下限 25（序列中的任意一个值），上限 100。" in told
    assert "zoology_64，已完成的参赛者：2 个。" in told
    assert "0, 1, 1, 1 个解决了该任务" in told

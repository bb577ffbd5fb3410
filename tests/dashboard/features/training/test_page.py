"""The page *Train* on a service that answers at once, with trainings made up here."""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from support.pages import chart_words, live_words

from dashboard import language
from dashboard.features.training import probe as probes
from dashboard.features.training.view import LINK, requests
from dashboard.jobs.own_trainings import OwnTrainings
from dashboard.links.fields import MOST_SCORINGS
from dashboard.records.request import Request
from dashboard.records.training import Ahead, Epoch, Training
from dashboard.ui import live, playing
from dashboard.ui import workbench as state
from dashboard.ui.owner import run_store
from dashboard.ui.widgets import plain

FIRST = 1_700_000_000.0
FIELD = "training-bahdanau"  # begins the keys of its model's settings


class Service:
    """Remembers every call; ``refusing`` is what it raises on a start or a keep."""

    def __init__(self):
        self.trainings, self.calls, self.refusing = {}, [], ""

    def start(self, request, owner="", address=""):
        if self.refusing:
            raise ValueError(self.refusing)
        id = f"{len(self.trainings) + 1:032x}"[::-1]
        self.add(Training(id=id, request=request, created=FIRST + len(self.trainings),
                          state="queued", note="Waits until a trainer is free.",
                          facts={"corpus": request.data}))  # fmt: skip
        return id

    def add(self, training):
        self.trainings[training.id] = training

    def get(self, id):
        return self.trainings[id]

    def list(self):
        return sorted(self.trainings.values(), key=lambda one: -one.created)

    def probe(self, id, epoch):
        self.calls.append(("probe", id, epoch))
        weights = np.full((1, 4, 3, 5), 0.2)
        return pa.table({
            "kind": ["cross"], "layer": pa.array([1], pa.int32()),
            "heads": pa.array([4], pa.int32()), "queries": [["je", "suis", "<eos>"]],
            "keys": [["I", "am", "not", "tired", "<eos>"]], "causal": [False],
            "weights": pa.array(weights.reshape(1, -1).tolist(), pa.list_(pa.float32())),
        })  # fmt: skip

    def _note(self, name, id):
        self.calls.append((name, id))
        if id not in self.trainings:
            raise KeyError(id)

    def pause(self, id):
        self._note("pause", id)
        self.trainings[id] = replace(self.trainings[id], state="paused", live={})

    def resume(self, id, address=""):
        self._note("resume", id)
        self.trainings[id] = replace(self.trainings[id], state="queued")

    def cancel(self, id):
        self._note("cancel", id)
        self.trainings[id] = replace(self.trainings[id], state="cancelled", live={})

    def remove(self, id):
        self._note("remove", id)
        del self.trainings[id]

    def export(self, id, name):
        self._note("keep", id)
        if self.refusing:
            raise ValueError(self.refusing)
        self.calls.append(("name", name))
        self.trainings[id] = replace(self.trainings[id], checkpoint=name.replace("-", "_"))
        return name


@pytest.fixture
def service(backend, monkeypatch):
    made = Service()
    bench = state.workbench()
    bench.trainings = made
    return made


def epochs(count, bleu=7.0):
    return tuple(
        Epoch(epoch=n, loss=5.0 / n, seconds=2.0, tokens_per_second=1999.0,
              bleu=None if bleu is None else bleu * n, probe=f"essai *{n}*")
        for n in range(1, count + 1)
    )  # fmt: skip


def trained(service, number, *, scoring="additive", count=3, how="done", **more):
    """A training whose id begins with its number, eight times."""
    options = {"recipe.epochs": 7, "pairs": 401, "probe": "I am not tired."}
    made = Training(
        id=str(number) * 32,
        request=Request.make(
            "training", model="bahdanau", scoring=scoring, data="pairs", options=options
        ),
        created=FIRST + number, state=how, note=more.pop("note", ""), epochs=epochs(count),
        facts={"corpus": "pairs", **more.pop("facts", {})}, **more,
    )  # fmt: skip
    service.add(made)
    return made


def running(service, number, **more):
    live = {"epoch": 3, "epochs": 7, "step": 11, "steps": 13, "loss": 1.2345,
            "tokens_per_second": 23_456.7, "fraction": 0.4}  # fmt: skip
    return trained(service, number, how="running", count=2, live=live, **more)


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def words(app):
    kinds = (app.text, app.caption, app.markdown, app.code)
    return "\n".join([*(str(one.value) for kind in kinds for one in kind), *live_words(app)])


def charts(app, key):
    """Of the charts that have a data set with that column: their specification and its rows."""
    found = []
    for chart in app.get("vega_lite_chart"):
        for dataset in chart.proto.datasets:
            rows = pa.ipc.open_stream(dataset.data.data).read_pandas()
            rows = rows.rename(columns=lambda name: name.removeprefix("exact_"))
            if key in rows.columns:
                found.append((json.loads(chart.proto.spec), rows))
    return found


def button(app, label):
    return next(one for one in app.button if one.label == label)


def test_an_empty_page_says_what_will_be_here_and_what_a_press_does(opened, service):
    app = opened("training")
    assert not app.exception
    assert "Nothing trained yet" in words(app)
    assert "2 trainings of 7 epochs on up to 401 pairs of Pairs, at most 7 steps an epoch" in (
        words(app).replace("\\", "")
    )
    assert service.trainings == {}
    assert link(app) == {}


def test_train_starts_one_training_for_each_scoring(opened, service):
    app = opened("training", seed="3")
    app.multiselect("training-scorings").set_value(["gaussian", "additive"]).run()
    app.number_input(f"{FIELD}-recipe-epochs").set_value(5).run()
    app.number_input(f"{FIELD}-model-hidden").set_value(34).run()
    app.slider("training-scoring-gaussian-width").set_value(0.5).run()
    app.text_input("training-probe").set_value("Go !").run()
    assert service.trainings == {}
    app.button("train-start").click().run()
    assert not app.exception
    shared = {
        "pairs": 401, "held_out": 23, "recipe.epochs": 5, "recipe.batch_size": 64,
        "recipe.learning_rate": 0.005, "recipe.schedule": "cosine", "model.hidden": 34,
        "model.dropout": 0.3, "probe": "Go !",
    }  # fmt: skip
    asked = {one.request.scoring: one.request for one in service.list()}
    assert asked == {
        name: Request.make(
            "training", model="bahdanau", scoring=name, parameters=parameters, data="pairs",
            options=shared, seed=3,
        )
        for name, parameters in (("additive", {}), ("gaussian", {"width": 0.5}))
    }  # fmt: skip
    assert words(app).count("Waits until a trainer is free") == 0  # it is a bar's text
    assert link(app) == {
        "scorings": "additive,gaussian", "epochs": "5", "model.hidden": "34",
        "gaussian.width": "0.5", "probe": "Go !", "seed": "3",
    }  # fmt: skip


def test_a_link_restores_the_setup_and_starts_nothing(opened, service):
    app = opened(
        "training", model="convolution", scorings="bilinear", start="patient", epochs="11",
        model__hidden="48", pairs="211",
    )  # fmt: skip
    assert not app.exception
    assert app.selectbox("training-model").value == "convolution"
    assert app.selectbox("training-start").value == "patient"
    assert app.multiselect("training-scorings").value == ["bilinear"]
    assert app.number_input("training-convolution-recipe-epochs").value == 11
    assert app.number_input("training-convolution-model-hidden").value == 48
    assert app.number_input("training-convolution-pairs").value == 211
    assert service.trainings == {}


def test_another_start_sets_every_field_and_another_model_its_own(opened, service):
    app = opened("training", epochs="3")
    app.selectbox("training-start").set_value("patient").run()
    assert app.number_input(f"{FIELD}-recipe-epochs").value == 211
    assert app.number_input(f"{FIELD}-pairs").value == 0
    assert app.number_input(f"{FIELD}-model-hidden").value == 128
    assert link(app) == {"start": "patient"}
    app.selectbox("training-model").set_value("convolution").run()
    assert app.number_input("training-convolution-model-hidden").value == 36
    assert app.number_input("training-convolution-recipe-epochs").value == 211
    app.button("train-start").click().run()
    assert {"model.hidden": 36, "recipe.epochs": 211}.items() <= dict(
        service.list()[0].request.options
    ).items()


def test_hostile_links_are_named_and_the_page_stands(opened, service):
    app = opened("training", epochs="<b>", show="../..", scorings="a b", start="x", data="y")
    assert not app.exception
    for named in ("epochs=‘<b>’", "‘../..’", "‘a b’", "start=‘x’", "data=‘y’"):
        assert named in words(app)
    app.button("train-start").click().run()
    assert len(service.trainings) == 2


def test_what_is_not_installed_keeps_the_button_still(opened, service):
    app = opened("training", model="mamba")
    assert not app.exception
    assert "‘mamba’ is not installed here" in words(app).replace("\\", "")
    assert app.button("train-start").disabled


def test_a_refusal_is_said_beside_the_button(opened, service):
    service.refusing = "cannot write /data: disk full"
    app = opened("training")
    app.button("train-start").click().run()
    assert not app.exception
    assert "This training was not started" in words(app)
    assert "cannot write /data: disk full" in words(app)
    service.refusing = ""
    app.button("train-start").click().run()
    assert "was not started" not in words(app)
    assert len(service.trainings) == 2


def test_a_running_training_shows_its_live_figures(opened, service):
    running(service, 1)
    app = opened("training")
    assert not app.exception
    assert "Loss **1.234**" in words(app) or "Loss **1.235**" in words(app)
    assert "Tokens\\/s **23,457**" in words(app)
    assert "BLEU **14.0**" in words(app)
    (bar,) = app.get("progress")
    assert (bar.proto.value, bar.proto.text) == (40, "epoch 3 of 7 · step 11 of 13")


def test_the_time_left_and_the_queue_are_said(opened, service):
    first = running(service, 1)
    service.add(replace(first, ahead=Ahead(starts_in=0.0, left=185.0)))
    second = trained(service, 2, how="queued", count=0, note="Waits until a trainer is free.")
    service.add(replace(second, ahead=Ahead(before=0, starts_in=185.0, left=400.0)))
    third = trained(service, 3, how="queued", count=0, note="Waits until a trainer is free.")
    service.add(replace(third, ahead=Ahead(before=1)))
    app = opened("training")
    assert [bar.proto.text.replace("\\", "") for bar in app.get("progress")] == [
        "epoch 3 of 7 · step 11 of 13 · about 3 minutes left",
        "Next in the queue. Starts in about 3 minutes.",
        "1 training before it in the queue.",
    ]
    assert "run or wait" not in words(app)  # of the third nobody knows
    service.cancel(third.id)
    app.run()
    assert "2 trainings run or wait; the last will be done in about 7 minutes." in words(app)


def test_what_such_trainings_took_is_said_before_they_start(opened, service, catalogue):
    view = LINK.parse({"scorings": "additive"}, catalogue)[0]
    (request,) = requests(view)
    before = words(opened("training", scorings="additive"))
    assert "Such a training takes" not in before
    assert "How long it takes is known after the first steps." in before.replace("\\", "")
    done = tuple(replace(one, seconds=20.0, evaluation_seconds=5.0) for one in epochs(7))
    service.add(replace(trained(service, 1), request=request, epochs=done))
    app = opened("training", scorings="additive")
    assert "Such a training takes about 3 minutes here" in words(app)
    assert "after the first steps" not in words(app)
    assert "Such trainings take about 3 minutes each here" in words(opened("training"))


def test_cards_keep_their_places_while_states_change(opened, service):
    """The oldest comes first, as in the legend, whatever runs, waits or is done."""

    def order(app):
        return [one.key for one in app.checkbox if one.key.endswith("-compare")]

    for number, how in ((1, "done"), (2, "running"), (3, "queued")):
        trained(service, number, how=how)
    before = order(opened("training"))
    assert before == [f"training-{str(n) * 8}-compare" for n in (1, 2, 3)]
    for number, how in ((2, "done"), (3, "running")):
        trained(service, number, how=how)
    assert order(opened("training")) == before


def test_the_loss_is_drawn_from_the_first_step(opened, service):
    one = running(service, 1, facts={"steps": 13})
    service.add(replace(one, epochs=(), losses=((1, 6.5), (13, 5.0), (26, 4.25))))
    losses, bleus = (rows for _, rows in charts(opened("training"), "series"))
    assert list(losses["epoch"]) == [pytest.approx(1 / 13, abs=1e-4), 1.0, 2.0]
    assert list(losses["value"]) == [6.5, 5.0, 4.25]
    assert list(bleus["value"]) == []


@pytest.mark.parametrize("kept", [(True, False), (False, True), (False, False)])
def test_a_point_tells_its_step_wherever_some_training_kept_its_steps(opened, service, kept):
    for number, steps in enumerate(kept, 1):
        one = trained(service, number, facts={"steps": 13})
        service.add(replace(one, losses=((1, 6.5), (26, 4.25)) if steps else ()))
    spec, rows = charts(opened("training"), "series")[0]
    assert rows["step"].notna().any() == any(kept)
    (points,) = (layer for layer in spec["layer"] if layer.get("name") == "points")
    told = {each["field"]: each.get("format") for each in points["encoding"]["tooltip"]}
    assert ("step" in told) == any(kept)
    assert told["epoch"] == (",.2f" if any(kept) else ",d")


def test_axes_have_ends_before_the_first_step(opened, service):
    for number, words in enumerate((90, 400), 1):
        trained(service, number, how="queued", count=0, facts={"target_words": words})
    ends = [
        rows[["low", "high"]].iloc[0].tolist() for _, rows in charts(opened("training"), "high")
    ]
    assert ends[:2] == [[0.0, pytest.approx(math.log(400))], [0.0, 100.0]]


def test_a_card_says_how_many_pairs_are_held_out(opened, service):
    trained(service, 1, facts={"pairs": 6000, "trained_on": 5800})
    said = words(opened("training")).replace("\\", "")
    assert "5,800 pairs learned, 200 held out" in said


def test_the_last_score_stands_beside_near_far_and_copied(opened, service):
    running(service, 1)
    known = service.trainings["1" * 32]
    parts = {name: {"sentences": n, "score": n / 2} for n, name in ((13, "near"), (187, "far"))}
    last = replace(known.epochs[-1], parts=parts)
    service.add(replace(known, epochs=(*known.epochs[:-1], last)))
    trained(service, 2)
    app = opened("training")
    assert not app.exception
    (told,) = [one for one in app.caption if "near" in one.value]
    assert told.value == "held out: near 6.5, far 93.5"
    assert "**Far**, 187 sentences. The score of all other held-out sentences." in told.help


def test_each_button_calls_the_service(opened, service):
    one = running(service, 1)
    app = opened("training")
    button(app, "Pause").click().run()
    button(app, "Resume").click().run()
    button(app, "Cancel").click().run()
    button(app, "Remove it").click().run()
    assert not app.exception
    assert [call for call in service.calls if call[0] != "probe"] == [
        (name, one.id) for name in ("pause", "resume", "cancel", "remove")
    ]
    assert "Nothing trained yet" in words(app)


def test_a_button_of_a_training_that_another_tab_removed_does_no_harm(opened, service):
    one = running(service, 1)
    trained(service, 2)
    app = opened("training")
    pause = button(app, "Pause")
    service.remove(one.id)
    pause.click().run()
    assert not app.exception
    assert not [box for box in app.checkbox if one.id[:8] in box.key]
    assert [box.key for box in app.checkbox] == ["training-22222222-compare"]


def test_a_model_is_kept_under_a_name_and_found_on_the_translation_page(opened, service):
    one = trained(service, 1, scoring="scaled_dot")
    app = opened("training")
    assert app.text_input("training-11111111-keep-name").value == "bahdanau_scaled_dot_pairs"
    app.text_input("training-11111111-keep-name").set_value("my-model").run()
    button(app, "Keep it").click().run()
    assert not app.exception
    assert ("name", "my-model") in service.calls
    assert "Kept as my\\_model" in words(app)
    (found,) = app.get("page_link")
    assert found.proto.page == "translation"
    query = found.proto.query_string
    assert all(part in query for part in ("a=my_model", "corpus=pairs", "text=I"))
    assert one.id in service.trainings


def test_a_refused_name_is_said_below_its_field_until_it_is_another(opened, service):
    trained(service, 1)
    refusal = "there is a checkpoint 'one' already; choose another name"
    service.refusing = refusal
    app = opened("training")
    (popover,) = [one for one in app.get("popover") if one.proto.id.endswith("-name")]
    assert "Spaces and hyphens become \\_" in words(popover)
    button(app, "Keep it").click().run()
    (popover,) = [one for one in app.get("popover") if one.proto.id.endswith("-name")]
    assert [one.value for one in popover.error] == [plain(refusal)]
    assert [one.value for one in app.error] == [plain(refusal)], "once"
    assert app.get("page_link") == []
    app.run()
    assert len(app.error) == 1, "it stays while the page looks at the trainings"
    app.text_input("training-11111111-keep-name").set_value("two").run()
    assert not app.error
    service.refusing = ""
    button(app, "Keep it").click().run()
    assert "Kept as two" in words(app)


def test_a_failed_training_says_why_and_whose_fault_it_was(opened, service):
    trained(service, 1, how="failed", count=2, note="division by *zero*",
            facts={"culprit": "attention_odd 0.3", "traceback": "Traceback: line 7"})  # fmt: skip
    app = opened("training")
    assert "division by *zero*" in [text.value for text in app.text]
    assert "It happened in attention\\_odd 0\\.3" in words(app)
    assert "Traceback: line 7" in words(app)
    button(app, "Resume").click().run()
    assert ("resume", "1" * 32) in service.calls


def test_scorings_are_compared_by_curve_and_probe(opened, service):
    trained(service, 1, scoring="additive", count=3)
    trained(service, 2, scoring="scaled_dot", count=2)
    app = opened("training")
    (loss, losses), (_, bleus), (_, entropies) = charts(app, "series")
    names = ["a Additive", "b Scaled dot"]
    assert losses[["epoch", "value", "series"]].to_dict("list") == {
        "epoch": [1, 2, 3, 1, 2], "value": [5.0, 2.5, 1.6667, 5.0, 2.5],
        "series": [names[0]] * 3 + [names[1]] * 2,
    }  # fmt: skip
    assert list(bleus["value"]) == [7.0, 14.0, 21.0, 7.0, 14.0]
    legend = next(layer for layer in loss["layer"] if "stroke" in layer["encoding"])
    assert legend["encoding"]["stroke"]["scale"]["domain"] == names
    assert list(entropies["value"]) == [1.0] * 5  # every row is spread alike on all words
    assert r"**essai \*3\***" in words(app)
    assert r"after epoch 2 of 7" in words(app)
    maps = [rows for _, rows in charts(app, "q")]
    assert [len(cells) for cells in maps] == [3 * 5, 3 * 5]


def test_the_slider_goes_back_through_the_epochs(opened, service):
    trained(service, 1, count=3)
    trained(service, 2, count=2)
    app = opened("training")
    app.select_slider("train-epoch").set_value(1).run()
    assert not app.exception
    assert words(app).count("after epoch 1 of 7") == 2
    assert [rows["epoch"].tolist() for _, rows in charts(app, "epoch")][-1] == [1]
    assert link(app) == {"epoch": "1"}
    again = opened("training", epoch="2")
    assert again.select_slider("train-epoch").value == 2


def test_learning_curves_can_be_taken_away(opened, service):
    trained(service, 1, scoring="additive", count=3)
    app = opened("training")
    app.session_state["train-curves-export"] = True
    app.run()
    labels = [one.proto.label for one in app.get("download_button")]
    assert {"PNG", "SVG", "HTML", "loss", "bleu"} <= set(labels)
    assert "Bundle" not in labels


def test_play_goes_through_the_epochs_and_stops_at_the_last(opened, service):
    trained(service, 1, count=3)
    app = opened("training")
    app.button("train-play").click().run()
    seen = [words(app)]
    while app.button("train-play").label == "Pause":
        app.run()
        assert len(seen) < 9, "it never stops"
        seen.append(words(app))
    places = [next(n for n in (1, 2, 3) if f"after epoch {n} of 7" in text) for text in seen]
    assert places == [1, 2, 3, 3]
    assert link(app) == {}


def test_a_pause_pressed_as_the_play_ends_does_not_begin_another(opened, service, monkeypatch):
    trained(service, 1, count=2)
    now = 50.0
    monkeypatch.setattr(playing, "time", SimpleNamespace(monotonic=lambda: now))
    app = opened("training")
    for _ in range(2):
        app.button("train-play").click().run()
        while app.button("train-play").label == "Pause":
            app.run()
        now += 0.5
        app.button("train-play").click().run()
        assert app.button("train-play").label == "Play"
        assert link(app) == {}
        now += 0.2


def test_sliding_ends_the_play_and_a_pause_keeps_the_place(opened, service):
    trained(service, 1, count=5)
    app = opened("training")
    app.button("train-play").click().run()
    app.run()
    app.button("train-play").click().run()
    assert link(app) == {"epoch": "2"}
    app.button("train-play").click().run()
    app.select_slider("train-epoch").set_value(4).run()
    assert app.button("train-play").label == "Play"
    assert link(app) == {"epoch": "4"}


@pytest.mark.parametrize("heard", [2, 1, 0])
def test_a_browser_that_has_not_heard_of_the_next_steps_does_not_end_the_play(
    opened, service, heard
):  # fmt: skip
    """It tells where the slider stood some steps before, 0 for the latest, as if it were moved."""
    trained(service, 1, count=5)
    app = opened("training")
    app.button("train-play").click().run()
    app.run()
    app.run()
    assert "after epoch 3 of 7" in words(app)
    app.select_slider("train-epoch").set_value(heard).run()
    assert app.button("train-play").label == "Pause"
    assert "after epoch 4 of 7" in words(app)


def test_a_pause_that_comes_after_the_end_does_nothing(opened, service):
    trained(service, 1, count=5)
    app = opened("training")
    app.button("train-play").click().run()
    del app.session_state["train-playing"]  # as when the last epoch was played meanwhile
    app.button("train-play").click().run()
    assert not app.exception
    assert app.button("train-play").label == "Play"
    assert link(app) == {}


def test_the_map_stays_where_the_words_of_other_epochs_are_fewer(opened, service):
    words_of = {1: 5, 2: 2}

    def probe(id, epoch):
        rows = words_of[epoch]
        return pa.table({
            "kind": ["cross"], "layer": pa.array([0], pa.int32()),
            "heads": pa.array([1], pa.int32()), "queries": [[f"mot{n}" for n in range(rows)]],
            "keys": [["go", "."]], "causal": [False],
            "weights": pa.array([[0.5] * (2 * rows)], pa.list_(pa.float32())),
        })  # fmt: skip

    service.probe = probe
    trained(service, 7, count=2)
    specs = []
    for epoch, count in words_of.items():
        app = opened("training", epoch=str(epoch))
        ((spec, cells),) = charts(app, "query")
        assert len({*cells["query"]} - {""}) == count
        specs.append(spec)
    assert specs[0] == specs[1]


def test_maps_words_and_the_curve_follow_the_slider_of_epochs(opened, service):
    def probe(id, epoch):
        rows = 4 - epoch
        return pa.table({
            "kind": ["cross"], "layer": pa.array([0], pa.int32()),
            "heads": pa.array([1], pa.int32()), "queries": [[f"mot{n}" for n in range(rows)]],
            "keys": [["go", "."]], "causal": [False],
            "weights": pa.array([[0.5 / epoch] * (2 * rows)], pa.list_(pa.float32())),
        })  # fmt: skip

    service.probe = probe
    a, b = trained(service, 1, count=3), trained(service, 2, scoring="dot", count=2)
    chosen, titles = {"a": a, "b": b}, {"a": "a", "b": "b"}
    rows = probes._entropies(chosen, titles)
    (one,) = probes.followers(chosen, 2, titles, rows)
    assert (one.slider.key, one.slider.at, one.slider.positions) == (
        "train-epoch",
        1,
        [0, 1, 2, 3],
    )
    got = json.loads(gzip.decompress(live._bytes(one, {})))
    assert {*got["tables"]} == {"probe a", "probe b", "entropy"}
    assert got["tables"]["entropy"]["now"]["epoch"] == [[1], [2], [3], [3]]
    last = [b.epochs[0].probe, *[b.epochs[1].probe] * 3]
    assert got["words"]["translated b"] == [f"**{plain(text)}**" for text in last]
    for said, epoch in zip(got["words"]["reads a"], (1, 2, 3, 3), strict=True):
        assert said.endswith(f"after epoch {epoch} of 7")
    held = got["tables"]["probe a"]["cells"]
    assert [[*filter(None, texts)][-1] for texts in held["query"]] == [
        "mot2",
        "mot1",
        "mot0",
        "mot0",
    ]
    assert [values.count(None) for values in held["value"]] == [0, 2, 4, 4]
    app = opened("training", epoch="2")
    ((_, cells), _) = charts(app, "query")
    assert [*cells["query"]] == held["query"][1]
    assert not [*probes.followers({"a": replace(a, state="running")}, 2, titles, rows)]


def test_without_held_out_sentences_there_is_no_score(opened, service):
    one = trained(service, 1)
    options = (*one.request.options, ("held_out", 0))
    request = replace(one.request, options=options)
    service.add(replace(one, request=request, epochs=epochs(2, bleu=None)))
    app = opened("training")
    assert not app.exception
    assert "BLEU **" not in words(app)
    assert "no score" in words(app)
    assert [len(rows) for _, rows in charts(app, "series")] == [2, 2]  # loss and entropy


def test_the_latest_four_are_in_the_charts_until_one_chooses(opened, service):
    for number in range(1, 7):
        trained(service, number)
    app = opened("training")
    first = charts(app, "series")[0][1]
    assert len(set(first["series"])) == 4
    shown = [one.key for one in app.checkbox if one.value]
    assert sorted(shown) == [f"training-{str(n) * 8}-compare" for n in range(3, 7)]
    app.checkbox("training-66666666-compare").uncheck().run()
    assert sorted(link(app)["show"].split(",")) == ["33333333", "44444444", "55555555"]
    again = opened("training", **link(app))
    assert sorted(one.key for one in again.checkbox if one.value) == sorted(
        f"training-{str(n) * 8}-compare" for n in range(3, 6)
    )


def test_a_colour_stays_with_its_training_when_another_begins(opened, service):
    def colours(app):
        spec, rows = charts(app, "series")[0]
        assert set(rows["series"])
        scale = next(one for one in spec["layer"] if "stroke" in one["encoding"])["encoding"]
        return dict(zip(*(scale["stroke"]["scale"][end] for end in ("domain", "range")),
                        strict=True))  # fmt: skip

    for number, scoring in enumerate(("additive", "uniform", "bilinear"), start=1):
        trained(service, number, scoring=scoring)
    before = colours(opened("training"))
    trained(service, 4, scoring="gaussian")
    trained(service, 5, scoring="laplacian")
    after = colours(opened("training"))
    kept = before.keys() & after.keys()
    assert len(kept) == 2
    assert {name: before[name] for name in kept} == {name: after[name] for name in kept}


def test_a_link_to_a_training_of_another_server_says_that_it_is_not_here(opened, service):
    trained(service, 1)
    app = opened("training", show="11111111,0badcafe")
    assert "No training ‘0badcafe’ on this server" in words(app).replace("\\", "")
    assert [len(set(rows["series"])) for _, rows in charts(app, "series")] == [1, 1, 1]


def test_somebody_elses_training_is_watched_and_says_so(opened, service, monkeypatch):
    monkeypatch.setattr(OwnTrainings, "owns", lambda _, training: not training.owner)
    one = trained(service, 1)
    service.add(replace(one, owner="another"))
    app = opened("training", show="11111111")
    told = "This training is somebody else's: it can be watched, not changed."
    assert told in words(app).replace("\\", "")
    assert not [button for button in app.button if str(button.key).endswith("-remove")]
    service.add(one)
    assert told not in words(opened("training")).replace("\\", "")


def test_a_training_whose_plugin_is_gone_is_still_shown(opened, service):
    one = trained(service, 1)
    service.add(replace(one, request=replace(one.request, scoring="entmax")))
    app = opened("training")
    assert not app.exception
    assert r"entmax \(not installed\)" in words(app)


def test_what_was_just_started_is_in_the_charts_whatever_was_chosen_before(opened, service):
    trained(service, 1)
    app = opened("training", show="11111111", epoch="2", scorings="uniform")
    app.button("train-start").click().run()
    assert link(app) == {"scorings": "uniform"}
    assert len([one for one in app.checkbox if one.value]) == 2


def test_a_file_of_ones_own_is_a_corpus(opened, service):
    data = f"upload:{'4f' * 32}"
    app = opened("training", data=data, scorings="additive")
    assert app.selectbox("training-data").options[-1] == "Pairs 4f4f4f4f…"
    app.button("train-start").click().run()
    assert [one.request.data for one in service.list()] == [data]


OWN = {"name": "exact_match", "title": "Exact match", "unit": "%", "higher_is_better": True}


def curves(app):
    """The values of each chart that has a series over epochs."""
    found = [cells for _, cells in charts(app, "value") if {"epoch", "series"} <= set(cells)]
    return [list(cells["value"]) for cells in found]


def test_a_data_sets_own_metric_stands_in_bleus_place(opened, service):
    one = trained(service, 1, facts={"metric": OWN})
    scored = tuple(replace(each, score=20.0 * each.epoch) for each in epochs(2))
    service.add(replace(one, epochs=scored))
    app = opened("training")
    assert not app.exception
    assert "Exact match, % **40.0**" in words(app).replace("\\", "")
    assert "BLEU **" not in words(app)
    assert curves(app)[:2] == [[5.0, 2.5], [20.0, 40.0]]


def test_trainings_of_two_metrics_have_a_chart_each(opened, service):
    trained(service, 1)
    one = trained(service, 2, facts={"metric": OWN})
    service.add(replace(one, epochs=tuple(replace(e, score=50.0) for e in epochs(2))))
    app = opened("training")
    assert not app.exception
    assert curves(app)[1:3] == [[7.0, 14.0, 21.0], [50.0, 50.0]]


def test_the_charts_and_the_probe_are_kept_and_seen_again(opened, service, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    monkeypatch.setattr("dashboard.ui.page_menu.preview", lambda charts, heading: b"")
    one = trained(service, 1)
    other = trained(service, 2, scoring="scaled_dot", count=2)
    app = opened("training")
    app.session_state["page-keep"] = True
    app.run().button("page-keep-now").click().run()
    (kept,) = run_store().all()
    panels = run_store().open(kept.id).panels
    assert {panel.request for panel in panels} == {one.request, other.request}
    table = next(p.result.tables["epochs"] for p in panels if p.request == one.request)
    assert table["loss"].to_pylist() == [5.0, 2.5, 5 / 3]
    service.trainings.clear()
    run = opened("runs", id=kept.id)
    assert not run.exception
    assert chart_words(run) == chart_words(app)
    assert r"essai \*3\*" in words(run)
    assert "essai *2*" in str([table.value.values for table in run.dataframe])


def test_while_a_training_runs_the_page_is_not_kept(opened, service):
    running(service, 1)
    assert opened("training").button("page-keep-waiting").disabled


TYPED, CHOICES = "training-formula", "training-scorings"
NEAR = "=dot(q, k) / sqrt(d) - m * abs(i - j)"


def typed(opened, text, **given):
    app = opened("training", **given)
    chosen = app.multiselect(CHOICES).value
    app.multiselect(CHOICES).set_value([*chosen, "="]).run()
    return app.text_input(TYPED).set_value(text).run()


def test_a_typed_scoring_is_added_and_trained(opened, service):
    app = typed(opened, "q.k / sqrt(d) - m |i - j|", scorings="additive")
    assert any(r"\sqrt{d}" in one.value for one in app.latex)
    assert link(app) == {"scorings": "additive"}
    button(app, "Add this scoring").click().run()
    assert not app.exception
    assert app.multiselect(CHOICES).value == ["additive", NEAR]
    assert TYPED not in [one.key for one in app.text_input]
    assert link(app) == {"scorings": f"additive,{NEAR}"}
    (slider,) = [one for one in app.slider if one.label.endswith("m")]
    slider.set_value(0.25).run()
    key = next(key for key in link(app) if key != "scorings")
    assert key.startswith("formula_")
    assert link(app)[key] == "0.25"
    app.button("train-start").click().run()
    made = {one.request.scoring: dict(one.request.parameters) for one in service.list()}
    assert made == {"additive": {}, NEAR: {"m": 0.25}}
    title = NEAR[1:].replace("-", "−")
    assert f"{title}**" in words(app).replace("\\", "")  # on its card

    again = opened(
        "training", **{key.replace(".", "__"): value for key, value in link(app).items()}
    )
    assert again.multiselect(CHOICES).value == ["additive", NEAR]
    assert [one.value for one in again.slider if one.label.endswith("m")] == [0.25]
    assert len(service.trainings) == 2  # a link starts none


def test_what_is_wrong_with_a_typed_scoring_is_marked_and_adds_nothing(opened, service):
    app = typed(opened, "q.k / sqr(d)")
    assert "Did you mean sqrt" in app.error[0].value
    assert "Nothing is added yet." in words(app)
    assert "Add this scoring" not in [one.label for one in app.button]
    app.text_input(TYPED).set_value("q.k / sqrt(n)").run()
    assert "Padding changes how many keys there are" in app.error[0].value
    assert link(app) == {}
    app.multiselect(CHOICES).set_value(["additive"]).run()
    assert not app.exception
    assert TYPED not in [one.key for one in app.text_input]


def test_the_same_formula_is_not_added_twice(opened, service):
    app = typed(opened, "q @ k.T", scorings="=q.k")
    assert app.multiselect(CHOICES).value == ["=dot(q, k)", "="]
    assert button(app, "Add this scoring").disabled
    assert "It is among the scorings above." in words(app)


@pytest.mark.parametrize("count", [MOST_SCORINGS - 1, MOST_SCORINGS])
def test_a_page_with_all_its_scorings_takes_no_typed_one(opened, service, count):
    here = ",".join(f"=q.k + {number}" for number in range(count))
    app = typed(opened, "q @ k.T", scorings=here)
    is_full = count == MOST_SCORINGS
    assert button(app, "Add this scoring").disabled == is_full
    said = f"There are {MOST_SCORINGS} scorings already: take one away first."
    assert (said in words(app)) == is_full


def test_a_chinese_reader_is_told_the_plan_in_whole_sentences(opened, service, monkeypatch):
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    app = opened("training")
    assert not app.exception
    assert "还没有训练过模型" in words(app)
    (plan,) = [one.value for one in app.caption if "次训练" in one.value]
    assert "每次" in plan
    assert "  " not in plan

"""The training task: what a request may say, and what a training leaves behind when it stops."""

import errno
import json
from dataclasses import replace

import pytest
import torch

from attention_plugins import checkpoints
from attention_plugins.contract import ContractError
from attention_plugins.models.bahdanau import BAHDANAU
from attention_plugins.recipe import Recipe
from attention_plugins.registry import installed
from attention_plugins.translator import Translator
from dashboard.features.training import task as training
from dashboard.features.training import task_offer
from dashboard.features.training import task_order as training_order
from dashboard.features.training.task_figures import totals
from dashboard.jobs.tasks import Cancelled, perform
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request
from dashboard.storage import files
from dashboard.storage.blobs import Blobs
from dashboard.storage.files import StorageError
from dashboard.storage.training_folder import TrainingFolder

ROWS = [
    (f"I see {a} {n}.", f"Je vois {b} {m} !")
    for a, b in (("a", "un"), ("the", "le"), ("my", "mon"))
    for n, m in (("cat", "chat"), ("dog", "chien"), ("horse", "cheval"))
]
SMALL = {
    "model.embed": 6, "model.hidden": 10, "model.layers": 1, "recipe.epochs": 3,
    "recipe.batch_size": 4, "recipe.min_frequency": 1, "pairs": 0, "held_out": 2,
    "probe": "I see my dog.",
}  # fmt: skip


class Watch:
    """A context that stops a training when its ``stop_at``-th step is reported."""

    def __init__(self, stop_at=0):
        self.stop_at, self.steps = stop_at, []

    def report(self, fraction, note="", facts=None):
        if facts:
            self.steps.append((fraction, note, facts))
        if len(self.steps) == self.stop_at != 0:
            raise Cancelled

    def stopped(self):
        return False


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))


@pytest.fixture
def corpus():
    return "upload:" + Blobs().put("\n".join("\t".join(row) for row in ROWS).encode())


@pytest.fixture
def order(corpus):
    def make(options=None, **fields):
        asked = {"model": "bahdanau", "scoring": "additive", "data": corpus, "device": "cpu"}
        return Request.make("training", **asked | fields, options=SMALL | (options or {}))

    return make


def train(request, folder=None, stop_at=0, **limits):
    """Perform in a folder, by default a new one; the folder and what was reported."""
    folder, watch = folder or TrainingFolder.create(request), Watch(stop_at)
    own = {"training": folder.id, **{f"limit.{name}": value for name, value in limits.items()}}
    options = tuple(sorted((*request.options, *own.items())))
    job = replace(request, options=options)
    if stop_at:
        with pytest.raises(Cancelled):
            perform(job, watch)
    else:
        assert perform(job, watch).facts["cacheable"] is False
    return folder, watch


def outline(folder):
    return [(e.epoch, e.loss, e.bleu, e.probe) for e in folder.history().epochs]


def test_a_training_leaves_epochs_probes_and_a_checkpoint(order):
    folder, watch = train(order())
    history = folder.history()
    assert history.state == "done"
    assert [epoch.epoch for epoch in history.epochs] == [1, 2, 3]
    assert history.facts == {
        "title": history.facts["title"],
        "corpus": history.facts["corpus"],
        "code": history.facts["code"],
        "parameters": history.facts["parameters"],
        "source_words": len(installed_words(folder, "source")),
        "target_words": len(installed_words(folder, "target")),
        "pairs": 9,
        "trained_on": 7,
        "steps": 2,
        "held_out_sources": 2,
        **totals(history.epochs),
        "alignment_error": None,  # no gold in an uploaded file
        "relative_entropy": history.facts["relative_entropy"],
        "peak_memory": history.facts["peak_memory"],
        "memory_of": history.facts["memory_of"],
    }
    assert 0 < history.facts["relative_entropy"] < 1
    assert history.facts["peak_memory"] > 50
    fractions = [fraction for fraction, _, _ in watch.steps]
    assert fractions == sorted(fractions)
    assert len(fractions) == 6  # seven pairs in batches of four, three times
    assert fractions[-1] == 1.0
    json.dumps(watch.steps[-1][2])
    # The model of the last epoch says what its probe said, and draws the same maps.
    translator = Translator(checkpoints.read(folder.model()), installed())
    said = translator.explain("I see my dog.")
    (row,) = folder.probe(3).to_pylist()
    assert len(row["weights"]) == len(row["queries"]) * len(row["keys"])
    assert row["keys"] == list(said.source_tokens)
    assert folder.probe(1).num_rows == 1
    assert [path.name for path in folder.path.glob("epochs/*/card.json")] == ["card.json"]
    assert folder.snapshot() is None


def test_the_loss_is_kept_from_the_first_step_and_the_time_left_is_said(order):
    folder, watch = train(order())
    losses = folder.history().losses
    assert [step for step, _ in losses] == [1, 2, 3, 4, 5, 6]  # 3 epochs of 2 steps
    epochs = folder.history().epochs
    first, second = losses[0][1], losses[1][1]
    assert min(first, second) < epochs[0].loss < max(first, second)  # the mean over its tokens
    left = [facts["seconds_left"] for *_, facts in watch.steps]
    assert left[0] is None
    assert all(seconds >= 0 for seconds in left[1:])
    assert all(epoch.evaluation_seconds > 0 for epoch in epochs)


def installed_words(folder, side):
    return checkpoints.read(folder.model()).card[f"{side}_vocabulary"]


@pytest.mark.slow
@pytest.mark.parametrize("stop_at", [1, 2, 3])
@pytest.mark.parametrize("model", ["bahdanau", "transformer"])
def test_a_stopped_training_goes_on_bit_for_bit(order, model, stop_at):
    fields = {"model": model}
    if model == "transformer":
        options = {k: v for k, v in SMALL.items() if not k.startswith("model.")}
        options |= {"model.hidden": 8, "model.heads": 2, "model.layers": 1, "model.ffn": 6}
        request = Request.make(
            "training", model=model, scoring="scaled_dot", data=order().data, options=options,
            device="cpu",
        )  # fmt: skip
    else:
        request = order(**fields)
    whole, _ = train(request)
    stopped, _ = train(request, stop_at=stop_at)
    assert len(outline(stopped)) == (stop_at - 1) // 2
    assert stopped.snapshot()
    torch.rand(7)
    _, rest = train(request, stopped)
    assert len(rest.steps) == 6 - stop_at
    assert outline(stopped) == outline(whole)
    weights = [(f.model() / "model.safetensors").read_bytes() for f in (stopped, whole)]
    assert weights[0] == weights[1]


def test_probe_and_scores_change_nothing_of_what_is_learned(order):
    looked, _ = train(order())
    blind, _ = train(order({"probe": ""}))
    assert [e.loss for e in looked.history().epochs] == [e.loss for e in blind.history().epochs]
    assert {e.probe for e in blind.history().epochs} == {""}
    with pytest.raises(KeyError, match="no probe of training"):
        blind.probe(1)


def test_without_held_out_sentences_there_is_no_bleu(order):
    folder, _ = train(order({"held_out": 0}))
    assert {epoch.bleu for epoch in folder.history().epochs} == {None}
    assert checkpoints.read(folder.model()).card["scores"] == {}


def test_the_card_says_on_what_the_score_was_measured(order, monkeypatch):
    folder, _ = train(order())
    card = checkpoints.read(folder.model()).card
    assert card["scores"]["held out, greedy"]["sentences"] == 2
    assert card["training"]["epochs_done"] == 3
    monkeypatch.setattr(training, "_MOST_SCORED", 1)
    folder, _ = train(order())
    scores = checkpoints.read(folder.model()).card["scores"]
    assert scores["held-out sample, greedy"]["sentences"] == 1


def test_near_far_and_copied_are_scored_after_every_epoch(order):
    folder, _ = train(order())
    history, card = folder.history(), checkpoints.read(folder.model()).card
    score = card["scores"]["held out, greedy"]
    assert [{*epoch.parts} for epoch in history.epochs] == [{"near", "copied"}] * 3
    assert history.epochs[-1].parts == {
        name: {"sentences": 2, "score": score[name]["bleu"]} for name in ("near", "copied")
    }
    assert history.epochs[-1].parts["near"]["score"] == history.epochs[-1].bleu
    assert len({epoch.parts["copied"]["score"] for epoch in history.epochs}) == 1


def test_a_full_disk_is_a_sentence_and_the_last_snapshot_stays(order, monkeypatch):
    folder, _ = train(order(), stop_at=1)
    before = folder.snapshot().read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", full)
        with pytest.raises(StorageError, match="No space left on device; free some space there"):
            train(order(), folder)
    assert folder.snapshot().read_bytes() == before
    assert not list(folder.path.glob(".snapshot*"))
    train(order(), folder)
    assert folder.history().state == "done"


def test_what_changed_since_the_snapshot_is_named(order):
    folder, _ = train(order(), stop_at=1)
    other = "upload:" + Blobs().put("\n".join("\t".join(row) for row in ROWS[::-1]).encode())
    with pytest.raises(ContractError, match="the corpus has changed since this training began"):
        train(order(data=other), folder)
    with pytest.raises(ContractError, match="that of another model"):
        train(order({"model.hidden": 12}), folder)
    folder.snapshot().write_bytes(b"damaged")
    with pytest.raises(ContractError, match=r"cannot be read .*; start a new training"):
        train(order(), folder)


def test_a_training_says_what_code_it_is_made_of_and_does_not_go_on_with_another(
    order, monkeypatch
):
    folder, _ = train(order(), stop_at=1)
    own = folder.history().facts["code"]
    assert [(kind, name) for kind, name, _ in own] == [
        ("models", "bahdanau"), ("scorings", "additive"),
    ]  # fmt: skip
    assert all(code == installed().provider(kind, name).code for kind, name, code in own)
    changed = [[kind, name, "x" if kind == "scorings" else code] for kind, name, code in own]
    monkeypatch.setattr(training.task_figures, "code_of", lambda made: changed)
    with pytest.raises(
        ContractError, match="the code of additive has changed since this training"
    ):
        train(order(), folder)


def test_one_process_at_a_time_works_on_a_training(order, monkeypatch):
    monkeypatch.setattr(training, "_SECONDS_FOR_LOCK", 0.1)
    folder = TrainingFolder.create(order())
    with folder.locked() as free:
        assert free
        assert folder.busy()
        with pytest.raises(ContractError, match="another process works on this training"):
            train(order(), folder)
    assert not folder.busy()


@pytest.mark.parametrize(
    ("options", "fields", "message"),
    [
        ({"recipe.epochs": 0}, {}, r"need 1 <= epochs <= 10000, got 0 \(field 'Epochs'\)"),
        ({"recipe.seed": 1}, {}, r"no option .recipe.seed.; offered: pairs, held_out, probe, "),
        ({"model.depth": 1}, {}, "no option 'model.depth'; offered: .*model.embed"),
        ({"model.hidden": 1}, {}, "need 2 <= hidden <= 1024, got 1"),
        ({"pairs": -1}, {}, "need 0 <= pairs"),
        ({"held_out": 9}, {}, "need 0 <= held_out < 9"),
        ({"probe": 3}, {}, "need probe to be a sentence"),
        ({"probe": "so " * 40}, {}, "the sentence has 40 tokens; this model reads at most 23"),
        ({}, {"model": "nadaraya_watson"}, "need one for translation"),
        ({}, {"model": "oracle"}, "no model"),
        ({}, {"scoring": "oracle"}, "no scoring"),
        ({}, {"parameters": {"width": 1.0}}, "no parameter 'width'"),
        ({}, {"data": "sine"}, "data set 'sine' is for regression"),
        ({}, {"data": "upload:" + "0" * 64}, "is not kept here"),
        ({}, {"seed": -1}, "need 0 <= seed"),
        ({}, {"seed": 2**32}, "need 0 <= seed <= 4294967295, got 4294967296"),
        ({}, {"device": "cuda:99"}, "no device 'cuda:99' here"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named(order, options, fields, message):
    if "nadaraya" in fields.get("model", ""):
        options = dict.fromkeys(("recipe.epochs",), 1)
    with pytest.raises(ValueError, match=message):
        train(order(options, **fields))


def test_a_loss_that_is_not_finite_is_refused_with_its_reason(order, monkeypatch):
    """As a worker would have it: input that a task refuses is a ``ValueError``."""
    start = BAHDANAU.build.loss
    monkeypatch.setattr(BAHDANAU.build, "loss", lambda *given: start(*given) * torch.nan)
    with pytest.raises(ContractError, match=r"the loss became nan at learning rate 0.005; try a"):
        train(order())


def test_what_a_request_leaves_out_is_as_in_the_quick_preset():
    request = Request.make("training", model="bahdanau", scoring="dot", data="phrasebook", seed=5)
    order = training_order.read(request, installed())
    quick = task_offer.presets(installed())["quick"]["bahdanau"]
    recipe = {f"recipe.{name}": value for name, value in vars(order.experiment.recipe).items()}
    assert recipe.pop("recipe.seed") == 5
    model = {f"model.{n}": v for n, v in order.experiment.model_parameters.items()}
    corpus = {
        "pairs": order.pairs, "held_out": order.experiment.held_out, "probe": order.probe,
    }  # fmt: skip
    assert recipe | model | corpus == quick
    assert len(training_order.load(request, order, installed())) == order.pairs


def test_the_normaliser_is_an_option():
    def read(**options):
        request = Request.make("training", model="bahdanau", scoring="dot", options=options)
        experiment = training_order.read(request, installed()).experiment
        return experiment.normaliser, dict(experiment.normaliser_parameters)

    assert read() == read(normaliser="softmax") == ("", {})
    assert read(normaliser="sparsemax") == ("sparsemax", {})
    alpha = {"normaliser": "entmax", "normaliser.alpha": 1.75}
    assert read(**alpha) == ("entmax", {"alpha": 1.75})
    with pytest.raises(ContractError, match='no normaliser "hardmax"; did you mean "hard"'):
        read(normaliser="hardmax")
    with pytest.raises(ContractError, match="alpha"):
        read(**alpha | {"normaliser.alpha": 99.0})
    with pytest.raises(ContractError, match="no parameter 'width'"):
        read(**alpha | {"normaliser.width": 1.0})


def test_every_preset_is_a_request_for_every_model():
    for name, models in task_offer.presets(installed()).items():
        assert {"bahdanau", "transformer"} <= set(models)
        for model, options in models.items():
            request = Request.make("training", model=model, scoring="dot", options=options)
            assert training_order.read(request, installed()).pairs == options["pairs"], name


def test_the_parameters_are_named_as_options_and_hold_the_quick_defaults():
    parameters = [Parameter.of(entry) for entry in task_offer.options(installed())]
    quick = task_offer.presets(installed())["quick"]["bahdanau"]
    assert {parameter.name: parameter.default for parameter in parameters} == {
        name: value
        for name, value in quick.items()
        if name != "probe" and not name.startswith("model.")
    }
    assert {k.name.removeprefix("recipe.") for k in parameters if "." in k.name} == (
        set(vars(Recipe())) - {"seed"}
    )


def test_a_data_set_gives_more_than_its_default_where_it_has_them():
    request = Request.make(
        "training", model="bahdanau", scoring="dot", data="phrasebook", options={"pairs": 20_011}
    )
    order = training_order.read(request, installed())
    assert len(training_order.load(request, order, installed())) == 20_011


def test_a_symbol_task_is_read_scored_and_held_against_gold_in_its_own_way(order):
    asked = {**SMALL, "pairs": 100, "held_out": 10, "recipe.epochs": 1}
    del asked["probe"]
    request = replace(order(data="reverse"), options=tuple(sorted(asked.items())))
    folder, _ = train(request)
    history = folder.history()
    (last,) = history.epochs
    card = json.loads((folder.model() / "card.json").read_text("utf-8"))
    (score,) = card["scores"].values()
    assert (card["tokeniser"], card["corpus"]["metric"]) == ("spaces", "exact_match")
    assert last.score == score["metric"]["value"]
    assert last.bleu == score["bleu"]
    assert last.parts["far"]["score"] == score["far"]["value"]
    assert history.facts["metric"]["title"] == "Exact match"
    assert 0 <= history.facts["alignment_error"] <= 1
    assert set(last.probe.split()) <= set("abcdefghij") | {"<unk>"}
    assert folder.history().epochs[-1] == last


def test_a_training_that_has_run_long_enough_pauses_and_goes_on(order):
    whole, _ = train(order())
    folder, _ = train(order(), seconds=0.0)
    history = folder.history()
    assert history.state == "paused"
    assert "it has run for 0 hours, as long as a training may at a time" in history.note
    assert "ATTENTION_TRAINING_HOURS" in history.note
    assert len(history.epochs) == 0
    train(order(), folder, seconds=600.0)
    assert folder.history().state == "done"
    assert outline(folder) == outline(whole)


def test_a_model_with_too_many_weights_is_refused(order):
    folder, _ = train(order())
    weights = folder.history().facts["parameters"]
    train(order(), parameters=weights)
    with pytest.raises(ContractError, match=rf"at most {weights - 1:,} weights \(ATTENTION_TRAIN"):
        train(order(), parameters=weights - 1)

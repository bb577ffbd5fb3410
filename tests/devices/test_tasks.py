"""What the pages ask of a worker, on the device that ``auto`` chooses, as on the CPU."""

import importlib
import math
import sys

import pytest
import torch
from support.pretend_device import DEVICE

from attention_plugins import checkpoints, experiment, registry
from attention_plugins.complexity import Stopwatch
from attention_plugins.contract import SentencePair
from attention_plugins.encoding import GOLD_TOKENISER
from attention_plugins.randomness import states
from attention_plugins.recipe import Recipe
from dashboard.jobs import task_translator
from dashboard.jobs.tasks import TASKS, perform
from dashboard.records.request import Request
from dashboard.storage.blobs import Blobs
from dashboard.storage.training_folder import TrainingFolder

PAIRS = [
    SentencePair(f"I see {a} {n}.", f"Je vois {b} {m} !")
    for a, b in (("a", "un"), ("the", "le"), ("my", "mon"))
    for n, m in (("cat", "chat"), ("dog", "chien"), ("horse", "cheval"))
]
GOLD = """I see a bird.\tJe vois un oiseau !\t0-0 1-1 2-2 3-3
I see the birds.\tJe vois les oiseaux !\t0-0 1-1 2-2 3-3
I see my dog and the cat.\tJe vois mon chien et le chat !\t0-0 1-1 2-2 3-3 5-5"""
PLACES = {"device", "seconds", "work_seconds"}  # where, and how long it took
TEXTS = {"text": "I see my dog.", "target": "je vois un chat !"}


class Watch:
    def report(self, fraction, note="", facts=None):
        pass

    def stopped(self):
        return False


@pytest.fixture(scope="module", autouse=True)
def _registered(tmp_path_factory):
    """A registry with the checkpoints ``one`` and ``two``."""
    root = tmp_path_factory.mktemp("kept")
    found = registry.load(allow=[])
    for seed, name in enumerate(("one", "two")):
        plan = experiment.Experiment(
            model="transformer", scoring="scaled_dot", corpus="few",
            model_parameters={"hidden": 14, "heads": 7, "layers": 1, "ffn": 11},
            recipe=Recipe(
                min_frequency=1, epochs=1, max_tokens=13, seed=seed, tokeniser=GOLD_TOKENISER
            ),
        )  # fmt: skip
        ready = experiment.prepare(plan, PAIRS, found)
        with torch.no_grad():
            for weight in ready.model.parameters():
                weight.mul_(1.5)  # not as it began
        checkpoints.write(root / name, ready.model, ready.card)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_CHECKPOINTS", str(root))
        found = registry.load(allow=[])
        for name in TASKS.values():
            importlib.import_module(name)
        before = registry.installed
        for module in list(sys.modules.values()):  # each has the function under its own name
            if getattr(module, "installed", None) is before:
                patch.setattr(module, "installed", lambda: found)
        task_translator.translator_of.cache_clear()
        yield
    task_translator.translator_of.cache_clear()


def answers(request):
    """The tables and facts of a request, as rows of numbers and text."""
    result = perform(request, Watch())
    tables = {name: table.to_pylist() for name, table in result.tables.items()}
    return {**tables, "facts": [dict(result.facts)]}


def require_agreement(device, task, **fields):
    """Compare what the device answers with what the CPU does."""
    mine, yours = (
        answers(Request.make(task, device=place, **fields)) for place in ("cpu", "auto")
    )
    (facts,) = yours["facts"]
    assert facts.get("device", str(device)) == str(device)
    for name, rows in mine.items():
        for one, other in zip(rows, yours[name], strict=True):
            assert one.keys() == other.keys()
            for column in one.keys() - PLACES:
                require_close(other[column], one[column], f"{name}.{column}")


def require_close(found, expected, where):
    """Numbers within what float32 leaves, all else equal."""
    if isinstance(expected, list):
        assert len(found) == len(expected), where
        for each, wanted in zip(found, expected, strict=True):
            require_close(each, wanted, where)
    elif isinstance(expected, dict):
        for name in expected.keys() - PLACES:
            require_close(found[name], expected[name], f"{where}.{name}")
    elif isinstance(expected, float) and math.isfinite(expected):
        assert found == pytest.approx(expected, rel=1e-3, abs=1e-4), where
    else:
        assert found == expected or expected != expected, where


@pytest.mark.parametrize("task", ["translation", "heads"])
def test_one_model(device, task):
    require_agreement(device, task, data="one", options=TEXTS)


@pytest.mark.slow
def test_two_models_compared(device):
    options = TEXTS | {"other": "two", "kind": "cross", "map": "1.2", "other_map": "1.mean"}
    require_agreement(device, "differences", data="one", options=options)


@pytest.mark.slow
def test_an_alignment(device):
    corpus = "upload:" + Blobs().put(GOLD.encode())
    require_agreement(device, "alignment", data="one", options={"corpus": corpus})


@pytest.mark.parametrize("scoring", ["gaussian", "polynomial"])
def test_a_regression_that_learns(device, scoring):
    options = {"learn": True, "epochs": 5}
    require_agreement(device, "regression", scoring=scoring, options=options)


@pytest.mark.slow
def test_a_training_leaves_checkpoints_and_a_probe(device):
    lines = "\n".join(f"{pair.source}\t{pair.target}" for pair in PAIRS)
    options = {
        "model.embed": 6, "model.hidden": 10, "model.layers": 1, "recipe.epochs": 2,
        "recipe.batch_size": 4, "recipe.min_frequency": 1, "pairs": 0, "held_out": 2,
        "probe": "I see my dog.",
    }  # fmt: skip
    request = Request.make(
        "training", model="bahdanau", scoring="additive", options=options,
        data="upload:" + Blobs().put(lines.encode()),
    )  # fmt: skip
    folder = TrainingFolder.create(request)
    job = Request.make(
        "training", model="bahdanau", scoring="additive", data=request.data,
        options=options | {"training": folder.id},
    )  # fmt: skip
    perform(job, Watch())
    history = folder.history()
    assert history.state == "done"
    assert [epoch.epoch for epoch in history.epochs] == [1, 2]
    assert folder.probe(2).num_rows


def test_a_stopwatch_waits_for_the_device(pretended, monkeypatch):
    waited = []
    monkeypatch.setattr(torch.accelerator, "synchronize", waited.append)
    assert Stopwatch(torch.relu, torch.ones(3, device=DEVICE)).seconds() > 0
    assert waited == [torch.device(DEVICE)] * 4  # before and after, to warm up and to measure


@pytest.mark.parametrize(
    "asked",
    [
        {"task": "heads", "data": "one", "options": TEXTS},  # draws an untrained model
        {"task": "regression", "scoring": "additive"},
        {"task": "norms"},
        pytest.param({"task": "anatomy", "options": {"part": "root"}}, marks=pytest.mark.slow),
    ],
    ids=lambda asked: asked["task"],
)
def test_what_is_drawn_on_the_cpu_leaves_the_device_alone(pretended, asked):
    """A training there goes on drawing what it would have drawn."""
    device = torch.device(DEVICE)
    torch.rand(3, device=device)
    before = states(device)[device.type]
    perform(Request.make(seed=5, **asked), Watch())
    assert torch.equal(states(device)[device.type], before)

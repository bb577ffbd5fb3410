"""Packages that other people wrote, built and installed, seen from an interpreter of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "tests" / "plugins"
NAMES = (
    "attention_student_t", "attention_distance_pack", "attention_recurrent_pack",
    "attention_byte_pairs",
)  # fmt: skip
# The environment may hold more.
OURS = {name.replace("_", "-") for name in NAMES}

BUILD = """
import os, sys
from setuptools.build_meta import build_wheel
wheels, *sources = sys.argv[1:]  # building changes sys.argv
for source in sources:
    os.chdir(source)
    build_wheel(wheels)
"""

# Runs statements, each batch with names of its own; what they call ``found`` goes back.
SERVE = """
import json, os, sys, torch, traceback
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    names = {}
    try:
        exec(json.loads(line), names)
        answer = {"found": names["found"]}
    except BaseException:
        answer = {"raised": traceback.format_exc()}
    print(json.dumps(answer), file=answers, flush=True)
os._exit(0)  # taking torch apart takes a second
"""


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> dict[str, Path]:
    """Copies of the packages' folders: building leaves files behind."""
    folder = tmp_path_factory.mktemp("sources")
    return {name: shutil.copytree(PACKAGES / name, folder / name) for name in NAMES}


@pytest.fixture(scope="module")
def site(sources, tmp_path_factory) -> Path:
    """A folder into which the packages' wheels were unpacked: what installing does, offline."""
    wheels, site = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUILD, wheels, *sources.values()],
        check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    found = sorted(wheels.glob("*.whl"))
    assert len(found) == len(NAMES)
    for wheel in found:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
    return site


@pytest.fixture(scope="module")
def ask(site):
    """Run statements in a fresh interpreter that sees the packages; what they call ``found``."""
    child = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)])},
        cwd=site, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip

    def ask(statements: str):
        print(json.dumps(statements), file=child.stdin, flush=True)
        answer = json.loads(child.stdout.readline())
        assert "raised" not in answer, answer["raised"]
        return answer["found"]

    with child:
        yield ask
        child.stdin.close()


PAIRS = """
from attention_plugins import SentencePair
from attention_plugins.recipe import Recipe
pairs = [
    SentencePair("go .", "va !"), SentencePair("i lost .", "j'ai perdu ."),
    SentencePair("he's calm .", "il est calme ."), SentencePair("i'm home .", "je suis ici ."),
]
recipe = Recipe(epochs={epochs}, min_frequency=1, learning_rate=0.02)
"""


def test_the_smallest_is_a_plugin_of_ten_lines():
    lines = (PACKAGES / NAMES[0] / "attention_student_t.py").read_text("utf-8").splitlines()
    assert len([line for line in lines if line.strip() and '"""' not in line]) <= 10


def test_they_are_in_the_catalogue_of_a_worker(ask):
    facts = ask("""
from dashboard.records.request import Request
from dashboard.jobs.tasks import perform
found = perform(Request.make("catalogue"), None).facts
""")
    assert [failure for failure in facts["failures"] if failure["distribution"] in OURS] == []
    brought = {
        entry["name"]: (entry["plugin"]["distribution"], entry["plugin"]["version"])
        for entry in (*facts["scorings"], *facts["models"], *facts["tokenisers"])
        if entry["plugin"]["distribution"] in OURS
    }
    distances = dict.fromkeys(
        ("shepard", "mahalanobis", "lorentz", "local_p"), ("attention-distance-pack", "1.2.0")
    )
    assert brought == {
        "student_t": ("attention-student-t", "0.3.1"),
        "luong_gru": ("attention-recurrent-pack", "0.4.0"),
        "byte_pairs": ("attention-byte-pairs", "0.2"),
        **distances,
    }
    (entry,) = [entry for entry in facts["scorings"] if entry["name"] == "student_t"]
    assert entry["title"] == "Student t"
    assert entry["formula"] == r"-\log(1 + \lVert q-k\rVert_2^2)"


def test_the_allow_list_lets_one_in_and_keeps_the_others_out(ask):
    found = ask("""
import os
from attention_plugins.registry import load
found = {}
for allowed in ("another-package", "Attention_Student.T"):
    os.environ["ATTENTION_PLUGINS"] = allowed
    registry = load()
    found[allowed] = [
        "student_t" in registry.scorings, {f.distribution: f.stage for f in registry.failures}
    ]
del os.environ["ATTENTION_PLUGINS"]
""")
    found = {
        allowed: [there, {name: stage for name, stage in failures.items() if name in OURS}]
        for allowed, (there, failures) in found.items()
    }
    packs = dict.fromkeys(OURS - {"attention-student-t"}, "blocked")
    assert found == {
        "another-package": [False, {**packs, "attention-student-t": "blocked"}],
        "Attention_Student.T": [True, packs],
    }


def test_student_t_predicts_in_kernel_regression(ask):
    found = ask("""
from attention_plugins import ModelSizes, Recorder, Site, Tap
from attention_plugins.registry import installed
import torch
model = installed().model("nadaraya_watson").create(
    installed().scoring("student_t").factory(), ModelSizes(1, 1)
)
recorder = Recorder()
queries, keys = torch.tensor([[0.0], [1.5]]), torch.tensor([[0.0], [1.0], [3.0]])
values = torch.tensor([2.0, 5.0, -1.0])
predicted = model(queries, keys, values, None, Tap(recorder))
weights = recorder.weights()[Site("pooling", 0)]
found = {"predicted": predicted.tolist(), "weights": weights.tolist()}
""")
    # 1 / (1 + d^2) for the distances 0, 1, 3 and 1.5, 0.5, 1.5
    kernel = torch.tensor([[1.0, 1 / 2, 1 / 10], [1 / 3.25, 1 / 1.25, 1 / 3.25]])
    expected = kernel / kernel.sum(dim=-1, keepdim=True)
    weights = torch.tensor(found["weights"]).reshape(2, 3)
    torch.testing.assert_close(weights, expected)
    predicted = torch.tensor(found["predicted"])
    torch.testing.assert_close(predicted, expected @ torch.tensor([2.0, 5.0, -1.0]))


def test_the_distances_fit_a_curve(ask):
    """Fitted to a sine, all that compare points halve the error of the mean."""
    errors = ask("""
import torch
from attention_plugins import ModelSizes, RegressionData
from attention_plugins.fitting import fit
from attention_plugins.regression import predict
from attention_plugins.registry import installed
x = torch.linspace(-3, 3, 31)[:, None]
queries = torch.linspace(-2.9, 2.9, 17)[:, None]
data = RegressionData(x, x[:, 0].sin(), queries, queries[:, 0].sin())
found = {"mean": float((data.truth - data.y.mean()).square().mean())}
for name in ("shepard", "mahalanobis", "lorentz", "local_p"):
    torch.manual_seed(0)
    model = installed().model("nadaraya_watson").create(
        installed().scoring(name).factory(), ModelSizes(1, 1)
    )
    fit(model, data, epochs=25)
    predicted = predict(model, data, keep_weights=False).values
    found[name] = float((predicted - data.truth).square().mean())
""")
    assert all(errors[n] < errors["mean"] / 2 for n in ("shepard", "mahalanobis", "lorentz"))
    assert 0 < errors["local_p"] < 1


@pytest.mark.slow
def test_each_frame_of_a_sweep_is_the_exact_result(ask):
    """Positions of a parameter's slider, in one job, and each as if asked for alone."""
    found = ask("""
from dashboard.jobs.tasks import perform
from dashboard.records import sweep
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result
class Context:
    timed = False
    def report(self, *given): pass
    def stopped(self): return False
catalogue = Catalogue.of(perform(Request.make("catalogue"), Context()).facts)
found = {}
for scoring in ("shepard", "lorentz"):
    (spec,) = catalogue.scorings[scoring].parameters
    asked = {
        at: Request.make(
            "regression", model="nadaraya_watson", scoring=scoring, data="sine",
            parameters={spec.name: at}, options={"data.points": 13, "data.queries": 7},
        )
        for at in sweep.positions(spec)[::6]
    }
    request = sweep.sweep([*asked.values()])
    swept = sweep.results(request, perform(request, Context()))
    curves, equal = set(), []
    for each in asked.values():
        alone = Result.from_bytes(perform(each, Context()).to_bytes())
        same = [swept[each].tables[name].equals(alone.tables[name]) for name in alone.tables]
        left = {name for name in alone.facts if swept[each].facts[name] != alone.facts[name]}
        equal.append(len(same) >= 3 and all(same) and left <= {"seconds", "work_seconds"})
        curves.add(tuple(alone.tables["curve"]["prediction"].to_pylist()))
    found[scoring] = [min(asked), len(asked), len(curves), all(equal)]
""")
    assert found == {"shepard": [0.5, 6, 6, True], "lorentz": [0.1, 6, 6, True]}


@pytest.mark.slow
def test_what_follows_their_sliders_is_what_the_page_draws(ask):
    """Curves, maps and sentences of Kernel regression, at every position of two sliders."""
    positions = ask(f"""
import sys
from dataclasses import replace
sys.path.append({str(ROOT / "tests")!r})
from support.following import catalogue, computed
from support.live_frames import check
from dashboard.features.regression import following
from dashboard.features.regression.panel import Scale
from dashboard.features.regression.view import default_view, requests
from dashboard.links.fits import default_fit
from dashboard.records.parameter import pairs
found = {{}}
for scoring in ("shepard", "lorentz"):
    fits = default_fit(catalogue(), scoring), default_fit(catalogue(), "gaussian")
    view = replace(default_view(catalogue()), panels=fits)
    view = replace(view, settings=pairs({{**dict(view.settings), "points": 13, "queries": 7}}))
    held = {{letter: computed(one) for letter, one in requests(view, catalogue()).items()}}
    ones = following.followers(view, held, Scale(None), catalogue())
    got = check(next(one for one in ones if scoring in one.slider.key))
    found[scoring] = [len(got["positions"]), *got["tables"]]
""")
    assert positions == {
        "shepard": [32, "panel a", "compared"], "lorentz": [32, "panel a", "compared"],
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("model", ["bahdanau", "transformer", "luong_gru"])
def test_every_scoring_trains_in_every_model(model, ask):
    losses = ask(f"""
import torch
from attention_plugins import ModelSizes
from attention_plugins.encoding import encode
from attention_plugins.registry import installed
from attention_plugins.training import train
{PAIRS.format(epochs=15)}
corpus = encode(pairs, recipe)
sizes = ModelSizes(len(corpus.source_vocabulary), len(corpus.target_vocabulary))
found = {{}}
for name in ("student_t", "shepard", "mahalanobis", "lorentz", "local_p"):
    torch.manual_seed(0)
    model = installed().model({model!r}).create(
        installed().scoring(name).factory(), sizes, {{"dropout": 0.0}}
    )
    found[name] = [step.loss for step in train(model, corpus, recipe)]
""")
    assert [name for name, steps in losses.items() if not steps[-1] < steps[0] / 2] == []


@pytest.mark.slow
def test_positions_are_the_same_word_by_word(ask):
    """A Transformer's decoder keeps its keys: a window over them stands where it stood."""
    loss, stepwise = ask("""
import torch
from attention_plugins import ModelSizes
from attention_plugins.decoding import force
from attention_plugins.models.protocols import Batch
from attention_plugins.registry import installed
torch.manual_seed(0)
model = installed().model("transformer").create(
    installed().scoring("local_p").factory({"width": 0.5, "reach": 5.0}), ModelSizes(19, 13)
).double().eval()
batch = Batch(
    torch.tensor([[5, 6, 7, 8, 3], [9, 3, 1, 1, 1]]), torch.tensor([5, 2]),
    torch.tensor([[4, 5, 6, 3], [7, 8, 3, 1]]), torch.tensor([4, 3]),
)
said, _ = force(model, batch.source, batch.source_lengths, batch.target)
counts = torch.arange(4) < batch.target_lengths[:, None]
found = [model.loss(batch).item(), -said[counts].mean().item()]
""")
    assert loss == pytest.approx(stepwise, rel=1e-9)


@pytest.mark.slow
def test_a_checkpoint_of_both_packs_translates(ask, tmp_path):
    found = ask(f"""
from pathlib import Path
from attention_plugins import experiment
from attention_plugins.checkpoints import read
from attention_plugins.registry import installed
from attention_plugins.translator import Translator
{PAIRS.format(epochs=60)}
plan = experiment.Experiment(
    model="luong_gru", scoring="local_p", model_parameters={{"dropout": 0.0}},
    scoring_parameters={{"reach": 4.0}}, recipe=recipe, corpus="four",
)
kept = experiment.keep(experiment.run(plan, pairs, installed()), Path({str(tmp_path / "four")!r}))
translator = Translator(read(kept.folder), installed())
sentences = [pair.source for pair in pairs]
(cross,) = translator.explain(sentences[1]).maps
found = {{
    "translations": [translator.translate(sentences, width=n) for n in (1, 3)],
    "card": [kept.card["model"], kept.card["scoring"], kept.card["scoring_parameters"]],
    "weights": cross.weights.tolist(),
}}
""")
    wanted = ["va !", "j'ai perdu.", "il est calme.", "je suis ici."]
    assert found["translations"] == [wanted, wanted]
    assert found["card"] == ["luong_gru", "local_p", {"width": 2.0, "reach": 4.0}]
    weights = torch.tensor(found["weights"])
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))


@pytest.mark.slow
def test_a_tokeniser_that_learns_goes_all_the_way(ask, tmp_path):
    """Recipe, training, card, translation and gold links, over pieces of words."""
    found = ask(f"""
from dataclasses import replace
from pathlib import Path
from attention_plugins import experiment
from attention_plugins.checkpoints import read
from attention_plugins.encoding import encode
from attention_plugins.recipe import parameters
from attention_plugins.registry import installed, load
from attention_plugins.translator import Translator
{PAIRS.format(epochs=60)}
(offered,) = [p.choices for p in parameters(installed().tokenisers) if p.name == "tokeniser"]
recipe = replace(recipe, tokeniser="byte_pairs", max_tokens=30)
plan = experiment.Experiment(
    model="bahdanau", scoring="dot", model_parameters={{"dropout": 0.0}}, recipe=recipe,
    corpus="four",
)
kept = experiment.keep(experiment.run(plan, pairs, installed()), Path({str(tmp_path / "four")!r}))
translator = Translator(read(kept.folder), installed())
sentences = [pair.source for pair in pairs]
try:
    Translator(read(kept.folder), load(allow=[]))
except ValueError as error:
    refused = str(error)
linked = encode([pairs[1]._replace(alignment=((1, 2),))], replace(recipe, max_tokens=4))
found = {{
    "offered": "byte_pairs" in offered,
    "translations": [translator.translate(sentences, width=n) for n in (1, 3)],
    "pieces": translator.explain("lost in time").source_tokens,
    "unknown": translator.explain("lost in time").unknown,
    "learned": [kept.card["learned"][side].splitlines()[0] for side in ("source", "target")],
    "refused": refused,
    "links": linked.links,
}}
""")
    wanted = ["va !", "j'ai perdu .", "il est calme .", "je suis ici ."]
    assert found["translations"] == [wanted, wanted]
    assert found["offered"]
    assert len(found["pieces"]) > 4
    assert set(found["unknown"]) < set(found["pieces"])
    assert found["learned"] == ["m e", "i s"] or all(" " in line for line in found["learned"])
    assert "'byte_pairs' here" in found["refused"]
    assert "install attention-byte-pairs" in found["refused"]
    assert found["links"][0]
    assert all(i < 3 and j < 3 for i, j in found["links"][0])


@pytest.mark.slow
def test_their_own_tests_pass_where_they_are_installed(ask, sources):
    """With the rules of the kit, of which a pack waives one and says why."""
    found = ask(f"""
import pytest
from attention_plugins.checking.package import contents
class Count:
    outcomes = []
    def pytest_runtest_logreport(self, report):
        if report.when == "call" or not report.passed:
            self.outcomes.append([report.nodeid, report.outcome])
tests = [{", ".join(repr(str(path / "tests")) for path in list(sources.values())[1:])}]
pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests], plugins=[Count()])
offers = contents("attention-distance-pack").offers
found = [Count.outcomes, {{spec.name: list(waived) for _, spec, waived in offers}}]
""")
    outcomes, waived = found
    assert [test for test, outcome in outcomes if outcome != "passed"] == []
    assert len(outcomes) > 100
    assert waived == {
        "shepard": [], "mahalanobis": [], "lorentz": [],
        "local_p": ["moving_a_key_moves_its_scores"],
    }  # fmt: skip

"""A package that somebody else wrote, built and installed, seen from a fresh interpreter."""

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
PACKAGE = ROOT / "tests" / "plugins" / "attention_student_t"

BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A folder into which the package's wheel was unpacked: what installing it does, offline."""
    source = shutil.copytree(PACKAGE, tmp_path_factory.mktemp("source") / "package")
    wheels, site = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUILD, str(wheels)],
        cwd=source, check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


@pytest.fixture
def ask(site):
    """Run statements in a fresh interpreter that sees the package; the JSON that they print."""

    def ask(statements: str):
        path = os.pathsep.join([str(ROOT), str(site)])
        done = subprocess.run(
            [sys.executable, "-c", f"import json, torch\n{statements}"],
            env={**os.environ, "PYTHONPATH": path},
            cwd=site, check=False, capture_output=True, text=True, timeout=240,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


def test_it_is_a_plugin_of_ten_lines():
    lines = (PACKAGE / "attention_student_t.py").read_text("utf-8").splitlines()
    assert len([line for line in lines if line.strip() and '"""' not in line]) <= 10


def test_it_is_in_the_catalogue_of_a_worker(ask):
    found = ask("""
from dashboard.runs.request import Request
from dashboard.tasks import perform
print(json.dumps(perform(Request.make("catalogue"), None).facts))
""")
    assert found["failures"] == []
    (entry,) = [entry for entry in found["scorings"] if entry["name"] == "student_t"]
    assert entry["title"] == "Student t"
    assert entry["formula"] == r"-\log(1 + \lVert q-k\rVert_2^2)"
    assert entry["plugin"] == {
        "name": "student_t", "distribution": "attention-student-t", "version": "0.3.1",
        "built_in": False,
    }  # fmt: skip


def test_the_allow_list_lets_it_in_or_keeps_it_out(ask):
    found = ask("""
import os
from attention_plugins.registry import load
found = {}
for allowed in ("another-package", "Attention_Student.T"):
    os.environ["ATTENTION_PLUGINS"] = allowed
    registry = load()
    found[allowed] = ["student_t" in registry.scorings, [f.stage for f in registry.failures]]
print(json.dumps(found))
""")
    assert found == {"another-package": [False, ["blocked"]], "Attention_Student.T": [True, []]}


def test_it_predicts_in_kernel_regression(ask):
    found = ask("""
from attention_plugins import ModelSizes, Recorder, Site, Tap
from attention_plugins.registry import load
registry = load()
model = registry.model("nadaraya_watson").create(
    registry.scoring("student_t").factory(), ModelSizes(1, 1)
)
recorder = Recorder()
queries, keys = torch.tensor([[0.0], [1.5]]), torch.tensor([[0.0], [1.0], [3.0]])
values = torch.tensor([2.0, 5.0, -1.0])
predicted = model(queries, keys, values, None, Tap(recorder))
weights = recorder.weights()[Site("pooling", 0)]
print(json.dumps({"predicted": predicted.tolist(), "weights": weights.tolist()}))
""")
    # 1 / (1 + d^2) for the distances 0, 1, 3 and 1.5, 0.5, 1.5
    kernel = torch.tensor([[1.0, 1 / 2, 1 / 10], [1 / 3.25, 1 / 1.25, 1 / 3.25]])
    expected = kernel / kernel.sum(dim=-1, keepdim=True)
    weights = torch.tensor(found["weights"]).reshape(2, 3)
    torch.testing.assert_close(weights, expected)
    predicted = torch.tensor(found["predicted"])
    torch.testing.assert_close(predicted, expected @ torch.tensor([2.0, 5.0, -1.0]))


def test_it_trains_in_the_bahdanau_model(ask):
    found = ask("""
from attention_plugins import ModelSizes, Recorder, SentencePair, Site, Tap
from attention_plugins.models.protocols import Batch
from attention_plugins.registry import load
from attention_plugins.encoding import collate, encode
from attention_plugins.recipe import Recipe
from attention_plugins.training import train
registry = load()
pairs = [
    SentencePair("go .", "va !"), SentencePair("i lost .", "j'ai perdu ."),
    SentencePair("he's calm .", "il est calme ."), SentencePair("i'm home .", "je suis ici ."),
]
recipe = Recipe(epochs=60, min_frequency=1, learning_rate=0.02)
corpus = encode(pairs, recipe)
torch.manual_seed(0)
model = registry.model("bahdanau").create(
    registry.scoring("student_t").factory(),
    ModelSizes(len(corpus.source_vocabulary), len(corpus.target_vocabulary)),
    {"dropout": 0.0},
)
history = train(model, corpus, recipe)
source, lengths = collate(corpus.source, "cpu")
recorder = Recorder()
with torch.no_grad():
    tap = Tap(recorder)
    state = model.start(source, lengths, tap)
    model.step(state, torch.full((4,), 2), tap)
weights = recorder.weights()[Site("cross", 0)]
print(json.dumps({
    "losses": [step.loss for step in history], "weights": weights[:, 0].tolist(),
    "lengths": lengths.tolist(),
}))
""")
    assert found["losses"][0] > 2
    assert found["losses"][-1] < 0.1
    weights = torch.tensor(found["weights"])
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(4))
    beyond = torch.arange(weights.shape[1]) >= torch.tensor(found["lengths"])[:, None]
    assert not weights[beyond].any()
    assert (weights[~beyond] > 0).all()

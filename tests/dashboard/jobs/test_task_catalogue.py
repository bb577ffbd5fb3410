from __future__ import annotations

import pytest
from torch import nn

from attention_plugins import Scoring, ScoringSpec
from attention_plugins.catalogue import catalogue
from attention_plugins.formula import described as described_formula
from attention_plugins.registry import installed
from dashboard.features.regression import task_offer as regression
from dashboard.features.training import task_offer as training
from dashboard.jobs.task_catalogue import _weights, _with_formula
from dashboard.jobs.tasks import perform
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Result


def test_a_worker_tells_what_its_process_has_installed():
    facts = perform(Request.make("catalogue"), None).facts
    expected = catalogue(installed())
    for kind in ("models", "datasets", "checkpoints", "plugins", "failures", "devices"):
        assert facts[kind] == expected[kind]
    assert facts["cacheable"] is False


def test_a_catalogue_crosses_as_bytes():
    result = perform(Request.make("catalogue"), None)
    assert Result.from_bytes(result.to_bytes()).facts == result.facts


def test_scorings_say_whether_they_learn():
    facts = perform(Request.make("catalogue"), None).facts
    learns = {entry["name"]: entry["learns"] for entry in facts["scorings"]}
    assert {name for name, does in learns.items() if not does} == {
        "scaled_dot", "dot", "uniform", "alibi", "boxcar", "cosformer", "linear_attention",
        "local_monotonic", "lsh", "performer", "rope", "xpos",
    }  # fmt: skip


def test_scorings_say_what_a_seed_and_the_hidden_size_change():
    facts = perform(Request.make("catalogue"), None).facts
    drawn, sized = (
        {entry["name"] for entry in facts["scorings"] if entry[what]}
        for what in ("drawn", "sized")
    )
    assert drawn >= {"additive", "bilinear", "performer", "lsh"}
    assert not drawn & {"gaussian", "cosine", "dot", "alibi"}  # the first two learn all the same
    assert sized == {
        "additive", "mlp", "local_predicted", "coverage", "location_sensitive", "monotonic",
        "forward_attention",
    }  # fmt: skip


class Weighted(Scoring):
    def __init__(self):
        super().__init__()
        self.matrix = nn.Linear(2, 2)


def fail(error):
    raise error


@pytest.mark.parametrize(
    ("build", "learns"),
    [
        (lambda sizes, values: Weighted(), True),
        (lambda sizes, values: Scoring(), False),
        (lambda sizes, values: fail(OSError("no")), False),
        (lambda sizes, values: fail(SystemExit(3)), False),
    ],
)
def test_a_strangers_scoring_cannot_break_the_catalogue(build, learns):
    spec = ScoringSpec(name="mine", title="Mine", formula="q k", build=build)
    assert _weights(spec)["learns"] is learns


def test_what_is_measured_is_listed_by_task():
    facts = perform(Request.make("catalogue"), None).facts
    metrics = Catalogue.of(facts).metrics
    assert metrics == {"regression": regression.METRICS, "training": training.METRICS}


def test_every_task_lists_its_options():
    facts = perform(Request.make("catalogue"), None).facts
    options = {task: [each["name"] for each in found] for task, found in facts["options"].items()}
    assert set(options) == {
        "alignment", "complexity", "language_models", "norms", "positions", "regression",
        "swaps", "training", "translation",
    }  # fmt: skip
    assert options["translation"] == ["beam"]
    assert {"pairs", "held_out", "recipe.epochs"} <= {*options["training"]}
    for described in facts["options"].values():
        assert all({"name", "title", "default", "type"} <= set(entry) for entry in described)
    quick = facts["presets"]["quick"]["bahdanau"]
    assert {*options["training"]} < quick.keys()


def test_a_checkpoints_scoring_that_was_typed_is_described():
    made = {"name": "mine", "card": {"scoring": "=dot(q, k) / sqrt(d) - w"}}
    typed = _with_formula(made)
    assert typed == {**made, "typed": described_formula("dot(q, k) / sqrt(d) - w")}
    assert typed["typed"]["parameters"][0]["name"] == "w"
    for card in ({"scoring": "additive"}, {"scoring": "=sqr(d)"}, None):
        assert _with_formula({"name": "other", "card": card}) == {"name": "other", "card": card}

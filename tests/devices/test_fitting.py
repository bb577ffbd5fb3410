"""Kernel regression on a device: what it predicts and what it learns, as on the CPU."""

import pytest
import torch

from attention_plugins.contract import ModelSizes, RegressionData
from attention_plugins.datasets.regression import PROBLEMS
from attention_plugins.devices import widest
from attention_plugins.fitting import fit
from attention_plugins.registry import load
from attention_plugins.regression import errors, predict

REGISTRY = load(allow=[])
SINE = next(problem for problem in PROBLEMS if problem.name == "sine")
SCORINGS = sorted(n for n, spec in REGISTRY.scorings.items() if "regression" in spec.tasks)
MODELS = sorted(n for n, spec in REGISTRY.models.items() if spec.task == "regression")


def points(device, dtype):
    found = SINE.load({"points": 17, "noise": 0.5, "queries": 11}, 0)
    return RegressionData(*(part if part is None else part.to(device, dtype) for part in found))


def fitted(device, model, scoring, optimiser="sgd", dtype=torch.float32):
    torch.manual_seed(0)
    spec = REGISTRY.model(model)
    made = spec.create(REGISTRY.scoring_factory(scoring), ModelSizes(1, 1), {})
    made = made.to(dtype).to(device)
    data = points(device, dtype)
    learned = fit(made, data, optimiser=optimiser, epochs=2)
    prediction = predict(made, data, keep_weights=True)
    losses = [step.loss for step in learned.history]
    return losses, prediction.values.cpu(), errors(made, data, prediction.values)


def require_agreement(device, *given):
    dtype = widest(device)
    mine, yours = (fitted(place, *given, dtype=dtype) for place in ("cpu", device))
    assert yours[0] == pytest.approx(mine[0], rel=1e-4)
    torch.testing.assert_close(yours[1], mine[1], rtol=1e-3, atol=1e-4)
    assert yours[2] == pytest.approx(mine[2], rel=1e-3)


@pytest.mark.parametrize("scoring", SCORINGS)
def test_every_scoring_fits_alike(device, scoring):
    require_agreement(device, "nadaraya_watson", scoring)


@pytest.mark.parametrize("model", MODELS)
def test_every_model_fits_alike(device, model):
    require_agreement(device, model, "gaussian", "adam")

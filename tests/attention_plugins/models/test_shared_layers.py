"""One layer applied again and again against as many layers with equal weights."""

import re

import pytest
import torch

from attention_plugins.contract import ModelSizes
from attention_plugins.decoding import force
from attention_plugins.models.transformer import SHARED_LAYERS, TRANSFORMER
from attention_plugins.registry import load
from attention_plugins.tap import Intervention, Site

SCORINGS = load(allow=[]).scorings
SMALL = {"hidden": 12, "heads": 3, "layers": 3, "ffn": 10, "dropout": 0.0}


def _model(spec, scoring="additive", **values):
    torch.manual_seed(5)
    model = spec.create(SCORINGS[scoring].factory(), ModelSizes(19, 13), {**SMALL, **values})
    return model.double().eval()


@pytest.mark.parametrize("scoring", ["additive", "coverage", "rope"])
@pytest.mark.parametrize("pre_norm", [False, True])
def test_it_is_a_transformer_of_equal_layers(scoring, pre_norm, batch):
    shared = _model(SHARED_LAYERS, scoring, pre_norm=pre_norm)
    plain = _model(TRANSFORMER, scoring, pre_norm=pre_norm)
    weights = shared.state_dict()
    plain.load_state_dict(
        {
            name: weights[re.sub(r"^(encoder|decoder)\.\d+\.", r"\1.0.", name)]
            for name in plain.state_dict()
        }
    )
    torch.testing.assert_close(shared.loss(batch), plain.loss(batch), rtol=1e-12, atol=1e-12)
    found, expected = (
        force(model, batch.source, batch.source_lengths, batch.target)[1]
        for model in (shared, plain)
    )
    assert found.keys() == expected.keys()
    for site, weights in found.items():
        torch.testing.assert_close(weights, expected[site], rtol=1e-10, atol=1e-12)


def test_more_layers_need_no_more_weights(batch):
    few, many = (_model(SHARED_LAYERS, layers=layers) for layers in (1, 5))
    shapes = [{n: p.shape for n, p in model.named_parameters()} for model in (few, many)]
    assert shapes[0] == shapes[1]
    assert few.loss(batch) != many.loss(batch)


def test_every_application_can_be_changed_alone(batch):
    model = _model(SHARED_LAYERS)
    arguments = batch.source, batch.source_lengths, batch.target
    off = Intervention(site=Site("cross", 1), action="off")
    _, sites = force(model, *arguments, interventions=[off])
    switched = [site for site, weights in sites.items() if not weights.any()]
    assert switched == [Site("cross", 1)]
    assert len(sites) == 9

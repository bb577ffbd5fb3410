"""How weights start: Glorot & Bengio 2010, uniform within sqrt(6 / (inputs + outputs))."""

from __future__ import annotations

import pytest
import torch

from attention_plugins.contract import ModelSizes
from attention_plugins.registry import load

BUILT_IN = load(allow=[])
# Embeddings are not multiplied with; a scoring starts as its own file says; the projections of
# multi-head attention are several matrices in one, and have a test of their own.
OTHERS = ("embedding", "scoring", "projections")


@pytest.mark.parametrize("name", ["bahdanau", "luong", "transformer", "prefix_lm"])
def test_every_matrix_starts_within_its_own_bound_and_reaches_it(name):
    torch.manual_seed(0)
    factory = BUILT_IN.scorings["additive"].factory()
    model = BUILT_IN.models[name].create(factory, ModelSizes(61, 47), {"hidden": 48})
    matrices = {
        own: parameter.detach()
        for own, parameter in model.named_parameters()
        if parameter.dim() > 1 and not any(other in own for other in OTHERS)
    }
    assert len(matrices) > 4
    for own, matrix in matrices.items():
        bound = (6 / sum(matrix.shape)) ** 0.5
        assert 0.97 * bound < matrix.abs().max().item() <= bound, own
        assert matrix.std().item() == pytest.approx(bound / 3**0.5, rel=0.1), own


@pytest.mark.parametrize(
    ("name", "values", "deviations"),
    [
        (
            "bahdanau", {"embed": 64, "deep_readout": True},
            {"embedding.weight": 64**-0.5, "encoder.embedding.weight": 64**-0.5},
        ),
        (
            "transformer", {"hidden": 64, "tied": True},
            {"target_embedding.weight": 64**-0.5, "source_embedding.weight": 64**-0.5},
        ),
        (
            "conv_seq2seq", {"embed": 64, "hidden": 32, "kernel": 3, "dropout": 0.3},
            {
                "target_embedding.weight": 64**-0.5, "source_embedding.weight": 64**-0.5,
                "encoder.0.convolution.weight": (4 * 0.7 / (3 * 32)) ** 0.5,
                "encoder.0.convolution.bias": 0.0,
            },
        ),
    ],
)  # fmt: skip
def test_what_is_drawn_otherwise_starts_at_its_size(name, values, deviations):
    torch.manual_seed(0)
    factory = BUILT_IN.scorings["scaled_dot"].factory()
    model = BUILT_IN.models[name].create(factory, ModelSizes(61, 47), values)
    weights = dict(model.named_parameters())
    for own, deviation in deviations.items():
        assert weights[own].std().item() == pytest.approx(deviation, rel=0.1), own
    if name != "conv_seq2seq":  # one matrix reads words and scores them
        assert model.output.weight is weights[next(iter(deviations))]
        assert not model.output.bias.any()

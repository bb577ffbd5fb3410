"""What holds on a CPU holds on a GPU: the same losses, gradients and translations."""

import pytest
import torch

from attention_plugins.contract import ModelSizes
from attention_plugins.decoding import beam, force, greedy
from attention_plugins.devices import available, resolve
from attention_plugins.models.bahdanau import BAHDANAU
from attention_plugins.models.protocols import Batch
from attention_plugins.models.transformer import TRANSFORMER
from attention_plugins.registry import load

pytestmark = pytest.mark.gpu
SCORINGS = load(allow=[]).scorings
MODELS = {
    BAHDANAU: {"embed": 6, "hidden": 10, "deep_readout": True, "bidirectional": True},
    TRANSFORMER: {"hidden": 12, "heads": 3, "ffn": 10, "pre_norm": True, "tied": True},
}


def _model(spec, scoring):
    torch.manual_seed(0)
    model = spec.create(SCORINGS[scoring].factory(), ModelSizes(11, 13), MODELS[spec])
    return model.double().eval()


def _batch(device):
    torch.manual_seed(1)
    source, target = torch.randint(4, 11, (3, 7)), torch.randint(4, 13, (3, 5))
    tensors = source, torch.tensor([7, 3, 5]), target, torch.tensor([5, 2, 3])
    return Batch(*(tensor.to(device) for tensor in tensors))


def test_auto_is_the_gpu():
    assert "cuda:0" in available()
    assert resolve("auto") == torch.device("cuda:0")


@pytest.mark.parametrize("spec", MODELS, ids=lambda spec: spec.name)
@pytest.mark.parametrize("scoring", SCORINGS)
def test_gpu_and_cpu_agree(spec, scoring):
    found = {}
    for device in ("cpu", "cuda:0"):
        model, batch = _model(spec, scoring).to(device), _batch(device)
        loss = model.loss(batch, label_smoothing=0.1)
        gradients = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
        scores, sites = force(model, batch.source, batch.source_lengths, batch.target)
        found[device] = (
            [loss, scores, *sites.values(), *(g for g in gradients if g is not None)],
            [d.ids for d in greedy(model, batch.source, batch.source_lengths, limit=11)],
            [
                best[0].ids
                for best in beam(model, batch.source, batch.source_lengths, width=3, limit=11)
            ],
        )
    for mine, other in zip(found["cpu"][0], found["cuda:0"][0], strict=True):
        torch.testing.assert_close(mine, other.cpu(), rtol=1e-7, atol=1e-9)
    assert found["cpu"][1:] == found["cuda:0"][1:]

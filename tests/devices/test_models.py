"""What holds on a CPU holds on a device: the same losses, gradients, weights and translations."""

import pytest
import torch
from torch.utils._python_dispatch import _disable_current_modes

from attention_plugins import tap
from attention_plugins.contract import ModelSizes
from attention_plugins.decoding import beam, force, greedy
from attention_plugins.devices import widest
from attention_plugins.models.protocols import Batch, as_translation_model
from attention_plugins.registry import load

REGISTRY = load(allow=[])
SOURCE, TARGET = 11, 13  # words
SMALL = {
    "bahdanau": {"embed": 6, "hidden": 10, "layers": 1, "deep_readout": True,
                 "bidirectional": True, "dropout": 0.0},
    "transformer": {"hidden": 12, "heads": 3, "layers": 1, "ffn": 10, "pre_norm": True,
                    "tied": True, "dropout": 0.0},
}  # fmt: skip
OTHERS = sorted(
    name for name, spec in REGISTRY.models.items()
    if spec.task == "translation" and name not in SMALL
)  # fmt: skip
# By default what the chapter has, and one of each kind of its own: the others in the slow run.
SOON = {"additive", "scaled_dot", "dot", "bilinear", "cosine", "gaussian", "alibi", "coverage"}
SCORINGS = [
    pytest.param(name, marks=[] if name in SOON else pytest.mark.slow)
    for name in REGISTRY.scorings
]
WIDTHS = (1, 3)
TOLERANCES = {torch.float64: (1e-7, 1e-9), torch.float32: (1e-4, 1e-5)}


def build(name, scoring="scaled_dot", normaliser="", values=None):
    torch.manual_seed(0)
    factory = REGISTRY.scoring_factory(scoring, None, normaliser, None)
    sizes = ModelSizes(SOURCE, TARGET, (0,) * SOURCE)
    return as_translation_model(REGISTRY.model(name).create(factory, sizes, values or {})).eval()


def example():
    torch.manual_seed(1)
    source, target = torch.randint(4, SOURCE, (3, 7)), torch.randint(4, TARGET, (3, 3))
    return Batch(source, torch.tensor([7, 3, 5]), target, torch.tensor([3, 1, 2]))


def on(device, batch):
    return Batch(*(part if part is None else part.to(device) for part in batch))


def numbers(model, batch):
    """Everything that a model computes, on the CPU."""
    loss = model.loss(batch, label_smoothing=0.1)
    learned = [weight for weight in model.parameters() if weight.requires_grad]
    # cuDNN's recurrent layers have a gradient only while training.
    with torch.backends.cudnn.flags(enabled=False):
        again = model.loss(batch, label_smoothing=0.1)
        gradients = torch.autograd.grad(again, learned, allow_unused=True)
    scores, sites = force(model, batch.source, batch.source_lengths, batch.target)
    found = loss, scores, *sites.values(), *(g for g in gradients if g is not None)
    return [each.detach().cpu() for each in found]


def words(model, batch, width):
    given = model, batch.source, batch.source_lengths
    if width == 1:
        return [found.ids for found in greedy(*given, limit=3)]
    return [[one.ids for one in found] for found in beam(*given, width=width, limit=3)]


def require_agreement(device, make):
    """Compare the model on the device with itself on the CPU."""
    dtype, batch = widest(device), example()
    one, other = make().to(dtype), make().to(dtype).to(device)
    moved = on(device, batch)
    rtol, atol = TOLERANCES[dtype]
    with _disable_current_modes():  # faster: the CPU needs none
        expected = numbers(one, batch)
        said = [words(one, batch, width) for width in WIDTHS]
    for mine, yours in zip(expected, numbers(other, moved), strict=True):
        torch.testing.assert_close(yours, mine, rtol=rtol, atol=atol)
    assert [words(other, moved, width) for width in WIDTHS] == said


@pytest.mark.parametrize("model", SMALL)
@pytest.mark.parametrize("scoring", SCORINGS)
def test_a_device_and_the_cpu_agree(device, model, scoring):
    require_agreement(device, lambda: build(model, scoring, values=SMALL[model]))


@pytest.mark.slow
@pytest.mark.parametrize("normaliser", REGISTRY.normalisers)
def test_they_agree_with_any_normaliser(device, normaliser):
    values = SMALL["transformer"]
    require_agreement(device, lambda: build("transformer", normaliser=normaliser, values=values))


@pytest.mark.slow
@pytest.mark.parametrize("model", OTHERS)
def test_they_agree_on_every_other_model(device, model):
    require_agreement(device, lambda: build(model, values={"dropout": 0.0}))


@pytest.mark.parametrize("scoring", ["additive", "rope", "scaled_dot"])
def test_they_agree_in_blocks(device, scoring, monkeypatch):
    monkeypatch.setattr(tap, "_MOST_SCORES", 0)
    monkeypatch.setattr(tap, "runs_fused", lambda *given: False)
    require_agreement(device, lambda: build("transformer", scoring, values=SMALL["transformer"]))


def test_blocks_drop_the_same_again_on_their_way_back(device, monkeypatch):
    """Attention with dropout is made twice; the gradient is that of what was made first."""
    monkeypatch.setattr(tap, "_MOST_SCORES", 0)
    model = build("transformer", "additive", values=SMALL["transformer"] | {"dropout": 0.4})
    model = model.to(widest(device)).to(device).train()
    batch, gradients = on(device, example()), []
    for most in (0, 1 << 21):
        monkeypatch.setattr(tap, "_MOST_SCORES", most)
        torch.manual_seed(5)
        gradients.append(torch.autograd.grad(model.loss(batch), list(model.parameters())))
    for mine, yours in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, yours, rtol=1e-4, atol=1e-5)

"""What a training does to the weights: against torch's own losses, schedules and optimiser."""

from __future__ import annotations

import random

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR
from torch.optim.optimizer import register_optimizer_step_pre_hook

from attention_plugins.contract import ModelSizes, SentencePair
from attention_plugins.encoding import batches, encode
from attention_plugins.models.bahdanau import BAHDANAU
from attention_plugins.models.transformer import TRANSFORMER
from attention_plugins.recipe import Recipe
from attention_plugins.registry import load
from attention_plugins.tap import Tap
from attention_plugins.text import BOS_ID, PAD_ID
from attention_plugins.training import Trainer, train

# Targets of 4 to 10 tokens, so that batches hold unequal numbers of them.
PAIRS = [
    SentencePair(f"the {a} is {b} .", f"le {a} est {b}" + " vraiment" * (2 * i))
    for i, (a, b) in enumerate((a, b) for a in ("chat", "lion", "ours") for b in ("ici", "las"))
]
STILL = 1e-7  # a learning rate at which nothing is learned
SMALL = {
    BAHDANAU: {"embed": 6, "hidden": 10, "layers": 2, "dropout": 0.0, "deep_readout": True},
    TRANSFORMER: {"hidden": 12, "heads": 2, "layers": 1, "ffn": 10, "dropout": 0.0},
}
every_model = pytest.mark.parametrize("spec", SMALL, ids=lambda spec: spec.name)


def recipe(**values):
    return Recipe(**{"min_frequency": 1, "max_tokens": 16, "epochs": 1, "batch_size": 2, **values})


def built(spec, encoded):
    torch.manual_seed(5)
    sizes = ModelSizes(len(encoded.source_vocabulary), len(encoded.target_vocabulary))
    factory = load(allow=[]).scoring("additive").factory()
    return spec.create(factory, sizes, SMALL[spec]).double()


def cost(model, batch, smoothing=0.0):
    """Every target token's loss by torch, from what steps say of all words, ``(tokens,)``."""
    tap = Tap()
    state = model.start(batch.source, batch.source_lengths, tap)
    last, rows = torch.full_like(batch.target[:, 0], BOS_ID), []
    for wanted in batch.target.T:
        scores, state = model.step(state, last, tap)
        rows.append(cross_entropy(
            scores, wanted, label_smoothing=smoothing, ignore_index=PAD_ID, reduction="none"
        ))  # fmt: skip
        last = wanted
    counted = torch.arange(len(rows)) < batch.target_lengths[:, None]
    return torch.stack(rows, dim=1)[counted]


def watched(model, encoded, how):
    """Of each step of a training: learning rate, decay by parameter, gradients; and its end."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    steps = []

    def look(optimiser, args, kwargs):
        groups = optimiser.param_groups
        (rate,) = {group["lr"] for group in groups}
        decay = {names[id(p)]: group["weight_decay"] for group in groups for p in group["params"]}
        gradients = {
            name: parameter.grad.clone()
            for name, parameter in model.named_parameters()
            if parameter.grad is not None
        }
        steps.append((rate, decay, gradients))

    hook = register_optimizer_step_pre_hook(look)
    try:
        history = train(model, encoded, how)
    finally:
        hook.remove()
    return steps, history


def norm(gradients):
    return torch.cat([one.flatten() for one in gradients.values()]).norm().item()


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@every_model
def test_the_loss_of_an_epoch_is_the_mean_over_its_tokens(spec, smoothing):
    """Not of its batches, which hold unequal numbers; label smoothing included."""
    how = recipe(learning_rate=STILL, label_smoothing=smoothing)
    encoded = encode(PAIRS, how)
    model = built(spec, encoded)
    with torch.no_grad():
        parts = [
            cost(model, batch, smoothing)
            for batch in batches(encoded, 2, random.Random(0), torch.device("cpu"))
        ]
    assert len({len(part) for part in parts}) == 3
    (progress,) = train(model, encoded, how)
    assert progress.loss == pytest.approx(torch.cat(parts).mean().item(), abs=1e-5)
    assert abs(progress.loss - sum(part.mean().item() for part in parts) / 3) > 1e-4


@every_model
def test_gradients_are_clipped_by_their_norm_as_the_textbook_does(spec):
    how = recipe(learning_rate=STILL, clip=1000.0)
    encoded = encode(PAIRS, how)
    free, _ = watched(built(spec, encoded), encoded, how)
    lengths = [norm(gradients) for *_, gradients in free]
    theta = sorted(lengths)[1] * 1.0001  # the middle one of three: some are above it
    cut, _ = watched(built(spec, encoded), encoded, recipe(learning_rate=STILL, clip=theta))
    for (*_, plain), (*_, clipped), length in zip(free, cut, lengths, strict=True):
        assert norm(clipped) == pytest.approx(min(length, theta), rel=1e-5)
        scale = theta / length if length > theta else 1.0
        for name, gradient in plain.items():
            torch.testing.assert_close(clipped[name], gradient * scale, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize(
    ("spec", "decayed", "spared"),
    [
        (TRANSFORMER,
         ("source_embedding.weight", "encoder.0.attention.projections.weight",
          "decoder.0.cross.output.weight", "decoder.0.feed_forward.rise.weight", "output.weight"),
         ("encoder.0.attention.projections.bias", "encoder.0.residuals.0.norm.weight",
          "decoder.0.residuals.2.norm.bias", "decoder.0.feed_forward.fall.bias", "output.bias")),
        (BAHDANAU,
         ("embedding.weight", "encoder.first.weight_hh_l0", "cells.1.weight_ih",
          "readout.weight"),
         ("encoder.first.bias_hh_l0", "cells.0.bias_ih", "readout.bias", "output.bias")),
    ],
)  # fmt: skip
def test_matrices_decay_and_biases_and_norms_do_not(spec, decayed, spared):
    how = recipe(learning_rate=0.01, weight_decay=0.25)
    encoded = encode(PAIRS, how)
    model = built(spec, encoded)
    ((_, decay, _), *_), _ = watched(model, encoded, how)
    assert {decay[name] for name in decayed} == {0.25}
    assert {decay[name] for name in spared} == {0.0}
    assert decay.keys() == dict(model.named_parameters()).keys()
    for name, value in decay.items():
        assert (value == 0.0) == (".norm." in name or "bias" in name)


def test_the_cosine_is_torchs_after_a_linear_rise():
    """Four steps of warm-up, then half a cosine over what is left of 3 x 12 steps."""
    how = recipe(
        epochs=12, schedule="cosine", warmup=4, learning_rate=0.02, weight_decay=0.0, clip=0.5
    )
    encoded = encode(PAIRS, how)
    steps, _ = watched(built(BAHDANAU, encoded), encoded, how)
    rates = [rate for rate, *_ in steps]
    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.02)
    schedule = SequentialLR(
        optimiser,
        [LinearLR(optimiser, 1 / 5, 1.0, 4), CosineAnnealingLR(optimiser, T_max=36 - 4)],
        milestones=[4],
    )
    expected = []
    for _ in range(36):
        expected.append(schedule.get_last_lr()[0])
        optimiser.step()
        schedule.step()
    assert rates == pytest.approx(expected, rel=1e-9)
    assert rates[:5] == pytest.approx([0.004, 0.008, 0.012, 0.016, 0.02])
    assert rates[4 + 16] == pytest.approx(0.01)  # half way down
    assert rates[-1] < 0.02 / 300


def test_a_constant_rate_rises_and_stays():
    how = recipe(epochs=3, warmup=3, learning_rate=0.02)
    encoded = encode(PAIRS, how)
    steps, _ = watched(built(BAHDANAU, encoded), encoded, how)
    assert [rate for rate, *_ in steps] == pytest.approx([0.005, 0.01, 0.015] + [0.02] * 6)


@every_model
def test_a_training_is_torchs_adamw_over_the_same_batches(spec):
    """Losses by torch, word for word; clipping by the textbook's lines; decay by hand."""
    how = recipe(
        epochs=3, learning_rate=0.01, weight_decay=0.2, clip=0.7, label_smoothing=0.1, seed=3
    )
    encoded = encode(PAIRS, how)
    trained, model = built(spec, encoded), built(spec, encoded)
    list(Trainer(trained, encoded, how).epochs())
    optimiser = torch.optim.AdamW(
        [{"params": [parameter], "weight_decay": 0.2 if parameter.dim() > 1 else 0.0}
         for parameter in model.parameters()], lr=0.01,
    )  # fmt: skip
    order = random.Random(3)
    for _ in range(3):
        for batch in batches(encoded, 2, order, torch.device("cpu")):
            optimiser.zero_grad()
            cost(model, batch, 0.1).mean().backward()
            length = norm({n: p.grad for n, p in model.named_parameters() if p.grad is not None})
            for parameter in model.parameters():
                if length > 0.7 and parameter.grad is not None:
                    parameter.grad *= 0.7 / length
            optimiser.step()
    learned = dict(trained.named_parameters())
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(learned[name], parameter, rtol=1e-4, atol=1e-6)


def alike(count=40):
    """Pairs of one length each, so that only chance can tell their order."""
    words = [SentencePair(f"a{i} b", f"c{i} d") for i in range(count)]
    return encode(words, recipe())


def sequence(encoded, order, size=4):
    made = batches(encoded, size, order, torch.device("cpu"))
    return [[int(row[0]) for row in batch.source] for batch in made]


def test_sentences_are_shuffled_and_anew_in_every_epoch():
    encoded, order = alike(), random.Random(0)
    first, second = sequence(encoded, order), sequence(encoded, order)
    inside = {frozenset(group) for group in first}
    stored = [row[0] for row in encoded.source]
    in_order = {frozenset(stored[i : i + 4]) for i in range(0, 40, 4)}
    for epoch in (first, second):
        assert sorted(word for group in epoch for word in group) == sorted(stored)
    assert len(inside & in_order) <= 1
    assert len(inside & {frozenset(group) for group in second}) <= 1
    assert first == sequence(encoded, random.Random(0))


def test_batches_of_short_and_of_long_sentences_come_in_any_order():
    pairs = [SentencePair("a " * (i + 1), "b " * (i + 1)) for i in range(14)]
    encoded, order = encode(pairs, recipe()), random.Random(0)
    longest = [
        [max(batch.target_lengths.tolist()) for batch in
         batches(encoded, 2, order, torch.device("cpu"))]
        for _ in range(4)
    ]  # fmt: skip
    assert all(sorted(one) == sorted(longest[0]) for one in longest)
    assert all(one != sorted(one) for one in longest)
    assert len({tuple(one) for one in longest}) == 4

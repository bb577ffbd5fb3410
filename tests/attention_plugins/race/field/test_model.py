"""The field's models: equal to what their authors write, for any scoring."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy, layer_norm, scaled_dot_product_attention

from attention_plugins.race.field import model as field
from attention_plugins.race.field.tasks import TASKS, Labelled
from attention_plugins.randomness import seeded
from attention_plugins.registry import installed

SETTINGS = {"pairs": 2, "power": 0.01, "random_non_queries": True}
TASK = replace(TASKS["mqar_64_4"], vocabulary=46, length=22, settings=SETTINGS)
SHAPE = replace(field.SHAPES["zoology_64"], hidden=10, dropout=0.0)
GATED = replace(field.SHAPES["mad_128"], hidden=12, heads=3)


def built(scoring="scaled_dot", normaliser="", shape=SHAPE, task=TASK):
    factory = installed().scoring_factory(scoring, normaliser=normaliser)
    with seeded(0):
        made = field.FieldModel(factory, shape, task)
        for weight in made.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.4)
    return made.double()


def whole(batch):
    """The same sequences, with every place asked for."""
    count, length = batch.inputs.shape
    return Labelled(batch.inputs, torch.arange(length).expand(count, -1), batch.inputs.long())


def zoology(made, tokens):
    """Logits as the authors' blocks compute them, in plain torch."""
    state = {name: weight.detach() for name, weight in made.named_parameters()}
    hidden, residual = state["embedding.weight"][tokens] + state["positions.weight"], 0.0

    def norm(name, inputs):
        return layer_norm(
            inputs, inputs.shape[-1:], state[f"{name}.weight"], state[f"{name}.bias"]
        )

    for block in ("blocks.0", "blocks.1"):
        residual = hidden + residual
        normed = norm(f"{block}.norms.0", residual)
        parts = (
            normed @ state[f"{block}.attention.projections.weight"].T
            + state[f"{block}.attention.projections.bias"]
        ).chunk(3, dim=-1)
        mixed = scaled_dot_product_attention(*parts, is_causal=True)
        mixed = mixed @ state[f"{block}.attention.output.weight"].T
        residual = residual + mixed + state[f"{block}.attention.output.bias"]
        hidden = norm(f"{block}.norms.1", residual)
    return norm("norm", hidden + residual) @ state["embedding.weight"].T


def test_logits_and_loss_are_those_of_the_authors_blocks():
    made, batch = built(), TASK.drawn(5, 0, learned=True)
    wanted = zoology(made, batch.inputs.long()).gather(
        1, batch.places[..., None].expand(-1, -1, 46)
    )
    torch.testing.assert_close(made(batch), wanted)
    loss = cross_entropy(wanted.flatten(0, 1), batch.labels.flatten())
    torch.testing.assert_close(made.loss(batch), loss)


QUICK = {"scaled_dot", "linear_attention", "lsh", "cosformer", "t5_bias", "monotonic", "sparsemax"}
PAIRS = [*((name, "") for name in installed().scorings),
         *(("scaled_dot", name) for name in installed().normalisers)]  # fmt: skip


@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(pair, id="+".join(pair),
                     marks=() if (pair[1] or pair[0]) in QUICK else pytest.mark.slow)
        for pair in PAIRS
    ],
)  # fmt: skip
def test_what_nobody_reads_is_not_computed_and_changes_nothing(pair, monkeypatch):
    made, batch = built(*pair).eval(), TASK.drawn(3, 0, learned=True)
    monkeypatch.setattr(field, "_TOGETHER", 1)  # each sequence ends at its own last place
    with seeded(1), torch.no_grad():
        some = made(batch)
    monkeypatch.setattr(field.Block, "picks", False)
    with seeded(1), torch.no_grad():
        every = made(whole(batch))
    there = batch.places[..., None].expand(-1, -1, 46)
    torch.testing.assert_close(some, every.gather(1, there))


@pytest.mark.parametrize("shape", [SHAPE, GATED], ids=["zoology", "mad"])
def test_no_token_sees_those_after_it(shape):
    made, batch = built(shape=shape).eval(), whole(TASK.drawn(2, 0, learned=True))
    changed = batch.inputs.clone()
    changed[:, 13:] = (changed[:, 13:] + 1) % 46
    before, after = made(batch), made(batch._replace(inputs=changed))
    torch.testing.assert_close(before[:, :13], after[:, :13])
    assert (before[:, 13:] - after[:, 13:]).abs().min() > 1e-9


def test_what_is_compressed_is_told_from_the_last_vector_alone():
    task = replace(TASKS["mad_compression"], length=9)
    made, batch = built(shape=GATED, task=task).eval(), task.drawn(3, 0, learned=True)
    assert made(batch).shape == (3, 9, 16)
    read = []
    made.blocks[1].register_forward_hook(lambda block, given, made: read.append(made.shape))
    made(batch)
    assert read == [(3, 1, 12)]


def test_sizes_are_the_papers():
    factory = installed().scoring_factory("scaled_dot")
    tied = field.FieldModel(factory, field.SHAPES["zoology_64"], TASKS["mqar_64_4"])
    gated = field.FieldModel(factory, field.SHAPES["mad_128"], TASKS["mad_recall"])
    block = 4 * 64 * 64 + 4 * 64 + 2 * 2 * 64
    wanted = (8192 + 64) * 64 + 2 * block + 2 * 64
    assert sum(weight.numel() for weight in tied.parameters()) == wanted
    assert tied.embedding.weight.std().item() == pytest.approx(0.02, rel=0.02)
    assert tied.blocks[0].attention.output.weight.std().item() == pytest.approx(0.01, rel=0.05)
    assert gated.blocks[0].network.fall.weight.shape == (128, 352)
    assert len(gated.blocks) == 2

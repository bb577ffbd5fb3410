"""What a few tokens show of a model before it is read."""

from __future__ import annotations

import pytest
import torch
from support.tiny_families import BY_THEMSELVES, READ, TRANSLATORS, save
from torch import nn

from attention_plugins.checkpoints import CheckpointError
from attention_plugins.contract import ContractError
from attention_plugins.huggingface import attention, families, folder
from attention_plugins.opening import read_checkpoint

TEXTS = [name for name, one in READ.items() if one.loader.endswith("LM")]


@pytest.mark.parametrize(
    "family",
    ["bloom", *(pytest.param(name, marks=pytest.mark.slow) for name in [*BY_THEMSELVES][1:])],
)
def test_a_family_that_attends_by_itself_is_refused_by_name_and_by_trial(
    family, tmp_path, monkeypatch
):
    save(family, tmp_path)
    message = f"holds a '{family}' model, whose code attends by itself and not by the library's"
    with pytest.raises(CheckpointError, match=message):
        read_checkpoint(tmp_path)
    monkeypatch.setattr(families, "_BY_THEMSELVES", frozenset())
    checkpoint = read_checkpoint(tmp_path)
    with pytest.raises(CheckpointError, match=message):
        checkpoint.build(None)


@pytest.mark.parametrize(
    "family",
    ["qwen3", *(pytest.param(name, marks=pytest.mark.slow) for name in TEXTS if name != "qwen3")],
)
def test_a_family_of_which_nobody_has_heard_is_taken_by_what_it_does(
    family, tmp_path, monkeypatch
):
    save(family, tmp_path)
    if family not in TRANSLATORS:  # whose kind the configuration says
        monkeypatch.setattr(families, "FAMILIES", {})
    made = read_checkpoint(tmp_path).build(None)
    assert sum(map(len, made.sites.values())) == (8 if family in TRANSLATORS else 3)


@pytest.fixture
def llama(tmp_path):
    folder.library()
    return read_checkpoint(save("llama", tmp_path))


def _with(monkeypatch, change):
    """Our attention, with one thing wrong."""
    usual = attention._attend

    def wrong(module, query, key, value, attention_mask, **more):
        return change(usual, module, query, key, value, attention_mask, **more)

    from transformers import AttentionInterface

    AttentionInterface.register(attention.NAME, wrong)
    monkeypatch.setattr(attention, "register", lambda: None)
    monkeypatch.setattr(folder, "register", lambda: None)
    return lambda: AttentionInterface.register(attention.NAME, usual)


def _without_mask(usual, module, query, key, value, mask, **more):
    return usual(module, query, key, value, None, **more)


def _of_other_values(usual, module, query, key, value, mask, **more):
    return usual(module, query, key, value * 1.01, mask, **more)


def _with_more(usual, module, query, key, value, mask, **more):
    return usual(module, query, key, value, mask, gate=torch.ones(1), **more)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_without_mask, "the map of decoder layer 1 of 'llama' is not what the library's own"),
        (_of_other_values, "of 'llama' is not what|what 'llama' says here is up to"),
        (_with_more, "LlamaAttention of the library gives its attention 'gate'"),
    ],
)
def test_a_model_that_would_be_shown_wrongly_is_refused(llama, change, message, monkeypatch):
    undo = _with(monkeypatch, change)
    try:
        with pytest.raises(ContractError, match=message):
            llama.build(None)
    finally:
        undo()


def test_a_model_of_which_a_part_cannot_be_seen_is_refused(llama, monkeypatch):
    from transformers.models.llama import modeling_llama

    usual = modeling_llama.LlamaAttention.forward

    def partly(self, *given, **more):
        before = self.config._attn_implementation
        self.config._attn_implementation = "eager" if self.layer_idx == 1 else before
        try:
            return usual(self, *given, **more)
        finally:
            self.config._attn_implementation = before

    monkeypatch.setattr(modeling_llama.LlamaAttention, "forward", partly)
    with pytest.raises(CheckpointError, match="2 of the 3 attentions of 'llama' can be seen"):
        llama.build(None)


def test_a_model_that_raises_costs_one_sentence(llama, monkeypatch):
    from transformers.models.llama import modeling_llama

    def broken(*_, **__):
        raise RuntimeError("no such kernel\nof a long story")

    monkeypatch.setattr(modeling_llama.LlamaMLP, "forward", broken)
    with pytest.raises(CheckpointError, match=r"cannot be used: RuntimeError: no such kernel$"):
        llama.build(None)


def test_weights_that_do_not_sum_to_one_are_refused(llama, monkeypatch):
    undo = _with(monkeypatch, _of_other_values)
    monkeypatch.setattr(attention._Own, "normalise", lambda self, scores: scores.softmax(-1) * 1.1)
    undo()
    with pytest.raises(CheckpointError, match="is not what the library's own attention makes"):
        llama.build(None)
    assert isinstance(llama.untrained(None), nn.Module)

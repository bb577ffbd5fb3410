"""The callbacks, called as the documentation of their libraries says, in its order."""

from __future__ import annotations

import sys
import types

import pytest
import torch
from torch import nn

from attention_plugins import lightning_log, trainer_log
from attention_plugins.attention_log import read_index, read_step


class Net(nn.Module):
    def forward(self, given):
        return nn.functional.scaled_dot_product_attention(given, given, given)


class LitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def training_step(self, batch):  # which Lightning calls without a call of the module
        return self.net(batch)


BATCH = torch.randn(2, 1, 3, 4)


def steps(folder):
    return [line["step"] for line in read_index(folder).lines]


def test_transformers_trainer_logs_its_steps_under_their_numbers(tmp_path):
    pytest.importorskip("transformers")
    from transformers import TrainerControl, TrainerState, TrainingArguments
    from transformers.trainer_callback import CallbackHandler, TrainerCallback

    callback, model = trainer_log(tmp_path, every=2, rows=[1]), Net()
    assert isinstance(callback, TrainerCallback)
    handler = CallbackHandler([callback], model, None, None, None)
    args, state, control = object.__new__(TrainingArguments), TrainerState(), TrainerControl()
    handler.on_train_begin(args, state, control)
    for _ in range(5):
        handler.on_step_begin(args, state, control)
        for _ in range(2):  # gradients of two batches
            model(BATCH)
        state.global_step += 1
        handler.on_step_end(args, state, control)
    handler.on_train_end(args, state, control)
    model(BATCH)
    assert steps(tmp_path) == [0, 2, 4]
    assert read_step(tmp_path, 4)[0].rows == (1,)
    assert not model._forward_hooks


def test_lightning_logs_what_a_batch_runs(tmp_path, monkeypatch):
    class Callback:
        """As far as the loop calls it."""

    stub = types.SimpleNamespace(Callback=Callback)
    monkeypatch.setitem(sys.modules, "lightning.pytorch", stub)
    monkeypatch.setitem(sys.modules, "lightning", types.SimpleNamespace(pytorch=stub))
    callback, module = lightning_log(tmp_path, every=2, rows=[2]), LitNet()
    assert isinstance(callback, Callback)
    trainer = types.SimpleNamespace(global_step=0)
    callback.on_train_start(trainer, module)
    for number in range(5):
        callback.on_train_batch_start(trainer, module, BATCH, number)
        module.training_step(BATCH)
        trainer.global_step += 1
        callback.on_train_batch_end(trainer, module, None, BATCH, number)
    assert steps(tmp_path) == [0, 2, 4]
    assert read_step(tmp_path, 4)[0].rows == (2,)
    trainer.global_step = 6
    callback.on_train_batch_start(trainer, module, BATCH, 6)
    callback.on_exception(trainer, module, KeyboardInterrupt())
    module.training_step(BATCH)
    assert steps(tmp_path) == [0, 2, 4]

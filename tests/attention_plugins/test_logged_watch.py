"""A loop that is not ours, with a watch around it: some calls are logged, nothing else happens."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import nn
from torch.overrides import _get_current_function_mode_stack

from attention_plugins import AttentionUnseen, read_step, watch
from attention_plugins.attention_log import read_index
from attention_plugins.logged_watch import LoggedWatch

BATCH, TOKENS, SIZE, HEADS = 3, 5, 8, 2


class Attending(nn.Module):
    """Attends itself, without a module below it."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(SIZE, SIZE)

    def forward(self, given, raises=False):
        if raises:
            raise RuntimeError("forward")
        q = self.linear(given).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        return nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)


def encoder():
    layer = nn.TransformerEncoderLayer(SIZE, HEADS, 16, batch_first=True, dropout=0.25)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def given(tokens=TOKENS):
    return torch.randn(BATCH, tokens, SIZE, generator=torch.Generator().manual_seed(1))


def steps(folder):
    return [line["step"] for line in read_index(folder).lines]


def train(model, calls, seen=None):
    torch.manual_seed(0)
    optimiser = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(calls):
        loss = model(given()).square().mean()
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    return [parameter.detach().clone() for parameter in model.parameters()]


@pytest.mark.parametrize("make", [encoder, Attending])
def test_every_third_call_is_logged_and_the_training_is_the_same(tmp_path, make):
    torch.manual_seed(5)
    model = make()
    state = {name: held.clone() for name, held in model.state_dict().items()}
    before = train(model, 7)
    model.load_state_dict(state)
    with watch(model, log=tmp_path, every=3) as seen:
        after = train(model, 7)
    for one, other in zip(before, after, strict=True):
        assert one.equal(other)
    assert steps(tmp_path) == [0, 3, 6]
    assert seen.calls == 7
    assert not model._forward_hooks
    assert not model._forward_pre_hooks
    assert not _get_current_function_mode_stack()
    train(model, 3)
    assert steps(tmp_path) == [0, 3, 6]


def test_the_first_example_is_what_a_watch_sees_of_it(tmp_path):
    for model in (encoder().eval(), Attending()):
        with watch(model) as seen:
            model(given())
        with watch(model, log=tmp_path):
            model(given())
        logged = read_step(tmp_path, 0)
        assert [one.name for one in logged] == [one.name for one in seen.maps]
        for one, whole in zip(logged, seen.maps, strict=True):
            torch.testing.assert_close(one.weights, whole.weights[:1], atol=1 / 200, rtol=0)


def test_only_the_rows_that_are_kept_are_computed(tmp_path):
    model = Attending()
    with watch(model, log=tmp_path, heads=1, limit_bytes=4 * 128 * 300):
        model(given(300))  # all rows of all heads would take more
    (one,) = read_step(tmp_path, 0)
    assert one.weights.shape == (1, 1, 128, 100)
    assert (one.heads, one.rows[-1]) == ((1,), 299)


def test_a_loop_may_count_by_itself(tmp_path):
    model = Attending()
    with watch(model, log=tmp_path, every=10) as seen:
        for tokens, seen.step in enumerate((0, 5, 10, 10, 11, 20), start=2):
            model(given(tokens))
    assert steps(tmp_path) == [0, 10, 20]
    sizes = [read_step(tmp_path, step)[0].weights.shape[-1] for step in (0, 10, 20)]
    assert sizes == [2, 4, 7]


def test_a_call_that_raises_is_not_logged_and_ends_the_watch(tmp_path):
    model = Attending()
    with watch(model, log=tmp_path, every=1):
        with pytest.raises(RuntimeError, match="forward"):
            model(given(), raises=True)
        assert not _get_current_function_mode_stack()
        model(given())
    assert steps(tmp_path) == [1]


def test_another_thread_is_not_seen(tmp_path):
    model = Attending()
    with watch(model, log=tmp_path, every=1) as seen:
        thread = threading.Thread(target=model, args=(given(),))
        thread.start()
        thread.join()
    assert seen.calls == 0
    assert steps(tmp_path) == []


def test_a_folder_that_cannot_be_written_costs_a_warning_and_no_training(tmp_path):
    (tmp_path / "file").write_text("")
    model = Attending()
    with (
        watch(model, log=tmp_path / "file", every=1),
        pytest.warns(UserWarning, match="attention was not logged"),
    ):
        assert model(given()).shape == (BATCH, HEADS, TOKENS, SIZE // HEADS)


def test_other_processes_of_a_training_log_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 1)
    with watch(model := Attending(), log=tmp_path):
        model(given())
    assert steps(tmp_path) == []


def test_what_does_not_fit_is_refused_before_the_loop(tmp_path):
    with pytest.raises(ValueError, match="1 <= every"):
        watch(Attending(), log=tmp_path, every=0)
    with pytest.raises(ValueError, match="fits no module"):
        watch(Attending(), log=tmp_path, layers="nothing.*")
    with pytest.raises(TypeError, match=r"torch\.nn\.Module"):
        watch("model", log=tmp_path)
    compiled = torch.compile(Attending(), backend="eager")
    with pytest.raises(AttentionUnseen), watch(compiled, log=tmp_path):
        pass
    seen = watch(Attending(), log=tmp_path)
    assert isinstance(seen, LoggedWatch)
    with seen, pytest.raises(RuntimeError, match="in use"), seen:
        pass

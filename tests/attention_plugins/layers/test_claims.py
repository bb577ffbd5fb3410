"""What papers claim of their attention layers, measured on small tasks that are learned here."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, pad

from attention_plugins.models.parts import sinusoidal_positions
from attention_plugins.models.transformer_layers import EncoderLayer, Hyperparameters
from attention_plugins.registry import load
from attention_plugins.tap import Recorder, Site, Tap

REGISTRY = load(allow=[])
UNASKED = -100


class Task(NamedTuple):
    """Words ``(B, n)`` and what is to be said at each, or UNASKED."""

    words: Tensor
    said: Tensor


class Small(nn.Module):
    """A causal language model of few layers of one kind.

    ``neighbours``: a word is read with the one before it, as by a convolution of width 2.
    """

    def __init__(self, words, layer, scoring="scaled_dot", *, hidden=32, heads=2, layers=1,
                 placed=False, neighbours=False):  # fmt: skip
        super().__init__()
        torch.manual_seed(0)
        known = Hyperparameters(
            hidden=hidden, heads=heads, layers=layers, ffn=2 * hidden, dropout=0.0, pre_norm=True,
            tied=False, layer=layer,
        )  # fmt: skip
        make = REGISTRY.scoring(scoring).factory()
        self.embed, self.placed = nn.Embedding(words, hidden), placed
        self.before = nn.Embedding(words, hidden) if neighbours else None
        self.layers = nn.ModuleList(EncoderLayer(make, known, "decoder") for _ in range(layers))
        self.norm, self.output = nn.LayerNorm(hidden), nn.Linear(hidden, words)

    def forward(self, words, tap=None):
        features, n = self.embed(words), words.shape[1]
        if self.before is not None:
            features = features + pad(self.before(words[:, :-1]), (0, 0, 1, 0))
        if self.placed:
            features = features + sinusoidal_positions(torch.arange(n), features.shape[-1])
        causal, tap = torch.ones(n, n, dtype=torch.bool).tril(), tap or Tap()
        for number, layer in enumerate(self.layers):
            features = layer(features, causal, tap, Site("decoder", number))
        return self.output(self.norm(features))

    @torch.no_grad()
    def weights(self, words):
        """Of the first layer, ``(B, heads, n, n)``."""
        recorder = Recorder()
        self(words, Tap(recorder))
        return recorder.weights()[Site("decoder", 0)]


def learned(model, task, steps, rate=3e-3):
    """After ``steps`` batches of 64, or of what ``task`` makes; the rate falls to a twentieth."""
    optimiser = torch.optim.Adam(model.parameters(), rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
    for step in range(steps):
        words, said = task(step)
        loss = cross_entropy(model(words).flatten(0, 1), said.flatten(), ignore_index=UNASKED)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def accuracy(model, task):
    asked = task.said != UNASKED
    return float((model(task.words).argmax(-1) == task.said)[asked].float().mean())


def flip_flop(seed, n=16, count=32):
    """Instructions to write, read or ignore a bit; a read says what was written last.

    Liu et al. 2023, Exposing attention glitches with flip-flop language modeling, section 3.
    """
    generator = torch.Generator().manual_seed(seed)
    chances = torch.tensor([0.15, 0.15, 0.7])
    told = torch.multinomial(chances, count * n, True, generator=generator).view(count, n)
    told[:, 0] = 0
    bits = torch.randint(2, (count, n), generator=generator)
    held = bits.gather(1, torch.where(told == 0, torch.arange(n), 0).cummax(1).values)
    words = torch.stack([told, torch.where(told == 1, held, bits) + 3], dim=-1).flatten(1)
    said = torch.full_like(words, UNASKED)
    said[:, ::2] = torch.where(told == 1, held + 3, UNASKED)
    return Task(words, said)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_forgetting_attention_goes_on_where_positions_end():
    """Learned on 16 instructions; asked on 16, 64 and 128."""
    found = {
        name: [accuracy(learned_flip_flop(name), flip_flop(10**6, n, 200)) for n in (16, 64, 128)]
        for name in ("multi_head", "forgetting")
    }
    assert found["forgetting"] == pytest.approx([1.0] * 3, abs=0.02)
    assert found["multi_head"][0] > 0.97
    assert found["multi_head"][-1] < 0.8


@cache
def learned_flip_flop(name):
    model = Small(5, name, layers=2, placed=name == "multi_head")
    return learned(model, flip_flop, 500)


WORDS, TRIGGERS = 20, 3
FOLLOWS = torch.rand(WORDS, WORDS, generator=torch.Generator().manual_seed(5)) ** 6
FOLLOWS[:, 0] = 0  # it only begins


@cache
def backcopy(seed, count=32, n=32):
    """Words follow each other by a table; behind a trigger comes the word before it.

    Guo et al. 2024, Active-dormant attention heads, section 2.
    """
    generator = torch.Generator().manual_seed(seed)
    words = torch.zeros(count, n + 1, dtype=torch.long)
    for step in range(1, n + 1):
        last = words[:, step - 1]
        drawn = torch.multinomial(FOLLOWS[last], 1, generator=generator)[:, 0]
        copied = step > 1 and (last >= 1) & (last <= TRIGGERS)
        words[:, step] = torch.where(copied, words[:, step - 2], drawn) if step > 1 else drawn
    return Task(words[:, :-1], words[:, 1:])


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_gated_output_needs_no_sink():
    """The share of weight on the first word, of words that have nothing to look for."""
    shares = {}
    words = backcopy(10**6, 200).words
    idle = words > TRIGGERS
    idle[:, :4] = False
    for name in ("multi_head", "gated_output"):
        model = Small(WORDS, name, heads=1, placed=True)
        learned(model, lambda step: backcopy(step % 100), 600)
        shares[name] = float(model.weights(words)[:, 0, :, 0][idle].mean())
    assert shares["gated_output"] < 0.15 < 0.2 < shares["multi_head"]


def two_words(seed, count=64):
    """Eight triples of two letters and a digit, then two letters: their digit."""
    generator = torch.Generator().manual_seed(seed)
    pairs = torch.rand(count, 36, generator=generator).argsort(1)[:, :8]
    digits = torch.randint(10, (count, 8), generator=generator) + 12
    one, other = pairs // 6, pairs % 6 + 6
    which = torch.randint(8, (count, 1), generator=generator)
    asked = one.gather(1, which), other.gather(1, which)
    words = torch.cat([torch.stack([one, other, digits], dim=-1).flatten(1), *asked], dim=1)
    said = torch.full_like(words, UNASKED)
    said[:, -1:] = digits.gather(1, which)
    return Task(words, said)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_multi_token_attention_matches_two_words_at_once():
    """One layer of plain attention knows the last word alone, to which several digits belong."""
    found = {
        name: accuracy(learned(Small(22, name), two_words, 1000), two_words(10**6, 500))
        for name in ("multi_head", "multi_token")
    }
    assert found["multi_token"] > 0.95
    assert found["multi_head"] < 0.5


def recall(seed, keys=12, count=64):
    """Letters with digits, then four of the letters: as the data set ``recall`` asks one."""
    generator = torch.Generator().manual_seed(seed)
    letters = torch.rand(count, 26, generator=generator).argsort(1)[:, :keys]
    digits = torch.randint(10, (count, keys), generator=generator) + 26
    which = torch.rand(count, keys, generator=generator).argsort(1)[:, :4]
    pairs = torch.stack([letters, digits], dim=-1).flatten(1)
    words = torch.cat([pairs, letters.gather(1, which)], dim=1)
    said = torch.full_like(words, UNASKED)
    said[:, -4:] = digits.gather(1, which)
    return Task(words, said)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("layer", "scoring", "state", "low", "high"),
    [
        ("multi_head", "scaled_dot", 16, 0.97, 1.0),
        ("multi_head", "linear_attention", 16, 0.5, 0.9),
        ("multi_head", "linear_attention", 32, 0.95, 1.0),
        ("gated_linear", "scaled_dot", 16, 0.3, 0.9),
        ("delta_rule", "scaled_dot", 16, 0.95, 1.0),
    ],
)
def test_recall_ends_with_a_state_and_the_delta_rule_holds_more(layer, scoring, state, low, high):
    """One head reads 12 pairs; but for the softmax a state of ``state`` times as many numbers."""
    model = Small(36, layer, scoring, hidden=state, heads=1, neighbours=True)
    assert low < accuracy(learned(model, recall, 1500, 1e-2), recall(10**6, count=500)) <= high

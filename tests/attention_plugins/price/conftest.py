"""Tiny random models, and texts for them."""

import pytest
import torch
from support.tiny_families import WORDS, build, save

from attention_plugins.price.records import Budget
from attention_plugins.price.tuning import Text

BUDGET = Budget(steps=2, rates=(0.01, 0.1), batch_size=5, held_out=7, seeds=2)


@pytest.fixture(autouse=True)
def _little_is_shown(monkeypatch):
    """What is written for a reader takes longer than all that is measured."""
    monkeypatch.setattr("attention_plugins.price.tuning._SHOWN_WRITTEN", 2)


@pytest.fixture(scope="session")
def llama():
    return build("llama")


@pytest.fixture(scope="session")
def bart():
    return build("bart")


@pytest.fixture(scope="session")
def gpt2_folder(tmp_path_factory):
    return save("gpt2", tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(scope="session")
def texts():
    """Texts of 2 to 9 tokens, none a beginning of padding."""
    made = torch.Generator().manual_seed(0)
    lengths = torch.randint(1, 9, (31,), generator=made).tolist()
    return [
        Text((number % 29 + 3,), tuple(torch.randint(3, WORDS, (n,), generator=made).tolist()))
        for number, n in enumerate(lengths)
    ]

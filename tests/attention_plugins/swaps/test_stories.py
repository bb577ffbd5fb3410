"""What other scorings cost a model that others trained, untuned: stories260K."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch

from attention_plugins import swap

_VARIABLE = "ATTENTION_TEST_MODELS"
STORIES = (
    "Once upon a time, there was a little girl named Lily. She loved to play outside in the park.",
)


@pytest.fixture(scope="module")
def folder():
    if not (root := os.environ.get(_VARIABLE)):
        pytest.skip(f"{_VARIABLE} names no folder with models of others in it")
    return Path(root) / "stories260K"

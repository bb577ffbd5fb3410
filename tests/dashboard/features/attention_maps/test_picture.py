"""Weights over the patches of a picture stand where the patches do."""

import hashlib

import numpy as np
import pytest
import torch

from attention_plugins.maps import AttentionMaps
from dashboard.features.attention_maps.page import laid_out
from dashboard.storage.blobs import Blobs

LABELS = ("[CLS]", *(f"row {row}, column {column}" for row in (1, 2) for column in (1, 2, 3)))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return tmp_path


def test_patches_stand_where_their_labels_say():
    found = laid_out(LABELS, np.arange(7.0))
    assert found is not None
    assert found.tolist() == [[1, 2, 3], [4, 5, 6]]
    gap = laid_out(("row 1, column 2", "row 2, column 1"), np.array([0.25, 0.75]))
    assert gap is not None
    assert np.isnan(gap).tolist() == [[True, False], [False, True]]
    assert (gap[0, 1], gap[1, 0]) == (0.25, 0.75)
    assert laid_out(("a", "row 1, column 1"), np.ones(2)) is None
    assert laid_out(("a", "b"), np.ones(2)) is None


def test_the_page_lays_out_what_the_chosen_token_looks_at(opened, home, monkeypatch):
    weights = torch.randn(1, 2, 7, 7, generator=torch.Generator().manual_seed(0)).softmax(-1)
    maps = AttentionMaps.of(weights[0], LABELS, LABELS)
    file = home / "seen.safetensors"
    maps.save(file)
    Blobs().put(file.read_bytes())
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    app = opened("attention_maps", source=f"upload:{digest}", map="1.2")
    assert not app.exception
    choice = app.selectbox("maps-picture-query")
    assert choice.options == [*LABELS]
    assert "Laid out as the picture is" in [header.value for header in app.header]


def test_maps_of_words_are_not_laid_out(opened, home):
    maps = AttentionMaps.of(torch.full((2, 3, 3), 1 / 3), ("a", "b", "c"), ("a", "b", "c"))
    file = home / "seen.safetensors"
    maps.save(file)
    Blobs().put(file.read_bytes())
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    app = opened("attention_maps", source=f"upload:{digest}")
    assert not app.exception
    assert "Laid out as the picture is" not in [header.value for header in app.header]

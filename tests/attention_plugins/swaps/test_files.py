"""A file says what was swapped in where, and puts it back into a model of the same kind."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors import safe_open
from torch import nn

from attention_plugins import ContractError, normaliser, swap


def model(layers=2, size=12):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(size, 4, 8, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, layers)


INPUTS = torch.linspace(-1, 1, 60).view(1, 5, 12)


@normaliser("halved", formula=r"s/2", sums_to_one=False)
def halved(scores):
    return scores.softmax(-1) / 2


def bent(queries, keys):
    return (queries @ keys.mT).tanh()


def test_several_swaps_are_kept_with_what_was_chosen(tmp_path):
    swapped, path = model(), tmp_path / "two"
    swap(swapped, "additive", layers=0, normaliser="temperature",
         normaliser_values={"temperature": 2.0})  # fmt: skip
    swap(swapped, "shaw", layers=1, farthest=2)
    swap.save(swapped, path)
    with safe_open(path, "pt") as held:
        said = json.loads(held.metadata()["attention_workbench_swaps"])
    assert said["layers.1.self_attn"] == {
        "scoring": "shaw", "values": {"farthest": 2}, "normaliser": "", "normaliser_values": {},
        "positions": "keep",
    }  # fmt: skip
    other = model()
    first, second = swap.load(other, path)
    assert (first.sites, second.sites) == (("layers.0.self_attn",), ("layers.1.self_attn",))
    assert other(INPUTS).equal(swapped(INPUTS))
    second.undo()
    first.undo()
    assert other(INPUTS).equal(model()(INPUTS))


def test_what_a_notebook_wrote_is_given_again(tmp_path):
    swapped, path = model(), tmp_path / "own"
    swap(swapped, bent, normaliser=halved)
    swap.save(swapped, path)
    other = model()
    with pytest.raises(ContractError, match='no normaliser "halved"'):
        swap.load(other, path)
    swap.load(other, path, scorings=[bent], normalisers=[halved])
    assert other(INPUTS).equal(swapped(INPUTS))


def test_a_tuned_model_is_kept_whole(tmp_path):
    swapped, path = model(), tmp_path / "whole"
    swap(swapped, "bilinear")
    with torch.no_grad():
        swapped.layers[0].linear1.weight.mul_(2)
    swap.save(swapped, path, whole=True)
    other = model()
    swap.load(other, path)
    assert other(INPUTS).equal(swapped(INPUTS))


def test_files_of_another_model_or_of_none_are_refused_and_change_nothing(tmp_path):
    swapped, path = model(), tmp_path / "kept"
    with pytest.raises(ContractError, match="nothing is swapped"):
        swap.save(swapped, path)
    with pytest.raises(ContractError, match=r"kept is no file of safetensors"):
        swap.load(swapped, path)
    path.write_text("{}")
    with pytest.raises(ContractError, match=r"kept is no file of safetensors"):
        swap.load(swapped, path)
    swap(swapped, "bilinear")
    swap.save(swapped, path)
    for other, message in ((model(1), "has no 'layers.1.self_attn'"),
                           (model(size=24), "does not fit this model")):  # fmt: skip
        names = [*other.state_dict()]
        with pytest.raises(ContractError, match=message):
            swap.load(other, path)
        assert [*other.state_dict()] == names

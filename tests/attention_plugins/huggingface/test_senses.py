"""Maps of pictures and sounds: the library's, with labels that say where a token is."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import torch
from support.tiny_families import build, save

from attention_plugins.checkpoints import CheckpointError
from attention_plugins.contract import ContractError
from attention_plugins.huggingface import folder, senses
from attention_plugins.tap import Intervention, Site

PICTURE = torch.randn(3, 12, 12, generator=torch.Generator().manual_seed(0))
SOUND = torch.randn(16_000, generator=torch.Generator().manual_seed(0))
FAMILIES = {
    "vit": ("[CLS]",), "deit": ("[CLS]", "[DISTILLATION]"), "dinov2": ("[CLS]",),
    "clip_vision_model": ("[CLS]",), "wav2vec2": (),
}  # fmt: skip
_REST = [pytest.param(name, marks=pytest.mark.slow) for name in [*FAMILIES][1:]]


@pytest.fixture(autouse=True)
def loaded():
    folder.library()


@pytest.mark.parametrize("family", ["vit", *_REST])
def test_maps_are_the_librarys_with_patches_and_seconds_as_labels(family, tmp_path):
    save(family, tmp_path)
    given = SOUND[:211] if family == "wav2vec2" else PICTURE
    maps = senses.maps_of(tmp_path, given)
    name = "input_values" if family == "wav2vec2" else "pixel_values"
    with torch.no_grad():
        known = build(family)(**{name: given[None]}, output_attentions=True).attentions
    assert len(maps) == len(known) == 3
    for one, weights in zip(maps, known, strict=True):
        torch.testing.assert_close(one.weights, weights, rtol=0, atol=1e-6)
    labels = maps[0].query_labels
    assert labels == maps[2].key_labels
    if family == "wav2vec2":  # five samples, then two of these; the first kernels are 10 and 3
        assert labels[:3] == ("0.00 s", "0.00 s", "0.00 s")
        assert len(labels) == 20
    else:
        patches = [f"row {row}, column {column}" for row in (1, 2, 3) for column in (1, 2, 3)]
        assert labels == (*FAMILIES[family], *patches)
        assert maps.map(1).key_labels == labels


def test_frames_begin_where_the_strides_put_them(tmp_path):
    save("wav2vec2", tmp_path)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({"sampling_rate": 100}))
    labels = senses.maps_of(tmp_path, SOUND[:211])[0].key_labels
    assert labels[:3] == ("0.00 s", "0.10 s", "0.20 s")
    with pytest.raises(ContractError, match=r"need sounds \(samples,\), got shape \(1, 211\)"):
        senses.maps_of(tmp_path, SOUND[None, :211])
    as_trained = SimpleNamespace(
        conv_kernel=(10, 3, 3, 3, 3, 2, 2), conv_stride=(5, 2, 2, 2, 2, 2, 2)
    )
    frames = senses._frames(as_trained, SOUND, tmp_path / "nowhere")
    assert (len(frames), *frames[:2], frames[-1]) == (49, "0.00 s", "0.02 s", "0.96 s")


def test_patches_and_registers_are_named_in_the_order_of_reading():
    config = SimpleNamespace(model_type="dinov2", patch_size=(4, 6), num_register_tokens=2)
    assert senses._patches(config, torch.zeros(3, 8, 18)) == [
        "[CLS]", "[REG 1]", "[REG 2]",
        *(f"row {row}, column {column}" for row in (1, 2) for column in (1, 2, 3)),
    ]  # fmt: skip
    config = SimpleNamespace(model_type="deit", patch_size=4)
    assert senses._patches(config, torch.zeros(3, 4, 8)) == [
        "[CLS]", "[DISTILLATION]", "row 1, column 1", "row 1, column 2",
    ]  # fmt: skip


def test_a_preprocessor_is_the_librarys_for_that_sense_and_runs_no_code_of_the_folder(
    tmp_path, monkeypatch
):
    def stands_in(loader):
        def read(given, *, return_tensors):
            assert (given, return_tensors) == ("a path", "pt")
            return {"pixel_values": [f"a picture of {loader}"], "input_values": [f"of {loader}"]}

        def load(where, *, local_files_only, trust_remote_code):
            assert (where, local_files_only, trust_remote_code) == (tmp_path, True, False)
            return read

        return SimpleNamespace(from_pretrained=load)

    names = ("AutoImageProcessor", "AutoFeatureExtractor")
    made = SimpleNamespace(**{name: stands_in(name) for name in names})
    monkeypatch.setattr(folder, "library", lambda: made)
    (tmp_path / "preprocessor_config.json").write_text("{}")
    found = [senses._values(tmp_path, "a path", name) for name in ("pixel_values", "input_values")]
    assert found == ["a picture of AutoImageProcessor", "of AutoFeatureExtractor"]


def test_tokens_that_nobody_can_name_are_refused(tmp_path, monkeypatch):
    save("vit", tmp_path)
    monkeypatch.setattr(senses, "_patches", lambda config, picture: ["one"] * 4)
    with pytest.raises(CheckpointError, match="makes 10 tokens of this input, and 4 can be named"):
        senses.maps_of(tmp_path, PICTURE)


def test_a_head_of_a_picture_can_be_switched_off(tmp_path):
    save("vit", tmp_path)
    off = Intervention(site=Site("encoder", 0), action="off", head=2)
    usual = senses.maps_of(tmp_path, PICTURE)
    changed = senses.maps_of(tmp_path, PICTURE, interventions=[off])
    assert not changed[0].weights[0, 2].any()
    assert changed[0].weights[0, 1].any()
    assert [one.name.split(".")[-3:] for one in usual][2][1] == "2"
    assert not torch.equal(changed[1].weights, usual[1].weights)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (PICTURE[0], r"need pictures \(3, height, width\), got shape \(12, 12\)"),
        (PICTURE[:, :8], "cannot be used: ValueError"),
        ("a path", r"has no preprocessor_config\.json: need a tensor as the model reads it"),
    ],
)
def test_what_is_no_picture_of_that_size_is_refused(tmp_path, given, message):
    save("vit", tmp_path)
    with pytest.raises(ContractError, match=message):
        senses.maps_of(tmp_path, given)


@pytest.mark.parametrize("family", ["swin", "gpt2"])
def test_what_has_no_labels_is_refused_by_name(tmp_path, family):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": family}))
    with pytest.raises(CheckpointError, match=f"'{family}' model; need one of clip_vision_model"):
        senses.maps_of(tmp_path, PICTURE)

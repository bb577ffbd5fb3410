"""Maps come in from anything that holds weights, are refused in one sentence, and are stored."""

from __future__ import annotations

import json
import re
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from attention_plugins import AttentionMap, AttentionMaps, Site, watch

LAYERS, BATCH, HEADS, QUERIES, KEYS = 2, 3, 5, 7, 11


def weights(*lead, dtype=torch.float32):
    made = torch.Generator().manual_seed(0)
    return torch.randn(*lead, QUERIES, KEYS, generator=made).softmax(-1).to(dtype)


WHOLE = weights(LAYERS, BATCH, HEADS)
ASKS, ANSWERS = [f"q{n}" for n in range(QUERIES)], [f"k{n}" for n in range(KEYS)]
MAP = AttentionMap(
    site=Site("cross", 1), weights=WHOLE[0, 0], query_labels=tuple(ASKS), key_labels=tuple(ANSWERS)
)


@pytest.mark.parametrize(
    ("given", "names", "shape"),
    [
        (WHOLE[0, 0], ["0"], (1, HEADS)),
        (WHOLE[:, 0].numpy(), ["0", "1"], (1, HEADS)),
        (WHOLE.requires_grad_(), ["0", "1"], (BATCH, HEADS)),
        (tuple(WHOLE), ["0", "1"], (BATCH, HEADS)),
        (WHOLE[0, 0].tolist(), ["0"], (1, HEADS)),
        ({"a": WHOLE[0], "b": WHOLE[1].double()}, ["a", "b"], (BATCH, HEADS)),
        ({"a": WHOLE[0, 0]}, ["a"], (1, HEADS)),
        ((tuple(WHOLE), tuple(WHOLE)), ["0", "1", "0", "1"], (BATCH, HEADS)),
        (MAP, [""], (1, HEADS)),
        ([MAP, MAP], ["", ""], (1, HEADS)),
        (AttentionMaps.of(WHOLE), ["0", "1"], (BATCH, HEADS)),
    ],
)
def test_maps_are_made_of_whatever_holds_weights(given, names, shape):
    maps = AttentionMaps.of(given)
    assert [each.name for each in maps] == names
    for each in maps:
        assert each.weights.shape == (*shape, QUERIES, KEYS)
        assert not each.weights.requires_grad
    assert maps[0].weights.equal(WHOLE[0, : shape[0]].detach())


def test_what_is_kept_is_a_copy():
    given = WHOLE.detach().clone()
    maps = AttentionMaps.of(given)
    given.zero_()
    assert maps[1].weights.equal(WHOLE[1].detach())


def test_steps_of_generation_are_numbered():
    maps = AttentionMaps.of([list(WHOLE), list(WHOLE)])
    assert [(each.name, each.call) for each in maps] == [("0", 0), ("1", 0), ("0", 1), ("1", 1)]


def changed(value):
    made = WHOLE.detach().clone()
    made[1, 2, 4, 6, 10] = value
    return made


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (WHOLE[0, 0, 0], r"need weights \(heads, .* got shape \(7, 11\)"),
        (WHOLE[None], r"got shape \(1, 2, 3, 5, 7, 11\)"),
        ({"a": WHOLE}, r"map of 'a': need weights .* got shape \(2, 3, 5, 7, 11\)"),
        (WHOLE[..., :0], r"none of them 0"),
        (changed(torch.nan), r"map of '1': weights are NaN or infinite; need numbers from 0 to 1"),
        (changed(torch.inf), r"NaN or infinite"),
        (
            changed(-0.25),
            r"map of '1': the lowest weight is -0\.25; need weights after the softmax",
        ),
        (
            changed(0.9),
            r"map of '1': a row sums to \d\.\d+; need rows over the keys that sum to 1",
        ),
        (WHOLE.mT, r"a row sums to"),
        ((None, None), r"no weights of '0', but None: ask transformers .*output_attentions=True"),
        (["a", "b"], r"no array of numbers"),
        ("text", r"no array of numbers"),
        (WHOLE + 0j, r"complex"),
        (
            torch.ones(1, 1, 1).expand(1, 100_001, 1),
            r"at most 100,000 queries and keys, got 100,001",
        ),
    ],
)
def test_what_is_no_attention_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        AttentionMaps.of(given)


def test_a_row_may_see_nothing():
    masked = WHOLE.detach().clone()
    masked[:, 1, :, 3] = 0.0
    assert not AttentionMaps.of(masked)[1].weights[1, :, 3].any()


def test_labels_are_one_list_or_one_for_each_row_of_the_batch():
    maps = AttentionMaps.of(
        WHOLE, ASKS, [[f"{word}{row}" for word in ANSWERS] for row in range(3)]
    )
    assert maps.map(1, batch=2).query_labels == tuple(ASKS)
    assert maps.map(1, batch=2).key_labels[:2] == ("k02", "k12")
    assert AttentionMaps.of(MAP)[0].key_labels == tuple(ANSWERS)
    square = AttentionMaps.of(torch.eye(KEYS)[None], ANSWERS)
    assert square[0].query_labels == square[0].key_labels == tuple(ANSWERS)


@pytest.mark.parametrize(
    ("queries", "keys", "message"),
    [
        (ASKS[1:], ANSWERS, r"map of '0': need 7 query labels, got 6"),
        (ASKS, None, r"map of '0': need 11 key labels, got 7"),
        ([ASKS, ASKS], ANSWERS, r"one for each of 3 batch rows, got 2"),
        ("seven77", ANSWERS, r"need a list of tokens, got 'seven77'"),
        ([*ASKS[1:], 3], ANSWERS, r"map of '0'"),
    ],
)
def test_labels_that_do_not_fit_are_refused(queries, keys, message):
    with pytest.raises(ValueError, match=message):
        AttentionMaps.of(WHOLE).labelled(queries, keys)


def test_labels_of_all_queries_fit_chosen_rows():
    class Model(torch.nn.Module):
        def forward(self, given):
            return torch.nn.functional.scaled_dot_product_attention(given, given, given)

    model = Model()
    with watch(model, rows=[4, 1]) as seen:
        model(torch.randn(1, 2, KEYS, 3))
    (one,) = seen.maps.labelled(ANSWERS)
    assert (one.query_labels, one.key_labels) == (("k4", "k1"), tuple(ANSWERS))
    assert seen.maps.map(0).query_labels == ("4", "1")
    (one,) = seen.maps.labelled(["x", "y"], ANSWERS)
    assert one.query_labels == ("x", "y")


def test_it_is_a_sequence_that_is_chosen_from_by_name():
    maps = AttentionMaps.of({"encoder.layers.0.self_attn": WHOLE[0], "decoder.1.attn": WHOLE[1]})
    assert len(maps) == 2
    assert [each.name for each in maps.named("*.self_attn*")] == ["encoder.layers.0.self_attn"]
    assert isinstance(maps[1:], AttentionMaps)
    assert maps[-1].name == maps[1:][0].name == "decoder.1.attn"
    assert maps.bytes == 4 * WHOLE.numel()
    assert "encoder.layers.0.self_attn, call 0: 3 x 5 x 7 x 11" in repr(maps)


@pytest.mark.parametrize(
    ("name", "site"),
    [
        ("model.encoder.layers.3.self_attn", ("encoder", 3)),
        ("decoder.layers.1.multihead_attn", ("cross", 1)),
        ("model.decoder.layers.2.encoder_attn", ("cross", 2)),
        ("decoder.block.5.layer.1.EncDecAttention", ("cross", 5)),
        ("decoder.block.5.layer.0.SelfAttention", ("decoder", 5)),
        ("transformer.h.2.attn", None),
        ("encoder.attn", None),
    ],
)
def test_a_map_has_a_site_where_its_name_tells_one(name, site):
    one = AttentionMaps.of({name: WHOLE[0]}).map(0, batch=1)
    assert getattr(one, "site", None) == site
    assert one.weights.equal(WHOLE[0, 1].detach())
    assert one.key_labels[:2] == ("0", "1")
    with pytest.raises(IndexError, match="batch rows 0 to 2"):
        AttentionMaps.of({name: WHOLE[0]}).map(0, batch=3)


def test_weights_below_0_stay_signed_and_rows_of_half_precision_are_a_map():
    name, below = "encoder.layers.0.self_attn", WHOLE[0] - 0.5
    maps = AttentionMaps.of(AttentionMaps.of({name: below}, signed=True))
    assert maps[0].signed
    assert maps.map(0).signed
    with pytest.raises(ValueError, match="below 0"):
        AttentionMaps.of({name: below})
    rounded = AttentionMaps.of({name: torch.full((1, 1, 1, 3), 1.0015 / 3)})
    assert rounded.map(0).weights.sum() > 1.001


def test_labels_of_the_keys_alone_are_those_of_the_queries_too():
    square = torch.eye(3)[None]
    assert AttentionMaps.of(square, None, [*"abc"])[0].query_labels == tuple("abc")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
def test_a_file_gives_back_what_was_saved(tmp_path, dtype):
    path = tmp_path / "maps.safetensors"
    maps = AttentionMaps.of(
        {f"layer.{n}": w.to(dtype) for n, w in enumerate(WHOLE)}, ASKS, ANSWERS
    )
    maps.save(path)
    again = AttentionMaps.load(path)
    assert len(again) == len(maps)
    for before, after in zip(maps, again, strict=True):
        assert vars(before).keys() == vars(after).keys()
        assert after.weights.dtype == dtype
        assert after.weights.equal(before.weights)
        assert (after.name, after.queries, after.keys) == (
            before.name,
            before.queries,
            before.keys,
        )


def stored(path, **facts):
    AttentionMaps.of(WHOLE).save(path)
    first = {"name": "0", "call": 0, "function": "", "heads": None, "rows": None, "queries": None,
             "keys": None, "doubts": [], **facts}  # fmt: skip
    metadata = {"format": "attention-maps-1", "maps": json.dumps([first])}
    save_file({"0": WHOLE[0].detach()}, path, metadata=metadata)


def truncated(path):
    AttentionMaps.of(WHOLE).save(path)
    path.write_bytes(path.read_bytes()[:-5])


def written(path, array, end=None):
    with path.open("wb") as file:
        np.save(file, array)
    path.write_bytes(path.read_bytes()[:end])


def huge(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", b"")
        archive.filelist[0].file_size = 2**31


@pytest.mark.parametrize(
    ("save", "names", "shape"),
    [
        (lambda file, w: np.save(file, w[0, 0]), ["0"], (1, HEADS)),
        (lambda file, w: np.save(file, w[:, 0]), ["0", "1"], (1, HEADS)),
        (np.save, ["0", "1"], (BATCH, HEADS)),
        (lambda file, w: np.savez(file, w[:, 0]), ["0", "1"], (1, HEADS)),
        (lambda file, w: np.savez_compressed(file, a=w[0], b=w[1]), ["a", "b"], (BATCH, HEADS)),
        (
            lambda file, w: save_file({"x.attn": torch.tensor(w[0])}, file.name),
            ["0", "1", "2"], (1, HEADS),
        ),
        (
            lambda file, w: save_file(
                {"x": torch.tensor(w[0, 0]), "y": torch.tensor(w[1, 0])}, file.name
            ),
            ["x", "y"], (1, HEADS),
        ),
    ],
)  # fmt: skip
def test_arrays_that_others_wrote_are_read(tmp_path, save, names, shape):
    path = tmp_path / "weights"
    with path.open("wb") as file:
        save(file, WHOLE.detach().numpy())
    maps = AttentionMaps.load(path)
    assert [each.name for each in maps] == names
    for each in maps:
        assert each.weights.shape == (*shape, QUERIES, KEYS)
    assert maps[0].weights[0].equal(WHOLE[0, 0].detach())


def test_rows_with_other_sums_may_be_a_doubt(tmp_path):
    path = tmp_path / "weights.npy"
    written(path, np.stack([np.eye(3), np.full((3, 3), 0.5)])[:, None])
    sure, unsure = AttentionMaps.load(path, sums=False)
    assert sure.sure
    assert "a row sums to 1.500" in unsure.doubts[0]


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (truncated, "maps.safetensors is truncated, altered or no file of attention weights"),
        (lambda path: path.write_bytes(b""), "is truncated"),
        (lambda path: torch.save(WHOLE, path), "is a pickle or an archive"),
        (
            lambda path: torch.save(WHOLE, path, _use_new_zipfile_serialization=False),
            "is a pickle or an archive",
        ),
        (lambda path: save_file({"0": torch.ones(2)}, path), "got shape (2,)"),
        (lambda path: stored(path, name="0", call="1"), "a number for call"),
        (lambda path: path.write_bytes(b"PK half an archive"), "is truncated"),
        (lambda path: written(path, np.array([{}])), "allow_pickle=False"),
        (lambda path: written(path, np.ones((1, 2, 2))), "a row sums to 2.000"),
        (lambda path: written(path, WHOLE[0, 0].detach().numpy(), -9), "is truncated"),
        (huge, "at most 1,073,741,824 are read"),
        (lambda path: stored(path, queries=[ASKS[1:]] * 3, keys=[ANSWERS] * 3), "need 7 query"),
        (lambda path: stored(path, rows=[0]), "heads or rows do not fit"),
        (lambda path: stored(path, name=3), "need texts"),
        (lambda path: stored(path, doubts=None), "altered"),
    ],
)
def test_other_files_are_refused(tmp_path, write, message):
    path = tmp_path / "maps.safetensors"
    write(path)
    with pytest.raises(ValueError, match=re.escape(message)):
        AttentionMaps.load(path)


def test_a_missing_file_and_no_maps_are_said(tmp_path):
    with pytest.raises(FileNotFoundError):
        AttentionMaps.load(tmp_path / "none")
    with pytest.raises(ValueError, match="no maps to save"):
        AttentionMaps().save(tmp_path / "none")


def test_any_object_with_weights_and_labels_is_a_map():
    given = SimpleNamespace(
        weights=np.eye(3)[None], query_labels="abc", key_labels=["x", "y", "z"]
    )
    given.query_labels = list(given.query_labels)
    assert AttentionMaps.of(given)[0].query_labels == ("a", "b", "c")


@pytest.mark.parametrize(
    ("arrays", "said"),
    [({"weights": [[[0.5, -1.5], [0.5, 0.5]]]}, "the lowest weight is -1.5"),
     ({"weights": [[[0.5, np.nan], [0.5, 0.5]]]}, "weights are NaN or infinite"),
     ({"weights": [[[0.5, 0.5]]], "tokens": ["a", "b", "c"]}, "need 1 query labels, got 3")],
)  # fmt: skip
def test_what_is_wrong_with_a_whole_file_is_said_alone(tmp_path, arrays, said):
    np.savez(tmp_path / "mine.npz", **{name: np.array(held) for name, held in arrays.items()})
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        AttentionMaps.load(tmp_path / "mine.npz")
    assert "truncated" not in str(caught.value)

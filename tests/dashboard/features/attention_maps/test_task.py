"""The task reads uploads and logs, groups modules, subtracts, and refuses in one sentence."""

import hashlib
import io

import numpy as np
import pytest
import torch

from attention_plugins import AttentionMaps, log_attention
from dashboard.charts import maps
from dashboard.features.attention_maps import task
from dashboard.records.request import Request
from dashboard.storage.blobs import Blobs

LAYERS, HEADS, QUERIES, KEYS = 2, 3, 5, 7


class Context:
    def report(self, fraction, note="", facts=None):
        assert 0 < fraction < 1


def weights(*shape):
    made = torch.Generator().manual_seed(0)
    return torch.randn(*shape, generator=made).softmax(-1)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return tmp_path


def uploaded(content):
    Blobs().put(content)
    return f"upload:{hashlib.sha256(content).hexdigest()}"


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return uploaded(file.getvalue())


def done(data, **options):
    return task.perform(Request.make("attention_maps", data=data, options=options), Context())


def test_layers_and_heads_of_an_array_come_with_their_tokens():
    given = weights(LAYERS, HEADS, QUERIES, KEYS)
    tokens = {"queries": np.array([*"vwxyz"]), "keys": np.array([*"abcdefg"])}
    result = done(npz(weights=given.numpy(), **tokens))
    frames = maps(result.tables["maps"])
    assert [frame.layer for frame in frames] == [0, 1]
    assert (frames[0].query_labels, frames[0].key_labels) == (tuple("vwxyz"), tuple("abcdefg"))
    np.testing.assert_array_equal(frames[1].weights, given[1].numpy())
    assert result.facts["sites"] == ["*"]
    assert result.facts["doubts"] == []
    heads = result.tables["heads"].to_pylist()
    assert [row["map"] for row in heads] == ["1.1", "1.2", "1.3", "2.1", "2.2", "2.3"]
    entropy = torch.special.entr(given[0, 0]).sum(-1).mean() / np.log(KEYS)
    assert heads[0]["entropy"] == pytest.approx(entropy.item(), abs=1e-5)
    typed = done(
        npz(weights=given.numpy()), queries='["a b", "c", "d", "e", "f"]', keys="1 2 3 4 5 6 7"
    )
    assert maps(typed.tables["maps"])[0].query_labels == ("a b", "c", "d", "e", "f")


def test_modules_stand_under_their_own_numbers_and_apart_by_shape(tmp_path):
    square, wide = weights(1, 2, KEYS, KEYS), weights(1, 2, QUERIES, KEYS)
    AttentionMaps.of(
        {
            "model.layers.3.self_attn": square, "model.layers.8.self_attn": square,
            "model.layers.3.cross": wide, "": wide,
        }
    ).save(tmp_path / "file")  # fmt: skip
    data = uploaded((tmp_path / "file").read_bytes())
    result = done(data)
    assert result.facts["sites"] == ["model.layers.*.self_attn", "model.layers.*.cross", "(model)"]
    assert result.facts["modules"] == {
        "4": "model.layers.3.self_attn", "9": "model.layers.8.self_attn",
    }  # fmt: skip
    cross = done(data, site="model.layers.*.cross")
    assert maps(cross.tables["maps"])[0].weights.shape == (2, QUERIES, KEYS)
    assert done(data, site="gone").facts["site"] == "model.layers.*.self_attn"


def test_a_causal_map_is_masked_and_a_head_on_one_key_is_found():
    given = torch.ones(2, 5, 5).tril()
    given /= given.sum(-1, keepdim=True)
    given[1] = 0
    given[1, :, 0] = 1
    result = done(npz(a=given.numpy()))
    (frame,) = maps(result.tables["maps"])
    assert np.isnan(frame.weights[0, 0, 1:]).all()
    assert [row["verdicts"] for row in result.tables["heads"].to_pylist()] == ["uniform", "stuck"]


def test_rows_with_other_sums_are_shown_with_a_doubt():
    given = weights(1, 2, 4)
    given[0, 1] *= 0.5
    result = done(npz(a=given.numpy()))
    assert "a row sums to 0.500" in result.facts["doubts"][0]
    (row,) = result.tables["heads"].to_pylist()
    assert "row_sums" in row["verdicts"]


def test_an_example_of_a_batch_is_chosen():
    given = weights(LAYERS, 4, HEADS, QUERIES, KEYS)
    data = npz(a=given.numpy())
    assert done(data).facts["examples"] == 4
    frames = maps(done(data, example=3).tables["maps"])
    np.testing.assert_array_equal(frames[0].weights, given[0, 2].numpy())
    with pytest.raises(ValueError, match="1 <= example <= 4, got 5"):
        done(data, example=5)


def test_more_than_is_shown_is_thinned(monkeypatch):
    monkeypatch.setattr(task, "_SHOWN", 2 * 4**2)
    result = done(npz(a=weights(2, 11, 13).numpy()))
    (frame,) = maps(result.tables["maps"])
    assert frame.weights.shape == (2, 4, 4)
    assert result.facts["shape"] == [11, 13]
    np.testing.assert_allclose(frame.weights.sum(-1), 1, atol=1e-6)


def test_a_step_of_a_log_and_what_changed_since_another(home):
    first, last = weights(2, 4, 4), weights(2, 4, 4).flip(-1)
    for step, given in ((0, first), (10, last)):
        log_attention(home / "logs" / "run a", step, given)
    (frame,) = maps(done("log:run a@10@stamp").tables["maps"])
    np.testing.assert_allclose(frame.weights, last.numpy(), atol=1 / 200)
    result = done("log:run a@10@stamp", other="log:run a@0@stamp", map="1.2")
    one, other = (np.column_stack(result.tables[n].columns) for n in ("one", "other"))
    np.testing.assert_allclose(one - other, (last - first)[1].numpy(), atol=1 / 100)
    bits = result.tables["rows"]["jensen_shannon_bits"].to_pylist()
    p, q = last[1].double(), first[1].double()
    entropy = lambda rows: torch.special.entr(rows).sum(-1)  # noqa: E731
    wanted = (entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2) / np.log(2)
    assert bits == pytest.approx(wanted.tolist(), abs=0.01)
    assert result.facts["most_different"] == int(wanted.argmax())
    assert not result.facts["labels_differ"]
    tokens = npz(a=first.numpy(), tokens=np.array([*"abcd"]))
    assert done("log:run a@10@stamp", other=tokens).facts["labels_differ"]


def elsewhere(home):
    log_attention(home / "outside", 0, weights(1, 2, 2))
    (home / "logs").mkdir()
    (home / "logs" / "link").symlink_to(home / "outside")
    return "log:link@0@stamp"


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (lambda _: "log:../outside@0@s", {}, "there is no log '../outside'"),
        (elsewhere, {}, "there is no log 'link'"),
        (lambda _: "log:none@0@s", {}, "there is no log 'none'"),
        (lambda _: "run", {}, "need an uploaded file or a step of a log, got 'run'"),
        (lambda _: "upload:" + "0" * 64, {}, "is not kept here"),
        (lambda _: uploaded(b"\x93NUMPY half"), {}, "the file is truncated"),
        (lambda _: uploaded(b"\x80\x04pickle"), {}, "the file is a pickle"),
        (lambda _: npz(a=np.array([{}])), {}, "the file is truncated, altered or no file"),
        (lambda _: npz(a=np.full((1, 2, 2), -1.0)), {}, "the lowest weight is -1"),
        (lambda _: npz(a=np.ones((2, 2))), {}, r"got shape \(2, 2\)"),
        (lambda _: npz(a=weights(1, 2, 3).numpy()), {"queries": "a b c"}, "need 2 query labels"),
        (lambda _: npz(a=weights(1, 2, 3).numpy()), {"queries": "[1"}, "or a list in JSON"),
        (lambda _: npz(a=weights(1, 2, 3).numpy()), {"odd": 1}, "no option 'odd'"),
        (
            lambda home: npz(a=weights(1, 2, 3).numpy()),
            {"other": "x"}, "need an uploaded file or a step of a log, got 'x'",
        ),
    ],
)  # fmt: skip
def test_what_is_refused_is_said_in_a_sentence(home, data, options, message):
    with pytest.raises(ValueError, match=message):
        done(data(home), **options)


@pytest.mark.parametrize(
    ("shape", "name", "message"),
    [((1, 3, 3), "1.1", "got 2 × 3 and 3 × 3"), ((1, 2, 3), "1.2", "has no map 1.2")],
)
def test_maps_that_cannot_be_subtracted_are_named(shape, name, message):
    with pytest.raises(ValueError, match=message):
        done(npz(a=weights(1, 2, 3).numpy()), other=npz(b=weights(*shape).numpy()), map=name)

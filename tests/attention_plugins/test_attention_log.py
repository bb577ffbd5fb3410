"""A log keeps what it says it keeps, stays in its bounds, and survives writers that die."""

from __future__ import annotations

import inspect
import json
import math
from dataclasses import replace

import pytest
import torch
from safetensors.torch import save_file

from attention_plugins import AttentionMaps, log_attention, read_step
from attention_plugins.attention_log import (
    INDEX,
    MOST_STEPS,
    coded,
    decoded,
    read_index,
    spread,
    step_path,
)
from attention_plugins.watched_map import WatchedMap

HEADS, QUERIES, KEYS = 3, 5, 7


def weights(*shape, sharp=1.0):
    made = torch.Generator().manual_seed(0)
    return (sharp * torch.randn(*shape, generator=made)).softmax(-1)


def steps(folder):
    return [line["step"] for line in read_index(folder).lines]


@pytest.mark.parametrize("sharp", [0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("keys", [7, 1024])
def test_a_weight_is_off_by_little_and_a_row_keeps_its_sum(sharp, keys):
    given = weights(HEADS, QUERIES, keys, sharp=sharp)
    given[0, 0] = 0.0
    codes, scale = coded(given)
    assert codes.dtype == torch.uint8
    found, largest = decoded(codes, scale), given.amax(-1, keepdim=True)
    unscaled = largest * (codes / 255) ** 2
    assert ((unscaled - given).abs() <= largest / 255 + 1e-7).all()
    assert ((found - given).abs() <= largest / 200 + 1e-7).all()
    torch.testing.assert_close(found.sum(-1), given.sum(-1), atol=1e-5, rtol=0)
    torch.testing.assert_close(
        torch.special.entr(found).sum(-1), torch.special.entr(given).sum(-1), atol=0.02, rtol=0
    )


def test_a_step_comes_back_with_its_names_labels_and_entropies(tmp_path):
    given = weights(2, HEADS, QUERIES, KEYS)
    maps = AttentionMaps.of({"a.self_attn": given}, [*"vwxyz"], [*"abcdefg"])
    log_attention(tmp_path / "new" / "run", 30, maps)
    (one,) = read_step(tmp_path / "new" / "run", 30)
    assert (one.name, one.query_labels, one.key_labels) == (
        "a.self_attn", tuple("vwxyz"), tuple("abcdefg"),
    )  # fmt: skip
    torch.testing.assert_close(one.weights[0], given[0], atol=given.max().item() / 200, rtol=0)
    (line,) = read_index(tmp_path / "new" / "run").lines
    nats = torch.special.entr(given[0]).sum(-1).mean(-1)
    assert line["entropy"]["a.self_attn"] == pytest.approx(nats.tolist(), abs=1e-4)
    assert line["bytes"] == step_path(tmp_path / "new" / "run", 30).stat().st_size


def test_queries_without_weight_do_not_count_in_an_entropy(tmp_path):
    given = torch.full((1, 2, 4), 0.25)
    given[0, 0] = 0
    log_attention(tmp_path, 0, given)
    (line,) = read_index(tmp_path).lines
    assert line["entropy"] == {"0": [round(math.log(4), 4)]}


def test_long_maps_keep_some_queries_and_sum_neighbouring_keys(tmp_path):
    given = weights(1, 11, 13)
    log_attention(tmp_path, 0, given, most=5)
    (one,) = read_step(tmp_path, 0)
    assert one.rows == tuple(spread(11, 5)) == (0, 2, 5, 8, 10)
    assert one.query_labels == ("0", "2", "5", "8", "10")
    assert one.key_labels == ("0…2", "3…5", "6…8", "9…11", "12")
    summed = torch.stack([given[0, list(one.rows), k : k + 3].sum(-1) for k in range(0, 13, 3)], 1)
    torch.testing.assert_close(one.weights[0, 0], summed, atol=summed.max().item() / 200, rtol=0)


def test_chosen_rows_keep_their_numbers_and_entropies_are_of_them_all(tmp_path):
    given = weights(2, HEADS, QUERIES, KEYS)
    seen = WatchedMap(name="a", function="softmax", weights=given, rows=(3, 4, 7, 11, 20))
    again = replace(seen, call=1, weights=given[1:])
    log_attention(tmp_path, 0, AttentionMaps([seen, again]), most=3)
    one, other = read_step(tmp_path, 0)
    assert one.rows == other.rows == (3, 7, 20)
    (line,) = read_index(tmp_path).lines
    nats = torch.special.entr(given).sum(-1).mean(-1)
    assert line["entropy"]["a"] == pytest.approx(nats[0].tolist(), abs=1e-4)
    assert line["entropy"]["a, call 1"] == pytest.approx(nats[1].tolist(), abs=1e-4)


def test_a_log_keeps_a_thousand_steps_and_64_megabytes():
    assert (MOST_STEPS, inspect.signature(log_attention).parameters["limit_bytes"].default) == (
        1_000, 64 * 1024**2,
    )  # fmt: skip


def test_a_full_folder_loses_every_second_step_but_neither_the_first_nor_the_last(tmp_path):
    log_attention(tmp_path, 0, weights(HEADS, QUERIES, KEYS))
    size = read_index(tmp_path).lines[0]["bytes"]
    for step in range(10, 80, 10):
        log_attention(tmp_path, step, weights(HEADS, QUERIES, KEYS), limit_bytes=int(5.5 * size))
        assert steps(tmp_path)[0] == 0
        assert steps(tmp_path)[-1] == step
        files = sorted(tmp_path.glob("step-*"))
        assert files == [step_path(tmp_path, known) for known in steps(tmp_path)]
        assert sum(file.stat().st_size for file in files) <= 5.5 * size
    assert steps(tmp_path) == [0, 40, 60, 70]
    assert read_index(tmp_path).left_out == 4
    assert len(read_step(tmp_path, 70)) == 1
    log_attention(tmp_path, 0, weights(1, 2, 2))  # a new training
    assert (steps(tmp_path), read_index(tmp_path).left_out) == ([0], 0)


def test_more_steps_than_are_kept_are_thinned(tmp_path, monkeypatch):
    monkeypatch.setattr("attention_plugins.attention_log.MOST_STEPS", 4)
    for step in range(6):
        log_attention(tmp_path, step, weights(1, 2, 2))
    assert steps(tmp_path) == [0, 2, 4, 5]


def test_a_training_that_begins_again_replaces_the_later_steps(tmp_path):
    for step in (0, 10, 20, 10):
        log_attention(tmp_path, step, weights(1, 2, 2))
    assert steps(tmp_path) == [0, 10]
    assert len(list(tmp_path.glob("step-*"))) == 2


def test_what_a_dead_writer_left_is_skipped_and_mended(tmp_path):
    for step in (0, 10, 20):
        log_attention(tmp_path, step, weights(1, 2, 2))
    step_path(tmp_path, 10).unlink()
    with (tmp_path / INDEX).open("a") as file:
        file.write('{"step": 30, "by')
    (tmp_path / ".step-000000030.safetensors.1").write_bytes(b"half")
    assert steps(tmp_path) == [0, 20]
    log_attention(tmp_path, 30, weights(1, 2, 2))
    assert steps(tmp_path) == [0, 20, 30]
    assert read_index(tmp_path).whole
    lines = (tmp_path / INDEX).read_text("utf-8").splitlines()
    assert [json.loads(line).get("step") for line in lines] == [None, 0, 20, 30]


@pytest.mark.parametrize("line", ['{"step": "../a"}', "[1]", "{}", "[" * 100_000, '{"step": 1.5}'])
def test_a_line_of_something_else_is_skipped(tmp_path, line):
    log_attention(tmp_path, 0, weights(1, 2, 2))
    with (tmp_path / INDEX).open("a") as file:
        file.write(line + "\n")
    assert steps(tmp_path) == [0]


def test_a_folder_without_a_log_has_no_steps(tmp_path):
    assert read_index(tmp_path) == read_index(tmp_path / "none")
    assert steps(tmp_path) == []


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda path: None, "step 5 is not in this log any more"),
        (lambda path: path.write_bytes(b"half"), "step 5 is truncated or altered"),
        (lambda path: save_file({"0": torch.ones(2)}, path), "it is no step of a log"),
        (
            lambda path: save_file(
                {"0": torch.ones(1, 2, 2, dtype=torch.uint8), "0.scale": torch.ones(1, 2) / 0},
                path, metadata={"format": "attention-log-1", "maps": json.dumps([FACTS])},
            ),
            "NaN or infinite",
        ),
    ],
)  # fmt: skip
def test_a_step_that_cannot_be_read_is_said(tmp_path, write, message):
    write(step_path(tmp_path, 5))
    with pytest.raises(ValueError, match=message):
        read_step(tmp_path, 5)


FACTS = {"name": "", "call": 0, "function": "", "heads": None, "rows": None, "queries": None,
         "keys": None, "doubts": []}  # fmt: skip


@pytest.mark.parametrize(
    ("step", "seen", "more", "message"),
    [
        (-1, weights(1, 2, 2), {}, "0 <= step"),
        (0, weights(1, 2, 2), {"most": 1}, "2 <= most"),
        (0, weights(1, 9, 9), {"limit_bytes": 1000}, "more than a third of limit_bytes=1,000"),
        (0, [], {}, "nothing to log"),
        (0, torch.ones(1, 2, 2), {}, "a row sums to 2.000"),
    ],
)
def test_what_cannot_be_logged_is_refused(tmp_path, step, seen, more, message):
    with pytest.raises(ValueError, match=message):
        log_attention(tmp_path / "log", step, seen, **more)
    assert not (tmp_path / "log").exists()

"""The reference that ships: what it must hold, what is refused, and how it is recorded anew."""

import copy
import json

import pytest
import torch

from dashboard.features.complexity import task_record
from dashboard.features.complexity.task import FILE, read_reference
from dashboard.features.complexity.task_record import record
from dashboard.features.complexity.task_timing import points

HELD = json.loads(FILE.read_text("utf-8"))


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def without(key):
    def change(held):
        del held[key]

    return change


def put(*keys, value):
    def change(held):
        *path, last = keys
        for key in path:
            held = held[key]
        held[last] = value

    return change


def add(key):
    def change(held):
        held[key].append(held[key][0])

    return change


def twice(held):
    held["times"][:0] = held["times"][:3]  # one size of all layers


def test_the_shipped_reference_has_all_sizes_of_a_bare_measurement():
    rows = read_reference().tables["times"].to_pylist()
    for layer in ("cnn", "rnn", "attention"):
        own = [row for row in rows if row["layer"] == layer]
        assert {row["n"] for row in own if row["axis"] == "n"} >= {64, 128, 256, 512, 1024}
        assert {row["d"] for row in own if row["axis"] == "d"} >= {64, 128, 256}
        assert {row["d"] for row in own if row["axis"] == "n"} == {256}
        assert {row["n"] for row in own if row["axis"] == "d"} == {1024}


def test_its_fits_and_counts_are_computed_from_its_times():
    made = read_reference()
    counted = {(f["layer"], f["axis"]): round(f["counted"], 9) for f in made.facts["fits"]}
    assert counted == {("cnn", "n"): 1, ("cnn", "d"): 2, ("rnn", "n"): 1, ("rnn", "d"): 2,
                       ("attention", "n"): 2, ("attention", "d"): 1}  # fmt: skip
    assert [row["seconds"] for row in made.tables["times"].to_pylist()] == [
        row["seconds"] for row in HELD["times"]
    ]
    assert {"multiply_adds", "fits"}.isdisjoint({*HELD, *HELD["times"][0]})


def test_it_names_its_machine_by_nothing_that_is_private():
    assert HELD["recorded"].keys() == {"date", "processor", "cores", "command"}
    assert HELD["environment"].keys() == {"contract", "torch", "threads", "commit"}
    assert HELD["recorded"]["processor"].split(" (")[0] in ("x86_64", "aarch64", "arm64")
    assert HELD["recorded"]["command"].startswith(task_record.COMMAND)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without("recorded"), "recorded"),
        (put("more", value=1), "more"),
        (put("format", value=2), "format"),
        (put("rounds", value=0), "rounds"),
        (put("recorded", "date", value="yesterday"), "recorded.date"),
        (put("recorded", "processor", value="x\n"), "recorded.processor"),
        (put("recorded", "host", value="ours"), "recorded.host"),
        (put("times", 0, "seconds", value=0.0), "times.0.seconds"),
        (put("times", 0, "seconds", value=float("nan")), "times.0.seconds"),
        (put("times", 0, "seconds", value="1"), "times.0.seconds"),
        (put("times", 0, "layer", value="mlp"), "times.0.layer"),
        (put("times", 0, "n", value=48), "the same sizes n of every layer"),
        (put("times", 0, "d", value=7), "need one d of all times over n"),
        (add("times"), "sizes n, in order"),
        (twice, "sizes n, in order"),
        (put("times", value=[]), "two or more sizes n"),
        (put("reach", value=[]), "reach"),
    ],
)
def test_anything_else_is_refused_with_its_place(tmp_path, change, words):
    held = copy.deepcopy(HELD)
    change(held)
    file = tmp_path / "reference.json"
    file.write_text(json.dumps(held), "utf-8")
    with pytest.raises(ValueError, match=words):
        read_reference(file)


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"{", b" " * 1_000_001])
def test_what_is_no_such_file_is_refused(tmp_path, data):
    file = tmp_path / "reference.json"
    file.write_bytes(data)
    with pytest.raises(ValueError, match=r"\S"):
        read_reference(file)


def test_a_missing_file_is_refused_without_its_path(tmp_path):
    with pytest.raises(ValueError, match="No such file") as refused:
        read_reference(tmp_path / "reference.json")
    assert str(tmp_path) not in str(refused.value)


def test_a_recording_is_read_as_it_was_timed(tmp_path, threads):
    file = tmp_path / "reference.json"
    record(points([8, 16], 4, 8, [2, 4]), file, threads=1, budget=0.0)
    made = read_reference(file)
    sizes = {(row["axis"], row["n"], row["d"]) for row in made.tables["times"].to_pylist()}
    assert sizes == {("n", 8, 4), ("n", 16, 4), ("d", 8, 2), ("d", 8, 4)}
    assert (made.facts["rounds"], made.facts["threads"]) == (3, 1)
    assert {row["n"] for row in made.tables["reach"].to_pylist()} == {8, 16}
    assert made.facts["recorded"]["command"] == task_record.COMMAND
    assert all(len(line) < 400 for line in file.read_text("utf-8").splitlines())

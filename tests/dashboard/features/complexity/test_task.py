"""The task that measures: what it times, what it tells meanwhile, how it stops."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from attention_plugins.complexity import SelfAttention
from dashboard.features.complexity import task, task_timing
from dashboard.features.complexity import task as complexity
from dashboard.features.complexity.view import REFERENCE
from dashboard.jobs.tasks import Cancelled, perform
from dashboard.records.request import Request, Result

SMALL = {"longest": "256", "widest": "64", "kernel": "5", "repeats": 3}
KEYS_OF_SMALL = [
    (layer, n, d) for layer in task_timing.LAYERS
    for n, d in [(16 << e, 64) for e in range(5)] + [(256, 8 << e) for e in range(4)]
]  # fmt: skip
OPTIONS_OF_SMALL = [replace(one, default=SMALL[one.name]) for one in complexity.OPTIONS]


class Watch:
    def __init__(self, stop_after=None):
        self.told, self.stop_after = [], stop_after

    def report(self, fraction, note="", facts=None):
        self.told.append((fraction, note, facts))

    def stopped(self):
        return self.stop_after is not None and len(self.told) >= self.stop_after


@pytest.fixture(autouse=True)
def _nothing_measured():
    task._recent.clear()


@pytest.fixture(scope="module")
def measured():
    watch = Watch()
    made = perform(Request.make("complexity", options=SMALL, device="cpu"), watch)
    return Result.from_bytes(made.to_bytes()), watch.told


def test_every_layer_is_timed_over_both_axes(measured):
    rows = measured[0].tables["times"].to_pylist()
    for layer in ("cnn", "rnn", "attention"):
        own = [row for row in rows if row["layer"] == layer]
        over_n = [(row["n"], row["d"]) for row in own if row["axis"] == "n"]
        over_d = [(row["n"], row["d"]) for row in own if row["axis"] == "d"]
        assert over_n == [(n, 64) for n in (16, 32, 64, 128, 256)]
        assert over_d == [(256, d) for d in (8, 16, 32, 64)]
    assert all(row["seconds"] > 0 for row in rows)
    corner = {(r["layer"], r["seconds"]) for r in rows if (r["n"], r["d"]) == (256, 64)}
    assert len(corner) == 3, "one layer at one size has one time"


def test_reach_is_counted_not_assumed(measured):
    reach = {(r["layer"], r["n"]): r for r in measured[0].tables["reach"].to_pylist()}
    assert reach["cnn", 256] == {"layer": "cnn", "n": 256, "products": 1, "hops": 128}
    assert reach["rnn", 64] == {"layer": "rnn", "n": 64, "products": 64, "hops": 63}
    assert reach["attention", 128] == {"layer": "attention", "n": 128, "products": 2, "hops": 1}


class Products(TorchDispatchMode):
    """Counts the multiplications of every product of matrices and of every convolution."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        name = function.overloadpacket.__name__
        if name in ("mm", "bmm"):
            self.count += made.numel() * args[0].shape[-1]
        if name == "convolution":
            self.count += made.numel() * args[1][0].numel()
        return made


def multiplied(name, n, d, kernel=5):
    """Multiply-adds as they are counted; a recurrent layer's of one step, which it makes n of."""
    x = torch.randn(1, n, d)
    with Products() as products, torch.no_grad():
        if name == "cnn":
            torch.nn.functional.conv1d(x.mT, torch.randn(d, d, kernel), padding=kernel // 2)
        elif name == "attention":
            (x @ x.mT).softmax(-1) @ x
        else:
            weight = torch.randn(d, d)
            (x[:, 0] @ weight + x[:, 0] @ weight).tanh()
    return products.count * (n if name == "rnn" else 1)


def test_cost_and_reach_are_those_of_the_documents_table(measured):
    """O(k n d²), O(n d²), O(n² d); chains of 1, n, 1; paths of n / k, n, 1."""
    times = measured[0].tables["times"].to_pylist()
    assert {row["layer"] for row in times} == {"cnn", "rnn", "attention"}
    for row in times:
        assert row["multiply_adds"] == multiplied(row["layer"], row["n"], row["d"])
    reach = {(r["layer"], r["n"]): r for r in measured[0].tables["reach"].to_pylist()}
    for n in (64, 128, 256):
        steps = [reach[layer, n]["products"] for layer in ("cnn", "rnn", "attention")]
        paths = [reach[layer, n]["hops"] for layer in ("cnn", "rnn", "attention")]
        assert steps == [1, n, 2]  # scores, then values: two, however long the sequence is
        assert paths == [n // 2, n - 1, 1]


def test_the_fits_are_those_of_the_times(measured):
    result = measured[0]
    rows = result.tables["times"].to_pandas()
    expected = {("cnn", "n"): 1, ("cnn", "d"): 2, ("rnn", "n"): 1, ("rnn", "d"): 2,
                ("attention", "n"): 2, ("attention", "d"): 1}  # fmt: skip
    assert {(f["layer"], f["axis"]): round(f["counted"], 9) for f in result.facts["fits"]} == (
        expected
    )
    for fit in result.facts["fits"]:
        own = rows[(rows["layer"] == fit["layer"]) & (rows["axis"] == fit["axis"])]
        x, y = np.log(own[fit["axis"]]), np.log(own["seconds"])
        slope, shift = np.polyfit(x, y, 1)
        assert fit["exponent"] == pytest.approx(slope)
        assert np.log(fit["factor"]) == pytest.approx(shift)
        last = (y.iloc[-1] - y.iloc[-2]) / np.log(2)
        assert fit["last"] == pytest.approx(last)


def test_points_are_told_while_others_are_measured(measured):
    result, told = measured
    fractions = [fraction for fraction, _, _ in told]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] < 0.01
    assert 0.8 <= fractions[-1] < 1
    points = {(f["layer"], f["n"], f["d"]) for _, _, f in told if f}
    assert len(points) == 3 * (5 + 4 - 1)
    assert result.facts["rounds"] == 3
    assert told[-1][1] == "following dependences at n = 256"


def test_the_shortest_of_the_rounds_counts(monkeypatch):
    class Fake:
        def __init__(self, layer, x):
            self.times = iter([9.0, 1.0, 4.0])

        def seconds(self):
            return next(self.times)

    monkeypatch.setattr(task_timing, "Stopwatch", Fake)
    monkeypatch.setattr(complexity, "reach", lambda *_: [{"n": 1}])
    watch = Watch()
    result = perform(Request.make("complexity", options=SMALL, device="cpu"), watch)
    assert set(result.tables["times"]["seconds"].to_pylist()) == {1.0}
    assert watch.told[-1][-1]["seconds"] == 1.0, "not the last one"


def test_reach_is_followed_up_to_the_longest_sequence_that_is_short_enough(monkeypatch):
    monkeypatch.setattr(task_timing, "_LONGEST_REACH", 16)
    of = task_timing.points([8, 16, 32], 4, 8, [4])
    assert {row["n"] for row in task_timing.reach(of, 3, Watch())} == {8, 16}


def test_times_serve_other_seeds_for_five_minutes_and_until_they_are_asked_for_anew(monkeypatch):
    clock, timed = [1_000.0], []
    monkeypatch.setattr(task.time, "time", lambda: clock[0])
    found = task_timing.Timed(dict.fromkeys(KEYS_OF_SMALL, 1.0), 3)
    monkeypatch.setattr(complexity.task_timing, "timed", lambda *_: timed.append(1) or found)
    monkeypatch.setattr(complexity, "reach", lambda *_: [{"n": 1}])

    def ask(seed, at, device="cpu", **more):
        clock[0] = at
        asked = Request.make("complexity", options=SMALL | more, seed=seed, device=device)
        return perform(asked, Watch()).facts["measured"], len(timed)

    assert ask(1, 1_000.0) == (1_000.0, 1)
    assert ask(2, 1_299.0) == (1_000.0, 1), "another's times, which say when they were measured"
    assert ask(3, 1_100.0, kernel="7") == (1_100.0, 2)
    assert ask(4, 1_200.0, since=1_000) == (1_000.0, 2)
    assert ask(5, 1_200.0, since=1_200) == (1_200.0, 3)
    assert ask(6, 1_501.0) == (1_501.0, 4), "those of 1,200 are too old"
    assert ask(7, 1_502.0, device="auto") == (1_502.0, 5), "another device"
    task._recent.update(dict.fromkeys(range(50)))
    ask(8, 1_503.0, kernel="3")
    assert len(task._recent) == 1, "no more than fifty are kept"


def test_a_slow_machine_is_given_fewer_rounds(monkeypatch):
    monkeypatch.setattr(complexity, "_BUDGET", 0.0)
    monkeypatch.setattr(complexity, "reach", lambda *_: [{"n": 1}])
    options = SMALL | {"repeats": 31, "longest": "256"}
    result = perform(Request.make("complexity", options=options, device="cpu"), Watch())
    assert result.facts["rounds"] == 3


def test_the_reference_is_read_and_says_with_what_it_was_made():
    watch = Watch()
    made = perform(Request.make("complexity", data=REFERENCE), watch)
    assert watch.told == [], "nothing was measured"
    shipped = task.read_reference()
    assert made.tables["times"] == shipped.tables["times"]
    assert made.facts["environment"] == shipped.facts["environment"], "not this machine's"


def test_without_a_reference_this_machine_is_measured_and_says_so(monkeypatch):
    def missing():
        raise ValueError("it is gone")

    monkeypatch.setattr(task, "read_reference", missing)
    monkeypatch.setattr(complexity, "OPTIONS", OPTIONS_OF_SMALL)
    made = perform(Request.make("complexity", data=REFERENCE), Watch())
    assert made.facts["unreadable"] == "it is gone"
    assert "recorded" not in made.facts
    assert made.facts["environment"]["torch"] == torch.__version__
    assert max(made.tables["times"]["n"].to_pylist()) == 256


def test_a_cancelled_job_stops_at_the_next_point():
    watch = Watch(stop_after=2)
    with pytest.raises(Cancelled):
        perform(Request.make("complexity", options=SMALL, device="cpu"), watch)
    assert len(watch.told) == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"kernel": "4"}, "need kernel to be one of"), ({"repeats": 0}, "need 1 <= repeats")],
)
def test_a_wrong_option_is_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        perform(Request.make("complexity", options=options), Watch())


def test_a_device_that_is_not_here_is_refused():
    with pytest.raises(ValueError, match="no device"):
        perform(Request.make("complexity", device="cuda:7"), Watch())


def test_self_attention_is_timed_with_the_chosen_normaliser(monkeypatch):
    made = []

    def kept(scoring):
        made.append(scoring.normaliser)
        return SelfAttention(scoring)

    monkeypatch.setattr(task_timing, "SelfAttention", kept)
    chosen = {"normaliser": "entmax", "normaliser.alpha": 1.75}
    perform(Request.make("complexity", options=SMALL | chosen, device="cpu"), Watch())
    timed = [float(one.alpha.detach()) for one in made if one is not None]
    assert len(timed) == 5 + 4 - 1  # the corner is one
    assert set(timed) == {1.75}
    assert None in made, "reach is that of the softmax"
    with pytest.raises(ValueError, match='no normaliser "nowhere"'):
        perform(Request.make("complexity", options=SMALL | {"normaliser": "nowhere"}), Watch())

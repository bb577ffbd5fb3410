import json
import time
from dataclasses import replace

import pyarrow as pa
import pytest
from support import pages

from dashboard.features.complexity import page
from dashboard.jobs.backend import Event
from dashboard.records.request import Result


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def charts(app):
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def words(app):
    kinds = (app.text, app.caption, app.markdown)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def asked(backend):
    return [request for request in backend.submitted.values() if request.task == "complexity"]


def test_formulas_times_exponents_and_reach_are_shown(opened, backend):
    app = opened("complexity")
    assert not app.exception
    assert "$O(n^2 d)$" in words(app)
    assert len(charts(app)) == 4
    assert "A kernel of 3 reaches one position to each side" in words(app)
    exponents, products, hops = (frame.value for frame in app.dataframe)
    assert list(exponents.loc["RNN"]) == [2.0, 1.25, 1.5] * 2
    assert list(products["CNN"]) == [16, 32]
    assert list(hops["Self-attention"]) == [17, 33]
    assert "the shortest of 3 timings" in words(app)
    assert link(app) == {}


def test_points_and_fitted_lines_are_those_of_the_result(opened, chart_rows):
    sets = chart_rows(opened("complexity"), "series")[0]
    drawn = [{(r["x"], r["y"]) for r in one if r["series"] == "CNN"} for one in sets]
    line = {(x, float(f"{1e3 * 1e-5 * x**1.25:.5g}")) for x in (16, 32)}
    assert sorted(drawn, key=sorted) == sorted([{(16, 1.024), (32, 2.048)}, line], key=sorted)


def test_the_counted_multiplications_stand_below_the_times(opened, chart_rows):
    (counted,) = chart_rows(opened("complexity"), "series")[1]
    assert {(r["x"], r["y"]) for r in counted if r["series"] == "CNN"} == {(16, 16), (32, 32)}


def test_controls_go_into_request_and_link(opened, backend):
    app = opened("complexity")
    app.selectbox("complexity-kernel").set_value("7").run()
    app.slider("complexity-repeats").set_value(3).run()
    time.sleep(1.0)  # another's measurement that ended after the page was drawn is no new one
    began = time.time()
    next(b for b in app.button if b.label == "Measure again").click().run()
    assert link(app) == {"kernel": "7", "repeats": "3", "seed": "1"}
    last = asked(backend)[-1]
    assert (dict(last.options)["kernel"], last.seed) == ("7", 1)
    assert began <= dict(last.options)["since"] <= time.time() + 1, "not another's times"
    assert "since" not in dict(asked(backend)[-2].options)


def measured(backend):
    """The requests that measured, rather than read what ships."""
    return [request for request in asked(backend) if not request.data]


def compared(app):
    """By chart, the points that are dashed."""
    sent = [{one.name: one.data.data for one in chart.proto.datasets}
            for chart in app.get("vega_lite_chart")]  # fmt: skip
    return [pa.ipc.open_stream(one["compared"]).read_all() if "compared" in one else None
            for one in sent]  # fmt: skip


def press(app, label):
    return next(b for b in app.button if b.label == label).click().run()


def test_a_bare_page_shows_the_reference_and_measures_nothing(opened, backend):
    app = opened("complexity")
    assert measured(backend) == []
    assert "not of this machine: abacus with \\*beads\\*, 2026-11-20" in words(app)
    assert "recorded on 2026-11-20 at commit c0ffee." in words(app)
    assert "abacus with \\*beads\\*, 5 cores" in words(app)
    assert "`python -m again`" in words(app)
    assert "Measured on cpu" not in words(app)


def test_a_measurement_of_this_machine_is_compared_with_the_reference(opened, backend):
    app = press(opened("complexity"), "Measure on this machine")
    assert not app.exception
    assert link(app) == {"times": "both"}
    assert len(measured(backend)) == 1
    assert [table.num_rows for table in compared(app)] == [6, 6, 6, 6]
    assert "Dashed: the reference measurement, at d = 64 over n and at n = 32 over d" in words(app)
    assert "Measured on cpu" in words(app)
    mine, theirs, *_ = (frame.value for frame in app.dataframe)
    assert mine.equals(theirs), "a table of exponents for each"
    app.selectbox("complexity-kernel").set_value("5").run()
    assert link(app) == {"kernel": "5", "times": "both"}
    app.selectbox("complexity-kernel").set_value("3").run()
    app = press(app, "Measure again")
    assert link(app) == {"seed": "1", "times": "both"}


def test_the_dashed_points_are_the_references_and_the_axis_has_its_sizes():
    def times(*sizes):
        return [{"layer": "cnn", "axis": "n", "n": n, "d": 8, "seconds": n / 1e3} for n in sizes]

    prepared = page.times_over(times(16, 32), None, "n", times(64, 128))
    assert prepared.tables["compared"]["y"].to_pylist() == [64, 128]
    assert {16, 32, 64, 128} == {*prepared.shape.ticks}
    fits = [{"layer": "rnn", "axis": "n", "counted": c, "exponent": 1.0, "last": 1.0}
            for c in (1.0, 2.0)]  # fmt: skip
    tables = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page.shown, "table", lambda frame, **_: tables.append(frame))
        page._exponents(fits[:1], Result(facts={"fits": fits[1:]}))
    assert [table["n: expected"]["RNN"] for table in tables] == [1.0, 2.0]


def test_either_can_be_shown_alone(opened, backend):
    app = opened("complexity", times="here")
    assert link(app) == {"times": "here"}
    assert compared(app) == [None] * 4
    assert "eference measurement" not in words(app)
    app.selectbox("complexity-times").set_value("reference").run()
    assert link(app) == {}
    assert "**Reference measurement**, not of this machine" in words(app)


def test_another_setting_measures_here_and_the_reference_can_be_seen_again(opened, backend):
    app = opened("complexity")
    app.selectbox("complexity-kernel").set_value("5").run()
    assert app.selectbox("complexity-times").value == "here"
    assert "Measured on cpu" in words(app)
    app.selectbox("complexity-times").set_value("reference").run()
    assert link(app) == {"kernel": "5", "times": "reference"}
    assert "Measured on cpu" not in words(app)
    assert len(measured(backend)) == 1


def test_a_reference_that_cannot_be_read_is_named_and_not_taken_for_one(
    opened, backend, monkeypatch
):
    complexity = pages.complexity

    def spoilt(request):
        made = complexity(replace(request, data=""))
        return replace(made, facts={**made.facts, "unreadable": "it <b>ends</b> early"})

    monkeypatch.setattr(pages, "complexity", spoilt)
    app = opened("complexity")
    assert "cannot be shown: it \\<b\\>ends\\<\\/b\\> early. The times below are" in words(app)
    assert "not of this machine" not in words(app)
    both = opened("complexity", times="both")
    assert compared(both) == [None] * 4


def test_a_running_job_shows_its_progress(opened, backend):
    backend.unfinished.add("complexity")
    app = opened("complexity")
    assert not app.exception
    assert charts(app) == []
    assert app.get("progress") or app.get("skeleton")


def test_a_running_job_shows_the_points_so_far(opened, backend, monkeypatch, chart_rows):
    backend.unfinished.add("complexity")
    sizes = [("n", 16, 64), ("n", 32, 64), ("d", 32, 8)]
    events = [
        Event(number=i, stage="progress", fraction=0.1, note="*cnn*",
              facts={"layer": "cnn", "axis": axis, "n": n, "d": d, "seconds": i / 1e3})
        for i, (axis, n, d) in enumerate([*sizes, ("n", 32, 64)], start=1)
    ]  # fmt: skip
    monkeypatch.setattr(backend, "events", lambda job, after=0: events)
    app = opened("complexity", times="here")
    assert not app.exception
    assert [one.proto.text for one in app.get("progress")] == ["\\*cnn\\*"]
    expected = ({(16, 1), (32, 4)}, {(64, 4), (8, 3)})
    gaps = (set(), {(16, None)})
    drawn = chart_rows(app, "series")
    for (points, lines), known, missing in zip(drawn, expected, gaps, strict=True):
        assert {(r["x"], r["y"]) for r in points} == known
        assert {(r["x"], r["y"]) for r in lines} == known | missing, "no line over what is missing"
    del events[2:]
    early = opened("complexity", times="here")
    assert not early.exception
    assert len(charts(early)) == 1, "there are no two sizes d yet"


def test_a_failed_job_says_why(opened, backend):
    backend.failing["complexity"] = Event(number=1, stage="failed", note="Out of memory.")
    assert "Out of memory." in words(opened("complexity"))


def test_a_hostile_link_is_named(opened):
    app = opened("complexity", kernel="4", device="<i>")
    assert not app.exception
    assert "kernel=‘4’" in words(app)
    assert link(app) == {}


def test_self_attention_takes_another_normaliser(opened, backend):
    app = opened("complexity")
    app.selectbox("complexity-normaliser-name").set_value("sparsemax").run()
    assert link(app) == {"normaliser": "sparsemax"}
    assert dict(asked(backend)[-1].options)["normaliser"] == "sparsemax"
    absent = opened("complexity", normaliser="theirs")
    assert not absent.exception
    assert "Normaliser ‘theirs’ is not installed here." in words(absent)


def test_times_that_serve_others_say_when_they_were_measured(monkeypatch):
    said = []
    monkeypatch.setattr(page.shown, "caption", said.append)
    facts = {"device": "cpu", "threads": 1, "torch": "2", "seconds": 1.0, "rounds": 3}
    page._origin(facts)
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "Asia/Shanghai")
        time.tzset()
        page._origin({**facts, "measured": 1_764_174_665.9})
    time.tzset()
    added = "It ended at 16:31:05 UTC; for 5 minutes others who ask for the same see these times"
    assert (added in said[0], added in said[1]) == (False, True)
    recorded = {"date": "2026-11-20", "processor": "abacus", "cores": 5, "command": "again"}
    page._origin({**facts, "recorded": recorded, "environment": {"commit": ""}})
    assert "recorded on 2026-11-20 at commit unknown." in said[2]


@pytest.mark.parametrize(("kernel", "sides"), [(3, "one position"), (5, "2 positions")])
def test_the_path_of_the_convolution_is_that_of_its_kernel(monkeypatch, kernel, sides):
    said = []
    monkeypatch.setattr(page.shown, "caption", said.append)
    reach = pa.Table.from_pylist([{"layer": "cnn", "n": 8, "products": 1, "hops": 4}])
    page._reach(Result(tables={"reach": reach}, facts={"kernel": kernel}))
    assert f"A kernel of {kernel} reaches {sides} to each side" in said[-1]


def test_a_line_leaves_out_what_was_not_measured_between_two_sizes():
    points = page._series([(64, 1.0, "a"), (160, 2.0, "a"), (64, 3.0, "b"), (128, 4.0, "b")])
    found = [(row["x"], row["series"]) for row in page._with_gaps(points).to_pylist()]
    assert found == [(64, "a"), (128, "a"), (160, "a"), (64, "b"), (128, "b")]


def test_a_chart_over_one_size_has_the_points_at_the_other_of_its_series_once():
    sizes = ("n", 64, 32), ("n", 128, 32), ("d", 128, 16), ("d", 128, 32)
    times = [{"layer": "cnn", "axis": axis, "n": n, "d": d} for axis, n, d in sizes]
    assert [page.fixed_over(times, axis) for axis in "nd"] == [32, 128]
    sizes = {axis: [(row["n"], row["d"]) for row in page.points_over(times, axis)]
             for axis in "nd"}  # fmt: skip
    assert sizes == {"n": [(64, 32), (128, 32)], "d": [(128, 32), (128, 16)]}
    assert page.fixed_over([], "n") is None

import json

from dashboard.jobs.backend import Event


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
    next(b for b in app.button if b.label == "Measure again").click().run()
    assert link(app) == {"kernel": "7", "repeats": "3", "seed": "1"}
    last = asked(backend)[-1]
    assert (dict(last.options)["kernel"], last.seed) == ("7", 1)


def test_a_running_job_shows_its_progress(opened, backend):
    backend.unfinished.add("complexity")
    app = opened("complexity")
    assert not app.exception
    assert charts(app) == []
    assert app.get("progress") or app.get("skeleton")


def test_a_running_job_shows_the_points_so_far(opened, backend, monkeypatch, chart_rows):
    backend.unfinished.add("complexity")
    sizes = [(16, 64), (32, 64), (32, 8)]
    events = [
        Event(number=i, stage="progress", fraction=0.1, note="*cnn*",
              facts={"layer": "cnn", "axis": "n", "n": n, "d": d, "seconds": i / 1e3})
        for i, (n, d) in enumerate([*sizes, (32, 64)], start=1)
    ]  # fmt: skip
    monkeypatch.setattr(backend, "events", lambda job, after=0: events)
    app = opened("complexity")
    assert not app.exception
    expected = ({(16, 1), (32, 4)}, {(64, 4), (8, 3)})
    gaps = (set(), {(16, None)})
    drawn = chart_rows(app, "series")
    for (points, lines), known, missing in zip(drawn, expected, gaps, strict=True):
        assert {(r["x"], r["y"]) for r in points} == known
        assert {(r["x"], r["y"]) for r in lines} == known | missing, "no line over what is missing"


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

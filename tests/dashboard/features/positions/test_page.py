import json

import numpy as np
import pytest
from support.live_frames import Context
from support.pages import live_words

from dashboard.charts.frames import matrix
from dashboard.features.positions import rotation, task
from dashboard.jobs.backend import Event
from dashboard.records.request import Request


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def charts(app):
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def words(app):
    kinds = (app.text, app.caption, app.markdown, app.latex)
    return "\n".join([*(str(one.value) for kind in kinds for one in kind), *live_words(app)])


def asked(backend):
    return [request for request in backend.submitted.values() if request.task == "positions"]


def test_the_first_screen_shows_all_of_the_documents_encoding(opened, backend):
    app = opened("positions")
    assert not app.exception
    assert len(asked(backend)) == 1
    assert len(charts(app)) == 1 + 2 + 7 + 1 + 2
    assert app.multiselect("positions-columns").value == [6, 7, 8, 9]
    assert "shape (1, 8, 6)" in words(app)
    assert "for 192,960 points" in words(app)
    assert "neighbours have the largest dot product" in words(app)
    assert link(app) == {}


def test_the_largest_dot_product_is_found_at_its_distance(opened):
    """With two pairs of columns it is not that of neighbours."""
    app = opened("positions", size="4")
    apart = np.arange(1, 60)
    products = np.cos(apart) + np.cos(apart / 100)
    farther = apart[products.argmax()]
    assert farther > 1
    assert (
        f"those {farther} apart have the largest dot product, {products.max():.3g}; neighbours "
        f"have {products[0]:.3g}." in words(app)
    )


def test_controls_go_into_request_and_link(opened, backend):
    app = opened("positions")
    app.slider("positions-offset").set_value(-7).run()
    app.slider("positions-flow_tokens").set_value(2).run()
    app.multiselect("positions-columns").set_value([0, 31]).run()
    assert link(app) == {"offset": "-7", "flow_tokens": "2", "columns": "0,31"}
    assert dict(asked(backend)[-1].options)["offset"] == -7
    assert "From 4 it leads to -3" in words(app)


def test_a_smaller_encoding_takes_its_sliders_with_it(opened, backend):
    app = opened("positions", size="40", pair="19", position="50", columns="3,39")
    app.slider("positions-size").set_value(6).run()
    app.slider("positions-positions").set_value(5).run()
    assert not app.exception
    held = dict(asked(backend)[-1].options)
    assert (held["size"], held["pair"], held["positions"], held["position"]) == (6, 2, 5, 4)
    assert app.slider("positions-pair").max == 2
    assert app.multiselect("positions-columns").value == [3]
    app.multiselect("positions-columns").set_value([]).run()
    assert not app.exception
    app.multiselect("positions-columns").set_value([5, 0]).run()
    assert link(app)["columns"] == "0,5"
    app.slider("positions-size").set_value(5).run()
    assert app.multiselect("positions-columns").value == [0], "five columns have no column 5"


def test_another_size_leaves_alone_what_lies_in_it(opened):
    app = opened("positions")
    app.slider("positions-pair").set_value(7).run()
    for size in (20, 40):
        app.slider("positions-size").set_value(size).run()
        assert app.slider("positions-pair").value == 7
        assert app.slider("positions-pair").max == size // 2 - 1
    assert link(app) == {"size": "40", "pair": "7"}


@pytest.mark.parametrize("size", ["4", "5", "64"])
def test_every_size_is_drawn(opened, size):
    app = opened("positions", size=size, positions="75")
    assert not app.exception
    assert len(charts(app)) == 13
    assert ("sine without its cosine" in words(app)) == (size == "5")


def test_a_hostile_link_is_named_and_mended(opened):
    app = opened("positions", size="999", columns="<b>", speed="1")
    assert not app.exception
    said = words(app)
    assert "need 4 <= size <= 64" in said
    assert "columns=‘<b>’" in said
    assert "unknown parameter ‘speed’" in said
    assert link(app) == {"size": "64"}


def test_a_failed_job_costs_one_place(opened, backend):
    backend.failing["positions"] = Event(number=1, stage="failed", note="The worker is gone.")
    app = opened("positions")
    assert not app.exception
    assert "The worker is gone." in words(app)
    assert app.slider("positions-size").value == 32


def test_the_curves_are_the_chosen_columns(opened, chart_rows):
    app = opened("positions", columns="1,4", positions="7")
    (found, *_) = chart_rows(app, "series")[0]
    first = [row["y"] for row in found if row["series"] == "column 4"]
    np.testing.assert_allclose(first, np.sin(np.arange(7) / 10000 ** (4 / 32)), rtol=1e-4)
    other = opened("positions", columns="0,5", positions="7")
    (found, *_) = chart_rows(other, "series")[0]
    assert {row["series"] for row in found} == {"column 0", "column 5"}, "of the same result"


@pytest.mark.parametrize(("count", "step"), [(60, 1), (61, 2), (75, 2)])
def test_the_map_of_dot_products_shows_every_position_or_every_second(monkeypatch, count, step):
    drawn, said = [], []

    def show(key, values, alt, **looks):
        drawn.append((key, values, looks))

    monkeypatch.setattr(rotation.charts, "show_values", show)
    monkeypatch.setattr(rotation.charts, "show_filled", lambda *_: None)
    monkeypatch.setattr(rotation.shown, "caption", said.append)
    made = task.perform(Request.make("positions", options={"positions": count}), Context())
    rotation.similarity(made, 32)
    ((key, values, looks),) = drawn
    assert made.digest in key
    every = matrix(made.tables["similarity"])
    kept = range(0, count, step)
    np.testing.assert_array_equal(values, every[np.ix_(kept, kept)])
    assert [*looks["rows"]] == [*looks["columns"]] == [*kept]
    assert (f"The map shows every {step}th position." in said[0]) == (step > 1)


@pytest.mark.parametrize(("offset", "more"), [(3, False), (7, True), (-3, False), (-7, True)])
def test_a_turn_of_more_than_one_round_is_told_by_rounds(offset, more):
    settings = {"pair": 0, "position": 20, "offset": offset}
    made = task.perform(Request.make("positions", options=settings), Context())
    said = rotation._sentence(made, settings)
    assert (" turns, whatever" in said, " turn, whatever" in said) == (more, not more)


@pytest.mark.usefixtures("chinese")
def test_a_reader_of_chinese_sees_the_same_numbers(opened):
    app = opened("positions", size="7", offset="-20")
    assert not app.exception
    assert "第 3 列每 87.3 个位置、第 4 列每" in words(app)
    assert "打破了这个规律。不同的两个位置中，相距" in words(app)
    assert "偏移 −20 都是转" in words(app)
    assert '"第 3 列"' in json.dumps(charts(app)[0], ensure_ascii=False)

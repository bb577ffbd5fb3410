import numpy as np
import pyarrow as pa
import pytest
from support.pages import live_words

from dashboard.features.norms import page
from dashboard.jobs.backend import Event
from dashboard.records.request import Result


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def words(app):
    kinds = (app.text, app.caption, app.markdown)
    return "\n".join([*(str(one.value) for kind in kinds for one in kind), *live_words(app)])


def asked(backend):
    return [request for request in backend.submitted.values() if request.task == "norms"]


def cells(found):
    return [row["value"] for row in found[0]]


def test_the_first_screen_shows_the_documents_example(opened, chart_rows):
    app = opened("norms")
    assert not app.exception
    drawn = chart_rows(app, "r", "c", "value")
    assert len(drawn) == 2 + 2 + 3 + 4
    np.testing.assert_allclose(cells(drawn[0]), [-1, 1, -1, 1], atol=1e-4)
    np.testing.assert_allclose(cells(drawn[1]), [-1, -1, 1, 1], atol=1e-4)
    assert "Valid outputs: nothing changes." in words(app)
    assert link(app) == {}


def test_rows_are_framed_for_layer_norm_and_columns_for_batch_norm(opened, chart_rows):
    boxes = []
    for (found,) in chart_rows(opened("norms", x="1,2,5;2,3,4"), "left", "top")[:2]:
        boxes.append([(b["left"], b["right"], b["top"], b["bottom"]) for b in found])
    assert boxes[0] == [(0, 3, 0, 1), (0, 3, 1, 2)]
    assert boxes[1] == [(0, 1, 0, 2), (1, 2, 0, 2), (2, 3, 0, 2)]


def test_another_size_keeps_what_fits(opened, backend):
    app = opened("norms", x="1,2;3,4")
    app.number_input("norms-rows").set_value(3).run()
    app.number_input("norms-columns").set_value(1).run()
    assert not app.exception
    assert link(app) == {"x": "1;3;0"}
    assert dict(asked(backend)[-1].options)["x"] == "1;3;0"


def test_an_edited_cell_goes_into_request_and_link(opened, backend):
    app = opened("norms")
    edits = {"edited_rows": {1: {"0": -4.5}}, "added_rows": [], "deleted_rows": []}
    app.session_state["norms-editor-1"] = edits
    app.run()
    assert not app.exception
    assert link(app).get("x") == "1,2;-4.5,3"
    app.session_state["norms-editor-1"] = edits | {"edited_rows": {1: {"0": None}}}
    app.run()
    assert link(app).get("x") == "1,2;0,3"
    assert [app.number_input(f"norms-{name}").min for name in ("rows", "columns")] == [2, 1]


def test_controls_go_into_request_and_link(opened, backend):
    app = opened("norms")
    app.slider("norms-batches").set_value(9).run()
    app.slider("norms-padding").set_value(2).run()
    next(b for b in app.button if b.label == "Draw again").click().run()
    assert link(app) == {"batches": "9", "padding": "2", "seed": "1"}
    assert "evaluated on X after 9 batches of X" in words(app)
    assert "to 5 positions, then to 7" in words(app)


def test_one_column_and_no_dropout_are_drawn(opened, chart_rows):
    app = opened("norms", x="1;2;4", dropout="0", batches="0")
    assert not app.exception
    assert cells(chart_rows(app, "r", "c", "value")[0]) == [0, 0, 0]


def test_a_hostile_link_is_named(opened):
    app = opened("norms", x="1,2;<b>", momentum="nan")
    assert not app.exception
    assert "x=‘1,2;<b>’" in words(app)
    assert "momentum=‘nan’" in words(app)
    assert link(app) == {}


def test_a_failed_job_costs_one_place(opened, backend):
    backend.failing["norms"] = Event(number=1, stage="failed", note="The worker is gone.")
    app = opened("norms")
    assert not app.exception
    assert "The worker is gone." in words(app)


@pytest.mark.usefixtures("chinese")
def test_a_reader_of_chinese_sees_the_same_numbers(opened, backend, chart_rows):
    app = opened("norms", batches="9", x="1,2;3")
    assert not app.exception
    assert "用 X 训练 9 个小批量之后，在 X 上评估" in words(app)
    assert "x=‘1,2;3’：各行的长度必须相同，因此改用 1,2;2,3" in words(app)
    np.testing.assert_allclose(
        cells(chart_rows(app, "r", "c", "value")[0]), [-1, 1, -1, 1], atol=1e-4
    )
    assert dict(asked(backend)[-1].options)["x"] == "1,2;2,3"


FACTS = {"lengths": [5, 3], "change": {"features": 0.0, "sequence": 1.25, "batch": 0.5}}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("padded", 2, "of 5 and 3 tokens are padded with zeros to 5 positions, then to 7."),
        ("dropout", 0.2, "a probability of 20% and multiplies the rest by 1.25"),
        ("dropout", 0.0, "sets each number to 0 with a probability of 0%; in evaluation"),
        ("evaluated", 1, "after 1 batch of X"), ("evaluated", 3, "after 3 batches of X"),
        ("change_sequence", 2, "changes by up to 1.25."),
        ("change_batch", 2, "changes by up to 0.50."), ("change_features", 2, "nothing changes."),
    ],
)  # fmt: skip
def test_words_beside_a_slider_say_what_it_does(name, value, said):
    assert said in page.said(Result(facts=FACTS), name, value)


def test_changes_share_one_scale_and_are_told_by_sentence_and_token():
    tables = {"change_batch": pa.table({"c0": [0.1] * 8})}
    drawn = page.prepared(Result(tables=tables, facts=FACTS), "change_batch")
    assert drawn.values["end"] == 1.25
    assert drawn.values["rows"] == ["s1 t1", "s1 t2", "s1 t3", "s1 t4", "s1 t5",
                                    "s2 t1", "s2 t2", "s2 t3"]  # fmt: skip


def test_a_sum_has_its_own_scale_and_what_is_normalised_that_of_two_deviations():
    numbers = pa.table({"c0": [1.0, -7.0]})
    result = Result(tables=dict.fromkeys(("added", "dropped", "normed", "layer"), numbers),
                    facts={"statistics": {"evaluated": [[-3.0], [1.0]]}})  # fmt: skip
    ends = {name: page.prepared(result, name).values["end"]
            for name in ("added", "dropped", "normed", "layer", "running")}  # fmt: skip
    assert ends == {"added": 7, "dropped": 7, "normed": 2, "layer": 2, "running": 30}

import csv
import json
import re

import numpy as np
import pyarrow as pa
import pytest
import streamlit
from support.pages import live_words

from attention_plugins.attention import NEEDS
from dashboard.features.anatomy import task as anatomy
from dashboard.features.anatomy.chart import stages
from dashboard.features.anatomy.step import _NEEDS, as_csv
from dashboard.jobs.backend import Event


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def charts(app):
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def words(app):
    kinds = (app.text, app.caption, app.markdown, app.header)
    return "\n".join([*(str(one.value) for kind in kinds for one in kind), *live_words(app)])


def asked(backend):
    return [request for request in backend.submitted.values() if request.task == "anatomy"]


def matrices(app):
    """The numbers of every matrix that is drawn, in page order."""
    found = []
    for chart in app.get("vega_lite_chart"):
        for sent in chart.proto.datasets:
            table = pa.ipc.open_stream(sent.data.data).read_all().to_pydict()
            table = {name.removeprefix("exact_"): values for name, values in table.items()}
            if {"r", "c", "value"} <= table.keys():
                found.append(np.array(table["value"], float).reshape(table["r"][-1] + 1, -1))
    return found


def test_the_first_screen_is_a_finished_walk(opened, backend):
    app = opened("anatomy")
    assert not app.exception
    assert [one.value.split(" · ")[1] for one in app.header] == [
        "Queries, keys, values", "Projections of the scoring", "Scores", "Mask", "Softmax",
        "Dropout", "Output",
    ]  # fmt: skip
    queries, keys, values, scores, masked, weights, output = matrices(app)
    np.testing.assert_allclose(scores, queries @ keys.T / 2, atol=1e-3)
    np.testing.assert_array_equal(masked, scores)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-3)
    assert (weights[:, 4] == 0).all()
    np.testing.assert_allclose(output, weights @ values, atol=1e-2)
    assert "`(B, n_q, n_k) = (2, 3, 5)`" in words(app).replace("\N{NO-BREAK SPACE}", " ")
    assert link(app) == {}
    assert len(asked(backend)) == 1


def test_an_edited_number_changes_everything_after_it_and_the_link(opened, backend):
    app = opened("anatomy")
    before = matrices(app)
    field = next(area for area in app.text_area if area.label == "Queries, 3 × 4")
    field.set_value("1 0 0 0\n0 1 0 0\n0 0 1 0").run()
    assert not app.exception
    after = matrices(app)
    np.testing.assert_array_equal(after[0], np.eye(4)[:3])
    np.testing.assert_allclose(after[3], after[1].T[:3] / 2, atol=1e-3)
    np.testing.assert_array_equal(after[2], before[2])
    assert link(app)["q"].startswith("1,0,0,0/0,1,0,0/0,0,1,0:")
    again = opened("anatomy", **link(app))
    np.testing.assert_array_equal(matrices(again)[3], after[3])
    next(b for b in app.button if b.label == "Back to the example's").click().run()
    np.testing.assert_array_equal(matrices(app)[0], before[0])
    assert link(app) == {}


def test_what_cannot_be_read_is_named_and_changes_nothing(opened, backend):
    app = opened("anatomy")
    before = matrices(app)
    next(area for area in app.text_area if "Keys" in area.label).set_value("1 2\n3").run()
    app.text_input("anatomy-lengths").set_value("many").run()
    assert "Keys: need 5 rows of 4 numbers, got 2 of 1, 2" in words(app)
    assert "Valid lengths: need whole numbers from 0, got ‘many’; 4,3 is used" in words(app)
    for one, other in zip(before, matrices(app), strict=True):
        np.testing.assert_array_equal(one, other)
    assert link(app) == {}


def test_lengths_per_query(opened):
    app = opened("anatomy")
    app.text_input("anatomy-lengths").set_value("1 2 3 / 4 5 0").run()
    weights = matrices(app)[5]
    assert [(row > 0).sum() for row in weights] == [1, 2, 3]
    assert link(app) == {"lengths": "1,2,3/4,5,0"}
    app.slider("anatomy-row").set_value(1).run()
    assert [(row > 0).sum() for row in matrices(app)[5]] == [4, 5, 0]
    assert link(app) == {"lengths": "1,2,3/4,5,0", "row": "1"}


def test_an_example_brings_its_own_numbers_and_forgets_the_last_ones(opened, backend):
    app = opened("anatomy", dropout="0.5", lengths="1,1")
    app.selectbox("anatomy-example").set_value("additive_steps").run()
    assert not app.exception
    assert link(app) == {"example": "additive_steps"}
    assert app.text_input("anatomy-lengths").value == "2,6"
    output = matrices(app)[-1]
    np.testing.assert_allclose(output, [[2, 3, 4, 5]], atol=1e-4)
    names = {layer.get("name") for spec in charts(app) for layer in spec["layer"]}
    assert {"blocks", "ones", "said"} <= names
    assert "the score of query 0 and key 0" in words(app)


@pytest.mark.parametrize(
    "changed",
    [{"scoring": "alibi"}, {"normaliser": "off_by_one"}, {"lengths": "3,6"}, {"dropout": "0.5"},
     {"v": ":".join(["1,2,3,4/" * 9 + "1,2,3,4"] * 2)}],
    ids=lambda changed: next(iter(changed)),
)  # fmt: skip
def test_an_examples_words_stand_where_it_is_computed_as_they_say(opened, changed):
    """They name its output."""
    claim = "the output is 2, 3, 4, 5 in the first batch row"
    assert claim in words(opened("anatomy", example="dot", query="0", seed="3"))
    app = opened("anatomy", example="dot", **changed)
    assert not app.exception
    assert claim not in words(app)


def test_the_trace_of_an_additive_score_adds_up(opened):
    app = opened("anatomy", example="additive_steps", key="3")
    trace = next(m for m in matrices(app) if m.shape == (6, 3))
    query, key, total, bent, vector, product = trace
    np.testing.assert_allclose(total, query + key, atol=1e-3)
    np.testing.assert_allclose(bent, np.tanh(total), atol=1e-3)
    np.testing.assert_allclose(product, vector * bent, atol=1e-3)
    (said,) = re.findall(r"The last row sums to (−?[0-9.]+),", words(app))
    assert float(said.replace("−", "-")) == pytest.approx(product.sum(), abs=1e-3)


def test_heads_are_cut_and_joined_with_the_same_number_at_every_step(opened):
    app = opened("anatomy", example="heads", row="1", query="2", column="7", head="2", key="1")
    assert not app.exception
    cut, joined = (frame.value for frame in app.dataframe)
    assert list(cut["Index"]) == ["[1, 2, 7]", "[1, 2, 2, 1]", "[1, 2, 2, 1]", "[5, 2, 1]"]
    assert list(joined["Index"]) == ["[5, 2, 1]", "[1, 2, 2, 1]", "[1, 2, 2, 1]", "[1, 2, 7]"]
    assert cut["Value"].nunique() == joined["Value"].nunique() == 1
    assert "Join the heads and mix" in words(app)


def test_scores_and_weights_of_a_sentence_can_be_saved(opened, backend, monkeypatch):
    """The numbers of the files are those of the task, of the batch row that is looked at."""
    values = np.array([[0.25, np.nan], [1e-7, -2.0]])
    rows = list(csv.reader(as_csv(values, ["q0", "q1"], ["k0", "k1"]).splitlines()))
    assert rows == [["query", "k0", "k1"], ["q0", "0.25", ""], ["q1", "1e-07", "-2.0"]]
    files, button = {}, streamlit.download_button

    def offered(label, data, **more):
        files[more["file_name"]] = list(csv.reader(data.splitlines()))
        return button(label, data, **more)

    monkeypatch.setattr(streamlit, "download_button", offered)
    app = opened("anatomy", example="self", row="2")
    assert not app.exception
    assert set(files) == {"scores.csv", "weights.csv"}
    (request,) = asked(backend)
    found = stages(anatomy.perform(request, backend).tables["stages"])
    for name in ("scores", "weights"):
        head, *lines = files[f"{name}.csv"]
        assert len(head) == 11
        numbers = [[float(cell or "nan") for cell in line[1:]] for line in lines]
        expected = found[name].values[2]
        np.testing.assert_array_equal(np.array(numbers)[:, :4], expected[:, :4])
        beyond = np.array(numbers)[:, 4:]
        assert (beyond == 0).all() if name == "weights" else np.isnan(beyond).all()
    shown = np.exp(found["scores"].values[2][:, :4])
    saved = np.array([line[1:5] for line in files["weights.csv"][1:]], float)
    np.testing.assert_allclose(saved, shown / shown.sum(axis=1, keepdims=True))
    weights = matrices(app)[-2]
    assert weights.shape == (10, 10)
    assert (weights[:, 4:] == 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-3)


def test_any_example_may_go_through_a_model(opened, backend):
    app = opened("anatomy", layout="self_attention")
    assert not app.exception
    (request,) = asked(backend)
    assert request.model == "self_attention"
    assert {name for name in dict(request.options) if name in "qkv"} == {"q"}
    assert "The model's queries, keys, values" in words(app)


def test_the_masked_softmax_beside_its_wrong_ways(opened, backend):
    app = opened("anatomy", part="mask")
    assert not app.exception
    assert [dict(request.options)["lengths"] for request in asked(backend)] == ["2,3", "1,3/2,4"]
    assert "48.5%, 39.4%, 15.8%, 20.2%" in words(app)
    drawn = matrices(app)
    assert len(drawn) == 2 * 8
    scores, right, wrong, difference = drawn[:4]
    assert (right[:2, 2:] == 0).all()
    np.testing.assert_allclose(difference, wrong - right, atol=1e-3)
    before, after, again, again_wrong = drawn[4:8]
    np.testing.assert_array_equal(before, scores)
    assert (after[:2, 2:] == 0).all()
    assert np.abs(again - again_wrong).max() > 0.1
    app.text_input("anatomy-per_row").set_value("4, 0").run()
    assert link(app) == {"part": "mask", "per_row": "4,0"}
    np.testing.assert_array_equal(matrices(app)[1][2:], 0)


def test_the_root(opened, backend):
    app = opened("anatomy", part="root", scoring="additive", count="4")
    assert not app.exception
    assert len(charts(app)) == 3
    assert dict(asked(backend)[-1].options) == {"part": "root", "count": 4, "hidden": 8}
    assert '"Additive"' in json.dumps(charts(app)[0])


def test_the_landscape_follows_its_query(opened, backend):
    app = opened("anatomy", part="landscape", scoring="gaussian", scoring__width="0.5")
    assert len(charts(app)) == 2
    app.slider("anatomy-x").set_value(-2.0).run()
    assert link(app) == {
        "part": "landscape", "scoring": "gaussian", "scoring.width": "0.5", "x": "-2",
    }  # fmt: skip
    assert dict(asked(backend)[-1].options)["x"] == -2.0


def test_only_the_part_that_is_seen_is_computed(opened, backend):
    app = opened("anatomy")
    app.get("button_group")[0].set_value("landscape").run()
    assert not app.exception
    assert [dict(request.options)["part"] for request in asked(backend)] == ["step", "landscape"]
    assert link(app) == {"part": "landscape"}


@pytest.mark.parametrize("missing", [{"scoring": "entmax"}, {"layout": "from_a_friend"}])
def test_what_is_not_installed_is_named(opened, backend, missing):
    app = opened("anatomy", **missing)
    assert not app.exception
    assert f"‘{next(iter(missing.values()))}’ is not installed here" in words(app)
    assert asked(backend) == []
    assert link(app) == missing


def test_a_hostile_link_is_named_and_mended(opened):
    app = opened("anatomy", q="<img src=x>", lengths="1e9", seed="-5", zzz="1", row="../..")
    assert not app.exception
    text = words(app)
    for said in ("q=‘<img src=x>’", "lengths=‘1e9’", "seed=‘-5’", "‘zzz’", "row=‘../..’"):
        assert said in text
    assert link(app) == {}


def test_a_failed_job_costs_the_stages_alone(opened, backend):
    backend.failing["gaussian"] = Event(number=3, stage="failed", note="it broke *badly*")
    app = opened("anatomy", scoring="gaussian")
    assert not app.exception
    assert "it broke *badly*" in [text.value for text in app.text]
    assert app.selectbox("anatomy-scoring").value == "gaussian"


def test_the_step_to_weights_shows_the_chosen_normaliser(opened, backend):
    app = opened("anatomy")
    app.selectbox("anatomy-normaliser-name").set_value("sigmoid").run()
    assert not app.exception
    assert link(app) == {"normaliser": "sigmoid"}
    assert dict(asked(backend)[-1].options)["normaliser"] == "sigmoid"
    assert "5 · Sigmoid" in [one.value for one in app.header]
    assert any(r"\alpha_i = sigmoid(s)" in one.value for one in app.latex)
    weights = matrices(app)[5]
    assert f"that of query 0 sums to {weights[0].sum():.2f}"[:-1] in words(app)
    app.selectbox("anatomy-normaliser-name").set_value("entmax").run()
    app.slider("anatomy-normaliser-entmax-alpha").set_value(2.0).run()
    assert link(app) == {"normaliser": "entmax", "normaliser.alpha": "2"}
    assert "Each row sums to 1" in words(app)


def test_a_scoring_with_a_way_of_its_own_says_so(opened, backend):
    backend.facts["scorings"].append(
        {**backend.facts["scorings"][0], "name": "monotonic", "own_normaliser": True}
    )
    app = opened("anatomy", scoring="monotonic", normaliser="entmax")
    assert not app.exception
    assert "makes its weights in its own way" in words(app)
    assert "5 · Weights" in [one.value for one in app.header]
    assert link(app) == {"scoring": "monotonic"}


def test_keys_that_a_score_rules_out_are_no_error(opened, backend):
    backend.facts["scorings"].append({**backend.facts["scorings"][1], "name": "epanechnikov"})
    app = opened("anatomy", scoring="epanechnikov", scoring__width="1.5")
    assert not app.exception
    assert "not finite" not in words(app)
    assert "A score of −∞ rules its key out as well." in words(app)
    app = opened("anatomy", part="landscape", scoring="epanechnikov", normaliser="entmax")
    assert not app.exception
    assert "by the normaliser Entmax" in words(app)


def test_a_normaliser_that_is_not_here_is_named(opened):
    app = opened("anatomy", normaliser="theirs")
    assert not app.exception
    assert "Normaliser ‘theirs’ is not installed here." in words(app)


@pytest.mark.usefixtures("chinese")
def test_a_reader_of_chinese_sees_the_same_numbers(opened, backend):
    app = opened("anatomy", example="additive_steps", lengths="9")
    assert not app.exception
    headers = [one.value.split(" · ")[1] for one in app.header]
    assert headers == [
        "查询、键、值", "评分函数的投影", "分数", "掩码", "Softmax", "dropout（暂退法）", "输出",
    ]  # fmt: skip
    assert "即查询 0 与键 0 的分数" in words(app)
    assert "lengths=‘9’：每个样本需要一个长度，例如 1,1，或者每个查询一个" in words(app)
    np.testing.assert_allclose(matrices(app)[-1], [[2, 3, 4, 5]], atol=1e-4)
    (request,) = asked(backend)
    assert dict(request.options)["lengths"] == "2,6"
    assert link(app) == {"example": "additive_steps"}
    spoken = json.dumps(charts(app), ensure_ascii=False)
    assert "'−∞，已排除' : '不是有限值'" in spoken


def walks(app):
    """What the charts of whole steps say of every number."""
    found = []
    for chart in app.get("vega_lite_chart"):
        for sent in chart.proto.datasets:
            table = pa.ipc.open_stream(sent.data.data).read_all().to_pydict()
            table = {name.removeprefix("exact_"): values for name, values in table.items()}
            if {"b", "said"} <= table.keys():
                found.append(dict(said.split(": ", 1) for said in table["said"]))
    return found


def test_a_sentence_is_walked_from_its_embeddings_to_the_output(opened, backend):
    app = opened("anatomy", example="sentence", scoring="scaled_dot")
    assert not app.exception
    (said,) = walks(app)
    assert said["Embeddings (cats, 0)"] == "1, as given"
    assert said["V (fish, 1)"] == "1·3 + 1·1 = 4"
    assert said["Scores (fish, fish)"] == "(1·1 + 1·2) / √2 = 2.12"
    assert re.match(r"[\d.]+·3 \+ [\d.]+·1 \+ [\d.]+·4 [=≈] ", said["Output (fish, 1)"])
    assert app.selectbox("anatomy-layout").options[0] == "Words: embedded, projected"
    app.selectbox("anatomy-scoring").set_value("additive").run()
    (said,) = walks(app)
    assert re.fullmatch(r"−?[\d.]+, by Additive from query and key", said["Scores (cats, eat)"])
    assert {*_NEEDS} == {*NEEDS}, "each is named where a scoring has it"


def test_an_edited_embedding_is_walked_too(opened, backend):
    app = opened("anatomy", example="sentence", q="2,0/0,1/1,1")
    (said,) = walks(app)
    assert said["K (cats, 1)"] == "2·1 + 0·1 = 2"


def test_a_step_is_walked_where_it_is_small_and_nothing_is_dropped(opened, backend):
    assert len(walks(opened("anatomy"))) == 1
    assert not walks(opened("anatomy", dropout="0.5"))
    assert not walks(opened("anatomy", example="dot"))
    heads = opened("anatomy", example="heads")
    (said,) = walks(heads)
    assert {"Q (q0, 2)", "Q (q0, 3)"} & said.keys() == {"Q (q0, 2)"}


def test_words_are_a_layout_of_the_sentence_alone(opened, backend):
    app = opened("anatomy", layout="words")
    assert "‘words’ is not installed here" in words(app)
    assert not asked(backend)
    offered = opened("anatomy", example="dot").selectbox("anatomy-layout").options
    assert "Words: embedded, projected" not in offered


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({}, {"Seed"}),  # draws its numbers
        ({"q": "1,1,1,1/1,1,1,1/1,1,1,1:1,1,1,1/1,1,1,1/1,1,1,1"}, {"Seed"}),  # keys and values
        ({"example": "dot"}, set()),
        ({"example": "dot", "dropout": "0.5"}, {"Seed"}),
        ({"example": "dot", "scoring": "gaussian"}, set()),
        ({"example": "dot", "scoring": "bilinear"}, {"Seed"}),
        ({"example": "dot", "scoring": "additive"}, {"Seed", "Hidden size"}),
        ({"example": "dot", "layout": "heads"}, {"Seed", "Hidden size"}),
        ({"example": "sentence"}, set()),
        ({"part": "landscape", "scoring": "gaussian"}, set()),
        ({"part": "landscape", "scoring": "additive"}, {"Seed", "Hidden size"}),
        ({"part": "root", "scoring": "gaussian"}, {"Seed"}),
        ({"part": "mask"}, set()),
    ],
)
def test_a_seed_and_a_hidden_size_are_asked_for_where_they_change_something(opened, query, wanted):
    app = opened("anatomy", **query)
    assert not app.exception
    asked_for = {one.label for one in (*app.number_input, *app.slider)}
    assert asked_for & {"Seed", "Hidden size"} == wanted

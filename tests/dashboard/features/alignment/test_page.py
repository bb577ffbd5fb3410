import json
from types import SimpleNamespace

import pyarrow as pa
import pytest
from support.alignments import SURE, with_gold

from dashboard.features.alignment import panel
from dashboard.jobs.backend import Event
from dashboard.records.request import Result


@pytest.fixture
def facts(facts):
    return with_gold(facts)


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def words(app):
    kinds = (app.text, app.caption, app.markdown)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def specs(app):
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def test_the_first_screen_compares_the_models_of_a_corpus_with_gold(opened, backend, chart_rows):
    app = opened("alignment")
    assert not app.exception
    asked = [r for r in backend.submitted.values() if r.task == "alignment"]
    assert {request.data for request in asked} == {"twin_a", "transformer_x"}
    assert {dict(request.options)["corpus"] for request in asked} == {"phrasebook"}
    assert [(m.label, m.value) for m in app.metric] == [
        ("Alignment error rate, only head", "0.500"),
        ("Alignment error rate, best: layer 1 · head 2", "0.125"),
    ]
    said = words(app)
    assert "precision 0.750 · recall – · 3 pairs · 2 more too long for this model" in said
    assert r"**I am \*home\*\.** → **Je suis chez moi\.**" in said
    assert "Pair 1 of 5, error 0.50: rank 2 of the 3 scored pairs, the worst first." in said
    assert r"layer 1 · head 2: **2 found** · **1 missed** (chez → \*home\*) · **1 wrong**" in said
    (table,) = app.dataframe
    assert table.value["Error rate"].tolist() == [0.5, 0.125]
    assert table.value["Average head"].tolist() == [0.5, 0.40625]
    gold = [
        sorted((cell["k"], cell["q"]) for cell in cells if cell["gold"] == "gold")
        for found in chart_rows(app, "q", "k", "gold")
        for cells in found
    ]
    assert gold == [SURE, SURE]
    assert link(app) == {}


def test_one_goes_through_the_pairs_in_order_or_from_the_worst(opened, backend):
    app = opened("alignment", pair="2", b__map="2.mean")
    assert "layer 2 · mean: **2 found**" in words(app)
    app.button("alignment-next").click().run()
    assert link(app) == {"pair": "3", "b.map": "2.mean"}
    app.button_group("alignment-order").set_value("worst").run()
    assert link(app) == {"pair": "2", "order": "worst", "b.map": "2.mean"}
    assert app.number_input("alignment-pair").value == 2
    assert app.button("alignment-previous").disabled
    for _ in range(2):
        app.button("alignment-next").click().run()
    assert link(app)["pair"] == "3"
    assert app.button("alignment-next").disabled
    last = [r for r in backend.submitted.values() if dict(r.options).get("pair")][-1]
    assert dict(last.options)["pair"] == 3
    assert not app.exception


def test_a_pair_by_hand_is_written_into_the_link(opened, backend):
    app = opened("alignment", count="3")
    app.selectbox("alignment-gold").set_value("own").run()
    assert r"Tokens: 0 i · 1 am · 2 \*home\* → 0 je · 1 suis · 2 chez · 3 moi." in words(app)
    app.text_input("alignment-links").set_value("0-0 9-9").run()
    assert link(app) == {"gold": "own", "links": "0-0 9-9", "count": "3"}
    assert not app.exception
    note = "your pair links 9-9, but its source has 4 tokens"
    backend.failing["alignment"] = Event(number=3, stage="failed", note=note,
                                         facts={"refused": True})  # fmt: skip
    app.text_input("alignment-links").set_value("9-9").run()
    assert [text.value for text in app.text].count(note) == 1
    assert app.metric.len == 0


def test_a_model_that_fails_or_is_not_here_costs_its_panel_alone(opened, backend):
    backend.failing["twin_a"] = Event(number=3, stage="failed", note="it broke", facts={})
    app = opened("alignment", a="bahdanau.additive", b="transformer.additive", c="cnn.additive")
    assert not app.exception
    assert [metric.value for metric in app.metric] == ["0.125"]
    assert "it broke" in words(app)
    assert "Model ‘cnn’ is not installed here" in words(app)
    assert len(app.dataframe[0].value) == 1


def test_what_is_drawn_is_of_the_models_that_are_chosen(opened, backend):
    app = opened("alignment", b__map="2.1")
    assert "layer 2 · head 1: **2 found**" in words(app)
    app.selectbox("alignment-b").set_value("bahdanau.additive").run()
    assert not app.exception
    assert [metric.value for metric in app.metric] == ["0.500", "0.500"]
    assert "layer 2" not in words(app)
    app.selectbox("alignment-a").set_value("transformer.additive").run()
    assert [metric.value for metric in app.metric] == ["0.125", "0.500"]
    assert app.dataframe[0].value["Error rate"].tolist() == [0.125, 0.5]


def test_a_map_that_the_model_does_not_have_gives_way_to_its_best(opened, chart_rows):
    app = opened("alignment", b__map="9.9")
    assert "layer 1 · head 2: **2 found**" in words(app)
    drawn = [rows for found in chart_rows(app, "error_rate", "chosen") for rows in found]
    filled = [[row["map"] for row in rows if row["chosen"]] for rows in drawn]
    assert filled == [["1.1"], ["1.2"]]


def scored(backend):
    """How many pairs each request scores."""
    found = (dict(request.options).get("pairs") for request in backend.submitted.values())
    return [count for count in found if count]


def test_many_pairs_are_scored_once_a_button_was_pressed_and_one_is_shown_at_once(opened, backend):
    app = opened("alignment", count="5000")
    (begin,) = [one for one in app.button if one.key == "begin-held"]
    assert begin.label == "Align 5,000 pairs with 2 models"
    assert scored(backend) == []
    assert any(dict(one.options).get("pair") for one in backend.submitted.values())
    begin.click().run()
    assert scored(backend) == [5000, 5000]


def test_what_models_were_trained_on_is_called_by_its_title(opened):
    app = opened("alignment")
    assert {*app.selectbox("alignment-corpus").options} == {"tatoeba", "Phrases"}


def told(*verdicts, maps=("1.1",)):
    """A result whose maps link source 0 and up to target 1 and up, with these verdicts."""
    links = [{"map": name, "source": n, "target": n + 1, "verdict": verdict}
             for name in maps for n, verdict in enumerate(verdicts)]  # fmt: skip
    tokens = [f"t{n}" for n in range(20)]
    facts = {"source_tokens": [f"s{n}" for n in range(20)], "target_tokens": tokens,
             "sure": [(0, 1)], "possible": [(2, 3)]}  # fmt: skip
    return Result(tables={"links": pa.Table.from_pylist(links)}, facts=facts)


def test_links_that_do_not_agree_are_named_and_many_are_counted():
    assert panel._verdict(told("right", "wrong"), "1.1") == (
        "**1 found** · **0 missed** · **1 wrong** (t2 → s1)"
    )
    said = panel._verdict(told(*["missed"] * 7, maps=("1.1", "1.2")), "1.2")
    assert said.startswith("layer 1 · head 2: **0 found** · **7 missed** (t1 → s0, ")
    assert ", t5 → s4, 2 more) · **0 wrong**" in said


def test_gold_stands_at_the_row_of_its_target():
    assert panel._gold(told("right")) == (  # a row per target, a column per source
        [(1, 0)],
        [(3, 2)],
    )


def test_a_rate_that_is_not_known_is_a_dash():
    assert [panel._number(one) for one in (None, float("nan"), 0.0)] == ["–", "–", "0.000"]


def test_what_rates_do_not_say_is_told_beside_them():
    scored = [Result(facts={"corpus": "pairs"})]
    said = {gold: panel._caveat(SimpleNamespace(gold=gold), scored).split(". ")[-1]
            for gold in ("own", "pairs", "other")}  # fmt: skip
    assert said == {
        "own": "One pair says little: choose a corpus to compare models.",
        "pairs": "None of these models was trained on any of these source sentences.",
        "other": "That one may have some of these source sentences too.",
    }

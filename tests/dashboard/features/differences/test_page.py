import json
from dataclasses import replace

import pyarrow as pa
import pytest
import streamlit

from attention_plugins.formula import described
from dashboard.jobs.backend import Event
from dashboard.records.request import Result


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def words(app):
    kinds = (app.text, app.caption, app.markdown)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def maps(app):
    """Letters, labels and notes (by map, then by row) of the linked chart; nothing without it."""
    found = app.get("vega_lite_chart")
    assert len(found) <= 1
    if not found:
        return {}
    sets = {d.name: pa.ipc.open_stream(d.data.data).read_all() for d in found[0].proto.datasets}
    (lists,) = sets["parameters"].to_pylist()
    firsts = [cell for cell in sets["cells"].to_pylist() if cell["k"] == 0]
    letters = sets["titles"]["letter"].to_pylist()
    notes = [
        [cell["note"] for cell in firsts if cell["tile"] == number]
        for number in range(len(letters))
    ]
    labels = {name: lists[name].split("\n") for name in ("queries", "keys")}
    return {"letters": letters, "notes": notes, **labels}


def targets(backend):
    asked = [request for request in backend.submitted.values() if request.task == "translation"]
    return [(request.data, dict(request.options)["target"]) for request in asked]


def pairs(backend):
    asked = [request for request in backend.submitted.values() if request.task == "differences"]
    return [(request.data, dict(request.options)["other"]) for request in asked]


@pytest.fixture
def transformer(backend):
    """The catalogue also has a Transformer's checkpoint, whose results have maps of all kinds."""
    backend.facts["models"].append(dict(backend.facts["models"][-2], name="transformer"))
    kept = json.loads(json.dumps(backend.facts["checkpoints"][0]))
    kept["name"], kept["card"]["model"] = "transformer_one", "transformer"
    backend.facts["checkpoints"].append(kept)


def test_every_panel_reads_what_the_first_one_says(opened, backend):
    app = opened("differences")
    assert not app.exception
    said = "je suis *chez* moi."
    assert targets(backend) == [("one", ""), ("one", said), ("two", said), ("three", said)]
    drawn = maps(app)
    assert drawn["letters"] == ["a", "b", "c", "a − b"]
    assert drawn["queries"] == [*said.split(), "<eos>"]
    assert drawn["keys"] == ["i'm", "home", ".", "<eos>"]
    assert drawn["notes"][0] == ["probability 0.25"] * 5
    assert r"the translation of panel a: “je suis \*chez\* moi\.”" in words(app)
    assert r"0\.00 bit of Jensen–Shannon divergence" in words(app)
    assert pairs(backend) == [("one", "two")]
    assert link(app) == {}
    next(button for button in app.button if button.label == "Force these words").click().run()
    assert link(app) == {"target": said}
    assert "by itself" not in words(app)


def test_a_failing_checkpoint_and_a_missing_one_cost_their_panels(opened, backend):
    backend.failing["one"] = Event(number=1, stage="failed", note="need at most 9 tokens")
    app = opened("differences", a="bahdanau.additive", b="bahdanau.scaled_dot",
                 c="bahdanau.entmax", d="bahdanau.bilinear")  # fmt: skip
    assert not app.exception
    assert "the translation of panel b" in words(app)
    assert "need at most 9 tokens" in words(app)
    assert "Scoring ‘entmax’ is not installed here" in words(app)
    assert maps(app)["letters"] == ["b", "d", "b − d"]
    assert pairs(backend) == [("two", "three")]
    app.button_group("differences-pair").set_value("a-b").run()
    assert maps(app)["letters"] == ["b", "d", "b − d"]
    app.button_group("differences-pair").set_value("c-d").run()
    assert maps(app)["letters"] == ["b", "d"]
    assert "No difference to show" in words(app)
    assert link(app)["pair"] == "c-d"


@pytest.fixture
def split(backend):
    """The second panel's model has other tokens than the others."""
    wait = backend.wait

    def wait_for(job, timeout):
        event = wait(job, timeout)
        if backend.submitted[job].data != "two":
            return event
        table = event.result.tables["maps"]
        keys = pa.array([["i", "'m", "home", "<eos>"]], table["keys"].type)
        table = table.set_column(table.column_names.index("keys"), "keys", keys)
        tables = {**event.result.tables, "maps": table}
        return replace(event, result=Result(tables=tables, facts=event.result.facts))

    backend.wait = wait_for


@pytest.mark.usefixtures("split")
def test_models_of_another_split_of_the_text_are_laid_over_each_other_by_words(opened, backend):
    app = opened("differences", target="je suis")
    assert not app.exception
    found = maps(app)
    assert found["letters"][:3] == ["a", "b", "c"]
    assert (found["queries"], found["keys"]) == (["…", "je", "suis"], ["…", "i'm", "home", "."])
    assert words(app).count("so rows and columns are words") == 3
    asked = [one for one in backend.submitted.values() if one.task == "differences"]
    assert {dict(one.options)["words"] for one in asked} == {"yes"}


@pytest.mark.usefixtures("split")
def test_a_map_of_another_text_is_not_laid_over_the_others(opened, backend):
    """A language model's map has the prompt in its rows, too."""
    (two,) = [one for one in backend.facts["checkpoints"] if one["name"] == "two"]
    two["card"]["kind"] = "decoder"
    app = opened("differences", a="bahdanau.additive", b="two", c="bahdanau.bilinear",
                 target="je suis")  # fmt: skip
    assert not app.exception
    assert maps(app)["letters"] == ["a", "c", "a − c"]
    assert "This panel's columns are other words than those of panel a (4 and 4)" in words(app)


def test_an_empty_sentence_and_a_single_panel(opened, backend):
    app = opened("differences", text="", a="bahdanau.additive")
    assert not app.exception
    assert targets(backend) == []
    assert maps(app) == {}
    assert "The sentence is empty" in words(app)
    app.text_input("differences-text").set_value("zebra go").run()
    assert maps(app)["letters"] == ["a"]
    assert "Add a second panel" in words(app)
    assert r"so their translation is a guess: zebra." in words(app)


@pytest.mark.usefixtures("transformer")
def test_heads_are_chosen_and_matched(opened, backend, monkeypatch):
    app = opened("differences", a="transformer.additive", b="transformer.additive",
                 c="bahdanau.additive", target="je suis", b__map="1.3", a__map="2.1")  # fmt: skip
    assert not app.exception
    chosen = {box.key: box.value for box in app.selectbox}
    assert (chosen["differences-a-map"], chosen["differences-b-map"]) == ("2.1", "1.3")
    (table,) = app.dataframe
    # Head h of layer l looks at word l + h alone; the first of equals is the match.
    assert list(table.value.iloc[:, 1]) == [
        f"layer {layer} · head {head}"
        for layer, head in ((1, 1), (1, 2), (1, 3), (1, 2), (1, 3), (2, 3))
    ]
    assert list(table.value["r"]) == pytest.approx([1.0] * 6)
    app.button("differences-use-matched").click().run()
    assert link(app)["b.map"] == "1.2"
    before = len(targets(backend))
    app.selectbox("differences-a-map").set_value("2.mean").run()
    assert "a.map" not in link(app)
    app.button_group("differences-kind").set_value("decoder").run()
    assert not app.exception
    assert link(app)["kind"] == "decoder"
    assert maps(app)["keys"] == ["<bos>", "je", "suis"]
    assert "This model has no self-attention in its decoder" in words(app)
    assert len(targets(backend)) == before
    offered = {}
    monkeypatch.setattr(
        streamlit, "download_button",
        lambda label, data, file_name, **more: offered.update({file_name: data}),
    )  # fmt: skip
    app.session_state["differences-export"] = True
    app.run()
    assert not app.exception
    spec = json.loads(offered["differences-linked-maps.vl.json"]())
    assert spec["config"]["background"] == "#ffffff"
    table = offered["differences-differences.csv"]().decode().splitlines()
    assert table[0] == '"query","key","query_label","key_label","weight_a","weight_b","difference"'
    # In the decoder the keys after a query's own position are masked.
    assert [line.endswith(",,") for line in table[1:4]] == [False, True, True]
    assert not [name for name in offered if name.endswith(".zip")]


def answered(backend, monkeypatch, change):
    """Changes the event of every comparison."""
    usual = backend.wait

    def wait(job, timeout):
        event = usual(job, timeout)
        return change(event) if backend.submitted[job].task == "differences" else event

    monkeypatch.setattr(backend, "wait", wait)


def test_every_number_is_the_workers(opened, backend, monkeypatch):
    def other_numbers(event):
        bits = pa.array([0.125, None, 0.875, 0.5])
        tables = {
            **event.result.tables,
            "divergence": pa.table({"query": range(4), "query_label": list("wxyz"),
                                    "jensen_shannon_bits": bits}),
        }  # fmt: skip
        facts = {"mean_divergence": 0.75, "most_different": 2, "correlation": -0.25}
        return replace(event, result=Result(tables=tables, facts=facts))

    answered(backend, monkeypatch, other_numbers)
    app = opened("differences", target="va là !", a="bahdanau.additive", b="bahdanau.bilinear")
    assert not app.exception
    said = words(app)
    assert r"differ most at “\!”\: 0\.88 bit" in said
    assert r"the mean over 4 rows is 0\.75" in said
    assert "r = −0.25" in said
    assert maps(app)["notes"][-1][0] == "Jensen–Shannon 0.12 bit"


def test_a_comparison_that_fails_costs_the_difference_alone(opened, backend):
    backend.failing["differences"] = Event(number=1, stage="failed", note="it broke", facts={})
    app = opened("differences")
    assert not app.exception
    assert words(app).count("it broke") == 1
    assert maps(app)["letters"] == ["a", "b", "c"]
    del backend.failing["differences"]
    app.button("differences-pair--retry").click().run()
    assert maps(app)["letters"] == ["a", "b", "c", "a − b"]


def test_maps_are_drawn_while_they_are_compared(opened, backend):
    backend.unfinished.add("differences")
    app = opened("differences")
    assert not app.exception
    assert maps(app)["letters"] == ["a", "b", "c"]
    assert "bit of Jensen" not in words(app)


def test_the_pair_waits_for_panels_that_come_before_it(opened, backend):
    backend.unfinished.add("two")
    app = opened("differences")
    assert not app.exception
    assert maps(app)["letters"] == ["a", "c"]
    assert pairs(backend) == []
    assert "no difference to show" not in words(app)


def test_a_checkpoint_that_was_replaced_is_drawn_anew(opened, backend):
    """Equal requests; the chart of another result must not come out of the cache."""
    address = {"target": "va !", "a": "bahdanau.additive", "b": "bahdanau.bilinear"}
    before = notes(opened("differences", **address))
    usual = backend.wait

    def surer(job, timeout):
        event = usual(job, timeout)
        if backend.submitted[job].task != "translation":
            return event
        tokens = event.result.tables["tokens"]
        likely = pa.array([0.5] * tokens.num_rows)
        tokens = tokens.set_column(2, "probability", likely)
        tables = {**event.result.tables, "tokens": tokens}
        return replace(event, result=Result(tables=tables, facts=event.result.facts))

    backend.wait = surer
    after = notes(opened("differences", **address))
    assert before[0] == ["probability 0.25"] * 3
    assert after[0] == ["probability 0.50"] * 3


def notes(app):
    return maps(app)["notes"]


def test_the_pair_of_a_panel_that_was_removed_is_forgotten(opened):
    app = opened("differences", pair="b-c")
    assert maps(app)["letters"] == ["a", "b", "c", "b − c"]
    app.button("panel-c-remove").click().run()
    assert maps(app)["letters"] == ["a", "b", "a − b"]
    assert "pair" not in link(app)


@pytest.mark.parametrize(
    ("removed", "shown", "compared"),
    [
        ("a", "b − c", ("two", "three")),
        ("d", "b − c", ("two", "three")),
        ("c", "a − b", ("one", "two")),
    ],
)
def test_letters_and_the_pair_stay_those_of_their_models_when_a_panel_is_removed(
    opened, backend, removed, shown, compared
):
    app = opened(
        "differences", a="bahdanau.additive", b="bahdanau.scaled_dot", c="bahdanau.bilinear",
        d="bahdanau.additive", pair="b-c", target="va !",
    )  # fmt: skip
    assert pairs(backend) == [("two", "three")]
    app.button(f"panel-{removed}-remove").click().run()
    left = [letter for letter in "abcd" if letter != removed]
    assert maps(app)["letters"] == [*left, shown]
    assert pairs(backend)[-1] == compared
    assert link(app).get("panels") == (None if removed == "d" else "".join(left))
    assert link(app).get("pair") == ("b-c" if removed == "d" else None)


def test_the_comparison_is_of_the_models_that_are_chosen(opened, backend):
    app = opened("differences", target="va !", pair="b-c")
    assert pairs(backend) == [("two", "three")]
    app.selectbox("differences-b").set_value("bahdanau.additive").run()
    assert pairs(backend)[-1] == ("one", "three")
    assert targets(backend)[-1] == ("three", "va !")
    app.button("panel-a-remove").click().run()
    app.selectbox("differences-corpus").set_value("phrasebook").run()
    assert pairs(backend)[-1] == ("twin_a", "twin_b")
    assert maps(app)["letters"] == ["a", "b", "a − b"]


def test_another_corpus_begins_with_its_usual_pair(opened, backend):
    backend.facts["checkpoints"].append(
        dict(json.loads(json.dumps(backend.facts["checkpoints"][-1])), name="triplet")
    )
    app = opened("differences", target="va !", pair="b-c")
    app.selectbox("differences-corpus").set_value("phrasebook").run()
    assert not app.exception
    assert "pair" not in link(app)


def test_a_model_that_was_trained_with_a_typed_scoring_is_called_by_it(opened, backend):
    made = json.loads(json.dumps(backend.facts["checkpoints"][0]))
    made |= {"name": "mine", "typed": described("dot(q, k) / sqrt(d)")}
    made["card"]["scoring"] = "=dot(q, k) / sqrt(d)"
    backend.facts["checkpoints"].append(made)
    app = opened("differences", a="mine", b="bahdanau.additive")
    assert not app.exception
    assert app.selectbox("differences-a").value == "mine"
    assert "dot(q, k) / sqrt(d) · mine" in app.selectbox("differences-a").options
    assert targets(backend)[-2][0] == "mine"
    app = opened("translation", a="mine")
    assert any(r"\sqrt{d}" in one.value for one in app.latex)


def test_of_decoders_the_fields_are_a_prompt_and_a_continuation(opened, backend):
    (two,) = [one for one in backend.facts["checkpoints"] if one["name"] == "two"]
    two["card"]["kind"] = "decoder"
    app = opened("differences", a="two", b="two")
    assert not app.exception
    assert {"Prompt", "Force this continuation"} <= {one.label for one in app.text_input}
    assert "Trained on" not in [one.label for one in app.selectbox]

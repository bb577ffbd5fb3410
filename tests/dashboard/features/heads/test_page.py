import json
from dataclasses import replace

import pyarrow as pa
import pytest

from dashboard import language
from dashboard.features.heads.outcome import compared
from dashboard.features.heads.view import MEANINGS
from dashboard.jobs.backend import Event


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def words(app):
    kinds = (app.text, app.caption, app.markdown, app.error)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def button(app, label):
    return next(one for one in app.button if one.label == label)


def asked(backend, task):
    return [request for request in backend.submitted.values() if request.task == task]


def charts_of(app):
    found = app.get("vega_lite_chart")
    return " ".join(json.dumps(json.loads(one.proto.spec), ensure_ascii=False) for one in found)


def alts(app):
    return [one.proto.alt for one in app.get("vega_lite_chart")]


def table(app):
    (found,) = app.dataframe
    return found.value


@pytest.fixture(autouse=True)
def _transformer(backend):
    """The catalogue also has a Transformer's checkpoint."""
    backend.facts["models"].append(dict(backend.facts["models"][-2], name="transformer"))
    kept = json.loads(json.dumps(backend.facts["checkpoints"][1]))
    kept["name"], kept["card"]["model"] = "transformer_one", "transformer"
    backend.facts["checkpoints"].append(kept)


def test_the_first_screen_ranks_the_heads_of_a_transformer(opened, backend):
    app = opened("heads")
    assert not app.exception
    assert link(app) == {}
    assert list(table(app)["Head"]) == [f"cross {lh}" for lh in ("2.3", "2.2", "2.1", "1.3", "1.2",
                                                                 "1.1")]  # fmt: skip
    assert set(table(app)["Off"]) == {False}
    assert list(table(app)["Finding"]) == ["on <eos>"] + [""] * 5
    (request,) = asked(backend, "heads")
    assert request.data == "transformer_one"
    assert len(asked(backend, "translation")) == 1
    assert r"je suis \*chez\* moi\." in words(app)
    assert ":green-badge[:material/check: no bug] Rows sum to 1 within" in words(app)
    assert "pads this one to 10 tokens" in words(app)
    assert r"head 3: 75\% of its weight lies on \<eos\>" in words(app)


def test_the_heads_of_a_decoder_are_listed_without_a_choice(opened, backend):
    backend.facts["checkpoints"][-1]["card"]["kind"] = "decoder"
    app = opened("heads", a="transformer_one")
    assert not app.exception
    assert link(app) == {"a": "transformer_one", "kind": "decoder"}
    assert all(name.startswith("decoder ") for name in table(app)["Head"])
    assert "Kind of attention" not in [one.label for one in app.button_group]


def other(backend, kind):
    """The catalogue's Transformer does something else than translate."""
    card = backend.facts["checkpoints"][-1]["card"]
    card["kind"] = kind
    card["corpus"]["examples"] = ["i", "my brother is"]


def fields(app):
    return [one.label for one in (*app.text_input, *app.selectbox)]


def test_a_decoder_has_a_prompt_and_a_continuation_and_no_corpus(opened, backend):
    assert {"Source: English", "Force this translation", "Trained on"} <= {
        *fields(opened("heads"))
    }
    other(backend, "decoder")
    app = opened("heads", a="transformer_one")
    assert {"Prompt", "Force this continuation"} <= {*fields(app)}
    assert "Trained on" not in fields(app)
    assert app.button_group("heads-examples").options == ["i", "my brother is"]
    assert app.text_input("heads-text").value == "my brother is"


def test_an_encoder_has_a_text_alone(opened, backend):
    other(backend, "encoder")
    app = opened("heads", a="transformer_one", target="je suis")
    assert not app.exception
    assert "Text to read" in fields(app)
    assert not [one for one in fields(app) if one.startswith("Force")]
    assert "target" not in link(app)
    assert dict(asked(backend, "heads")[-1].options)["target"] == ""


def test_the_fields_follow_the_model_at_once(opened, backend):
    other(backend, "decoder")
    app = opened("heads")
    (model,) = [one for one in app.selectbox if one.label == "Model"]
    usual, shown = model.value, app.text_input("heads-text").value
    app.selectbox("heads-model").set_value("transformer_one").run()
    assert not app.exception
    assert "Prompt" in fields(app)
    assert app.text_input("heads-text").value == "my brother is"
    app.selectbox("heads-model").set_value(usual).run()
    assert "Force this translation" in fields(app)
    assert app.text_input("heads-text").value == shown
    assert link(app) == {}


def test_a_bug_is_red_and_names_the_plugin(opened):
    app = opened("heads", text="padded words")
    assert not app.exception
    (bug,) = app.error
    assert r"the model ‘transformer’ (plugin odd\-\*plugin\* 1\.2) must pass" in bug.value
    assert "no bug]" not in words(app)
    assert r":red-badge[bug] **Encoder 1**" in words(app)
    assert r"up to 50\% of a row lies on padding" in words(app)


def test_a_switch_goes_into_link_and_request_and_changed_words_stand_out(opened, backend):
    app = opened("heads")
    edits = {"edited_rows": {0: {"Off": True}, 4: {"Uniform": True}}}
    app.session_state["heads-editor-0"] = edits
    app.run()
    assert not app.exception
    assert link(app) == {"off": "cross.2.3", "uniform": "cross.1.2"}
    options = dict(asked(backend, "translation")[-1].options)
    assert options["changes"] == "off:cross.2.3 uniform:cross.1.2"
    assert len(asked(backend, "heads")) == 1
    assert r"je ~~suis~~ ~~\*chez\*~~ moi\." in words(app)
    assert ":orange-background[:orange[vais]] :orange-background[:orange[chez]]" in words(app)
    assert "**Unchanged** · log-probability −1.50 · less likely by 7.75 nats with the" in words(
        app
    )
    assert "**With the changes** · 2 words changed · log-probability −2.50" in words(app)
    button(app, "Undo all changes").click().run()
    assert link(app) == {}
    assert set(table(app)["Off"]) == {False}


def test_all_cross_heads_go_off_at_once_and_one_comes_back(opened):
    app = opened("heads", uniform="encoder.1.2", pin="cross.1.1:1>0")
    button(app, "Switch all listed heads off").click().run()
    usual = {"uniform": "encoder.1.2", "pin": "cross.1.1:1>0"}
    assert link(app) == {"off": "cross.1.all,cross.2.all", **usual}
    assert set(table(app)["Off"]) == {True}
    app.session_state["heads-editor-1"] = {"edited_rows": {3: {"Off": False}}}
    app.run()
    assert link(app)["off"] == "cross.1.1,cross.1.2,cross.2.all"


def test_what_is_listed_is_counted_and_goes_off(opened):
    app = opened("heads")
    assert "6 of 18 heads are listed." in words(app)
    app = opened("heads", kind="all", only="finding")
    assert "1 of 18 heads are listed." in words(app)
    button(app, "Switch all listed heads off").click().run()
    assert link(app) == {"kind": "all", "only": "finding", "off": "cross.2.3"}
    app = opened("heads", only="entropy>1")
    assert button(app, "Switch all listed heads off").disabled


def test_one_sentence_names_the_head_that_matters_most(opened):
    said = words(opened("heads"))
    assert "**Encoder self-attention layer 2, head 3** matters most for this sentence: " in said
    assert "the translation is less likely by 12.00 nats, with 1 word changed. Close" in said
    assert "Close behind: decoder 2.3 (12.00 nats), cross 2.3 (12.00 nats), " in said
    assert "encoder 2.2 (11.00 nats), and 5 more." in said


def test_words_that_stay_are_less_likely_in_words(opened, backend):
    same = {"translation": "je suis", "log_probability": -1.5, "forced": False}

    def kept(job, timeout, wait=backend.wait):
        event = wait(job, timeout)
        if event.result and dict(backend.submitted[job].options).get("changes"):
            event.result.facts.update(
                same, log_probability=-1.75,
                unchanged=same | {"changed_log_probability": -1.75},
            )  # fmt: skip
        return event

    backend.wait = kept
    said = words(opened("heads", off="cross.2.3"))
    assert "**Unchanged** · log-probability −1.50\n" in said
    assert "no words changed · less likely by 0.25 nats · log-probability −1.75" in said


def test_a_pin_is_added_in_words_and_ended(opened, backend):
    app = opened("heads", text="go home")
    app.selectbox("heads-pin-row-cross").set_value(1)
    app.selectbox("heads-pin-key-cross").set_value(2)
    app.button("heads-pin-add").click().run()
    assert link(app) == {"text": "go home", "pin": "cross.1.1:1>2"}
    pinned = button(app, r"cross 1\.1: suis → \<eos\>")
    pinned.click().run()
    assert link(app) == {"text": "go home"}


def test_a_patch_is_added_in_words_and_ended(opened, backend):
    app = opened("heads", text="go home", off="cross.2.3")
    app.text_input("heads-patch-other").set_value("i see")
    app.selectbox("heads-pin-head").set_value(("cross", 1, 2))  # of a pin alone
    app.button("heads-patch-add").click().run()
    usual = {"text": "go home", "off": "cross.2.3"}
    assert link(app) == {**usual, "patch": "cross.1.1", "other": "i see"}
    options = dict(asked(backend, "translation")[-1].options)
    assert (options["changes"], options["other"]) == ("off:cross.2.3 patch:cross.1.1", "i see")
    assert set(table(app)["Off"]) == {True, False}
    app.session_state["heads-editor-0"] = {"edited_rows": {0: {"Off": False}}}
    app.run()
    usual.pop("off")  # a switch leaves patches alone
    assert link(app) == {**usual, "patch": "cross.1.1", "other": "i see"}
    button(app, "cross 1\\.1 from “i see”").click().run()
    assert link(app) == {**usual, "other": "i see"}
    assert "Nothing is changed yet" in words(app)


def maps_as(measure, result, times):
    """A result whose maps show a measure; of a rollout each has one map, of all heads."""
    rows = result.tables["maps"].to_pylist()
    for row in rows:
        size = len(row["queries"]) * len(row["keys"])
        row["heads"] = 1 if measure == "rollout" else row["heads"]
        row["weights"] = [times * weight for weight in row["weights"][: row["heads"] * size]]
    tables = {**result.tables, "maps": pa.Table.from_pylist(rows, result.tables["maps"].schema)}
    return replace(result, tables=tables, facts={**result.facts, "measure": measure})


@pytest.mark.parametrize(
    ("shows", "quantity", "titles"),
    [("norms", "norm", 4), ("gradient", "gradient × weight, nats", 4),
     ("rollout", "rollout, all heads", 1)],
)  # fmt: skip
def test_maps_show_something_else_once_it_is_chosen(opened, backend, shows, quantity, titles):
    def measured(job, timeout, wait=backend.wait):
        event = wait(job, timeout)
        asked_for = dict(backend.submitted[job].options).get("measure")
        if event.result and asked_for:
            event = replace(event, result=maps_as(asked_for, event.result, 3.0))
        return event

    backend.wait = measured
    app = opened("heads")
    (usual,) = asked(backend, "translation")
    assert "Colours of attention weight from 0 to 1" in alts(app)
    app.selectbox("heads-shows").set_value(shows).run()
    assert not app.exception
    assert link(app) == {"shows": shows}
    assert dict(asked(backend, "translation")[-1].options) == {
        **dict(usual.options), "measure": shows,
    }  # fmt: skip
    said = [one.value for one in app.caption]
    assert MEANINGS[shows] in said
    (legend,) = (one for one in alts(app) if one.startswith(f"Colours of {quantity} from "))
    assert 1 < float(legend.split()[-1]) <= 3
    assert f'"title": "{quantity}"' in charts_of(app)
    assert len(asked(backend, "translation")) == 2
    choice = app.selectbox("maps-before-cross-choice")
    assert len(choice.options) == 2 * titles
    assert choice.options[-1] == ("layer 2 · mean" if titles == 1 else "layer 2 · head 3")


def test_a_measure_that_a_model_does_not_have_costs_its_maps(opened, backend):
    def refused(job, timeout, wait=backend.wait):
        if dict(backend.submitted[job].options).get("measure"):
            return Event(number=1, stage="failed", note="no gradient", facts={"refused": True})
        return wait(job, timeout)

    backend.wait = refused
    app = opened("heads", shows="gradient")
    assert not app.exception
    assert "no gradient" in words(app)
    assert r"je suis \*chez\* moi\." in words(app)
    assert len(table(app)) == 6


def test_sorting_and_filters_go_into_the_link_and_change_no_request(opened, backend):
    app = opened("heads", kind="all", sort="place", only="finding")
    assert list(table(app)["Head"]) == ["cross 2.3"]
    app.selectbox("heads-only").set_value("entropy").run()
    app.number_input("heads-bound-entropy").set_value(0.25).run()
    app.selectbox("heads-sort").set_value("leave_one_out").run()
    assert list(table(app)["Head"]) == [f"{kind} {layer}.3" for layer in (2, 1)
                                        for kind in ("cross", "encoder", "decoder")]  # fmt: skip
    assert link(app) == {"kind": "all", "only": "entropy>0.25"}
    assert len(asked(backend, "heads")) == len(asked(backend, "translation")) == 1
    app.selectbox("heads-only").set_value("changed").run()
    assert "No head matches" in words(app)


def test_a_change_that_this_model_refuses_costs_one_place(opened, backend):
    def refused(job, timeout, wait=backend.wait):
        if "off:cross.9.1" in str(dict(backend.submitted[job].options).get("changes")):
            return Event(number=1, stage="failed", note="no cross.9", facts={"refused": True})
        return wait(job, timeout)

    backend.wait = refused
    app = opened("heads", off="cross.9.1")
    assert not app.exception
    assert "no cross.9" in words(app)
    assert len(table(app)) == 6
    assert link(app) == {"off": "cross.9.1"}


def test_what_is_not_here_or_empty_or_hostile_is_said(opened, backend):
    app = opened("heads", a="transformer.entmax")
    assert "Scoring ‘entmax’ is not installed here" in words(app)
    assert "The sentence is empty" in words(opened("heads", text=""))
    assert asked(backend, "heads") == []
    assert "not in this model's vocabulary" in words(opened("heads", text="a zebra")).lower()
    app = opened("heads", off="<b>", a="bahdanau.additive")
    assert not app.exception
    assert "off=‘<b>’" in words(app)
    assert list(table(app)["Head"]) == ["cross 1.1"]


def test_words_are_compared_as_text():
    before, after, fresh = compared("le [chat] dort .", "le :red[chien] dort")
    assert before == r"le ~~\[chat\]~~ dort ~~\.~~"
    assert after == r"le :orange-background[:orange[\:red\[chien\]]] dort"
    assert fresh == 1
    assert compared("", "") == ("—", "—", 0)


def test_a_chinese_reader_finds_all_but_names_in_chinese(opened, monkeypatch):
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    app = opened("heads", only="entropy>0.25")
    assert not app.exception
    assert [one.value for one in app.header] == ["改动注意力头", "热图"]
    assert "还没有改动" in words(app)
    assert r"头 3：75\% 的权重落在 \<eos\> 上" in words(app)
    assert set(table(app)["Off"]) == {False}
    assert table(app)["Head"][0].startswith("交叉 ")
    assert link(app) == {"only": "entropy>0.25"}

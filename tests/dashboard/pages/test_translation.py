import json

from dashboard.engine.protocol import Event


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def charts(app):
    return [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]


def words(app):
    kinds = (app.text, app.caption, app.markdown, app.code)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def asked(backend):
    return [request for request in backend.submitted.values() if request.task == "translation"]


def test_the_first_screen_translates_the_example_with_three_scorings(opened, backend):
    app = opened("translation")
    assert not app.exception
    assert [request.data for request in asked(backend)] == ["one", "two", "three"]
    assert {dict(request.options)["text"] for request in asked(backend)} == {"i'm home ."}
    assert len(charts(app)) == 1 + 3
    assert r"je suis \*chez\* moi\." in words(app)
    assert "log-probability −1.50" in words(app)
    assert r"trained on 1,601 pairs · BLEU 47.1 (held out\, beam 5)" in words(app)
    assert link(app) == {}


def test_a_sentence_a_beam_and_a_forced_target_go_into_request_and_link(opened, backend):
    app = opened("translation", a="bahdanau.additive")
    app.text_input("translation-text").set_value("go  .").run()
    app.slider("translation-beam").set_value(4).run()
    app.text_input("translation-target").set_value("va !").run()
    assert link(app) == {
        "a": "bahdanau.additive", "text": "go  .", "target": "va !", "beam": "4",
    }  # fmt: skip
    last = asked(backend)[-1]
    assert dict(last.options) == {"text": "go  .", "target": "va !", "beam": 4}


def test_an_example_replaces_the_sentence(opened):
    app = opened("translation", text="something else", target="va !")
    app.button_group("translation-examples").set_value("go .").run()
    assert app.text_input("translation-text").value == "go ."
    assert link(app) == {"text": "go ."}


def test_an_empty_sentence_asks_for_one(opened, backend):
    app = opened("translation", text="")
    assert not app.exception
    assert asked(backend) == []
    assert "The sentence is empty" in words(app)


def test_words_that_a_model_does_not_know_are_named(opened):
    app = opened("translation", a="bahdanau.additive", text="zebra zebra go")
    assert "not in this model's vocabulary (sentence): zebra" in words(app)


def test_a_checkpoint_that_is_not_here_costs_one_panel(opened, backend):
    app = opened("translation", a="bahdanau.entmax", b="transformer.additive", c="bahdanau.odd",
                 d="bahdanau.additive")  # fmt: skip
    assert "Scoring ‘entmax’ is not installed here" in words(app)
    assert "Model ‘transformer’ is not installed here" in words(app)
    assert "bahdanau with odd has not been trained on ‘tatoeba’ here" in words(app)
    assert [request.data for request in asked(backend)] == ["one"]


def test_another_corpus_brings_its_own_models(opened, backend):
    app = opened("translation", text="go .")
    app.selectbox("translation-corpus").set_value("phrasebook").run()
    assert not app.exception
    assert link(app) == {"text": "go .", "corpus": "phrasebook"}
    assert [request.data for request in asked(backend)][-2:] == ["twin_a", "twin_b"]
    assert len(charts(app)) == 1 + 2


def test_panels_come_and_go(opened):
    app = opened("translation", a="bahdanau.additive", b="bahdanau.bilinear")
    app.button("panel-a-remove").click().run()
    assert link(app) == {"a": "bahdanau.bilinear"}
    next(button for button in app.button if button.label == "Add a panel").click().run()
    assert link(app) == {"a": "bahdanau.bilinear", "b": "bahdanau.additive"}


def test_without_a_checkpoint_the_page_says_how_to_train_one(opened, backend):
    backend.facts["checkpoints"] = []
    app = opened("translation")
    assert not app.exception
    commands = [one.value for one in app.code if "attention_plugins" in one.value]
    assert [command.split()[:4] for command in commands] == [
        ["python", "-m", "attention_plugins", "train"]
    ]
    assert charts(app) == []


def test_a_checkpoint_that_cannot_be_used_is_named(opened, backend):
    backend.facts["checkpoints"][0] = {"name": "one", "card": None, "fault": "no card.json in one"}
    app = opened("translation")
    assert "one: no card.json in one" in words(app)
    assert [request.data for request in asked(backend)] == ["two", "three"]


def test_a_sentence_that_is_too_long_for_the_model_is_said_in_its_place(opened, backend):
    backend.failing["one"] = Event(
        number=1, stage="failed", note="need at most 9 tokens", facts={"refused": True}
    )
    app = opened("translation")
    assert "need at most 9 tokens" in words(app)
    assert len(charts(app)) == 1 + 2

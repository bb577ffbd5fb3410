import json
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from dashboard.features.translation import page as translation
from dashboard.jobs.backend import Event
from dashboard.records.invalid import problem_of
from dashboard.ui.checkpoints import origin
from dashboard.ui.layout import checkpoint_title


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
    assert len(charts(app)) == 1 + 3 == 1 + translation.PAGE.panels
    assert r"je suis \*chez\* moi\." in words(app)
    assert "log-probability −1.50" in words(app)
    assert r"trained on 1,601 pairs · BLEU 47.1 (held out, beam 5)" in words(app)
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


def test_a_sentence_that_is_too_long_is_taken_as_far_as_it_is_read_and_says_so(opened, backend):
    app = opened("translation", a="bahdanau.additive")
    field = app.text_input("translation-text")
    assert not field.proto.max_chars  # a browser would drop what is pasted, and say nothing
    field.set_value("go home " * 40).run()
    assert "Of 320 characters the first 200 are read." in words(app)
    assert dict(asked(backend)[-1].options)["text"] == ("go home " * 25).strip()
    app.text_input("translation-text").set_value("go").run()
    assert "characters" not in words(app)


def test_the_maps_of_a_decoder_are_shown_without_a_choice(opened, backend):
    (two,) = [one for one in backend.facts["checkpoints"] if one["name"] == "two"]
    two["card"]["kind"] = "decoder"
    app = opened("translation", a="two", panels="a")
    assert not app.exception
    assert link(app)["map"] == "decoder"
    assert "This model has no cross-attention" not in words(app)


def test_decoders_alone_have_a_prompt_and_a_continuation(opened, backend):
    def fields(app):
        return [one.label for one in (*app.text_input, *app.selectbox)]

    (two,) = [one for one in backend.facts["checkpoints"] if one["name"] == "two"]
    two["card"]["kind"] = "decoder"
    both = opened("translation", a="bahdanau.additive", b="two")
    assert {"Source: English", "Trained on"} <= {*fields(both)}
    both.button("panel-a-remove").click().run()
    assert not both.exception
    assert {"Prompt", "Force this continuation"} <= {*fields(both)}
    assert "Trained on" not in fields(both)
    empty = opened("translation", a="two", panels="a", text="")
    assert "what the model makes of it appears here" in words(empty)


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
    (sentence,) = [one.value for one in app.markdown if "zebra" in str(one.value)]
    assert "Not in this model's vocabulary, so their translation is a guess: zebra." in sentence
    assert "looks like" not in words(app)


def test_a_sentence_of_the_language_that_a_model_writes_is_noticed(opened):
    app = opened("translation", a="bahdanau.additive", text="je suis ici")
    assert "This sentence looks like French, but this model reads English." in words(app)


def test_a_checkpoint_that_is_not_here_costs_one_panel(opened, backend):
    app = opened("translation", a="bahdanau.entmax", b="transformer.additive", c="bahdanau.odd",
                 d="bahdanau.additive")  # fmt: skip
    assert "Scoring ‘entmax’ is not installed here" in words(app)
    assert "Model ‘transformer’ is not installed here" in words(app)
    assert "Bahdanau with Odd has not been trained on ‘tatoeba’ here" in words(app)
    assert [request.data for request in asked(backend)] == ["one"]


def test_another_corpus_brings_its_own_models(opened, backend):
    app = opened("translation", text="go .", b="bahdanau.additive", panels="b",
                 map="encoder.1.2")  # fmt: skip
    app.selectbox("translation-corpus").set_value("phrasebook").run()
    assert not app.exception
    assert link(app) == {"text": "go .", "corpus": "phrasebook"}
    assert [request.data for request in asked(backend)][-2:] == ["twin_a", "twin_b"]
    assert len(charts(app)) == 1 + 2


def test_panels_come_and_go(opened):
    app = opened("translation", a="bahdanau.additive", b="bahdanau.bilinear")
    app.button("panel-a-remove").click().run()
    assert link(app) == {"b": "bahdanau.bilinear", "panels": "b"}
    assert [*ways(app)] == ["What does each head of panel b do?"]
    assert ways(app).popitem()[1]["a"] == "bahdanau.bilinear"
    next(button for button in app.button if button.label == "Add a panel").click().run()
    assert link(app) == {"a": "bahdanau.additive", "b": "bahdanau.bilinear"}


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


@pytest.fixture
def transformer(backend):
    """The catalogue also has a Transformer's checkpoint, whose results have maps of all kinds."""
    backend.facts["models"].append(dict(backend.facts["models"][-2], name="transformer"))
    kept = json.loads(json.dumps(backend.facts["checkpoints"][0]))
    kept["name"], kept["card"]["model"] = "transformer_one", "transformer"
    backend.facts["checkpoints"].append(kept)


def grids(app):
    """The titles of all maps of each chart that has several, and the one that it starts with."""
    found = []
    for chart in charts(app):
        params = {param["name"]: param for param in chart.get("params", ())}
        if "names" in params:
            (start,) = params["head"]["value"]
            found.append((params["names"]["value"], start["map"]))
    return found


@pytest.mark.usefixtures("transformer")
def test_a_transformer_shows_every_head_of_every_layer(opened):
    app = opened("translation", a="transformer.additive", b="bahdanau.additive")
    assert not app.exception
    ((names, start),) = grids(app)
    assert len(names) == 2 * (1 + 3)
    assert names[0] == "layer 1 · mean of 3 heads, a summary"
    assert names[-1] == "layer 2 · head 3"
    assert start == "2.mean"
    assert len(charts(app)) == 1 + 2
    assert "click it to see it large" in words(app)


@pytest.mark.usefixtures("transformer")
def test_a_link_opens_a_map_and_one_that_is_not_there_gives_the_usual_one(opened):
    app = opened("translation", a="transformer.additive", b="transformer.additive",
                 map="decoder.2.3", b__map="7.1")  # fmt: skip
    assert [start for _, start in grids(app)] == ["2.3", "2.mean"]
    assert "masked, grey and crossed out" in words(app)


@pytest.mark.usefixtures("transformer")
def test_another_kind_goes_into_the_link_and_a_model_without_it_says_so(opened, backend):
    app = opened("translation", a="transformer.additive", b="bahdanau.additive", a__map="1.2",
                 text="go ·es")  # fmt: skip
    before = len(asked(backend))
    app.button_group("translation-kind").set_value("encoder").run()
    assert not app.exception
    assert link(app) == {"a": "transformer.additive", "b": "bahdanau.additive", "map": "encoder",
                         "text": "go ·es"}  # fmt: skip
    assert "A label that begins with ·" in words(app)
    assert len(asked(backend)) == before
    assert "This model has no self-attention in its encoder" in words(app)
    app.button_group("translation-kind").set_value(None).run()
    assert link(app)["map"] == "encoder"


@pytest.mark.usefixtures("transformer")
def test_bahdanau_alone_has_no_choice_of_kinds(opened):
    app = opened("translation", a="bahdanau.additive")
    assert not [one for one in app.get("button_group") if one.key == "translation-kind"]
    assert grids(app) == []
    assert "click it to see it large" not in words(app)
    app = opened("translation", a="bahdanau.additive", map="encoder")
    assert "This model has no self-attention in its encoder" in words(app)
    assert "click it to see it large" not in words(app)


@pytest.mark.usefixtures("transformer")
def test_a_map_that_is_picked_is_that_of_its_panel(opened):
    app = opened("translation", a="transformer.additive", b="transformer.additive")
    app.selectbox("maps-b-cross-choice").set_value("1.2").run()
    assert link(app) == {"a": "transformer.additive", "b": "transformer.additive", "b.map": "1.2"}
    assert [start for _, start in grids(app)] == ["2.mean", "1.2"]


@pytest.mark.usefixtures("transformer")
def test_a_panel_is_exported_alone_and_on_the_scale_of_the_legend(opened, monkeypatch):
    menus, heights, legends = {}, set(), []

    def menu(asked, event, letter, title, **scale):
        menus[letter] = (asked.request.data, dict(asked.link), title, scale)

    def height(text, *_):
        return heights.add(text) or 300

    monkeypatch.setattr(translation.export, "panel_menu", menu)
    monkeypatch.setattr(translation.maps, "translation_height", height)
    monkeypatch.setattr(translation.maps, "are_signed", lambda _: True)
    monkeypatch.setattr(
        translation.charts, "legend", lambda end, *, signed: legends.append((end, signed))
    )
    app = opened("translation", b="transformer.additive", c="bahdanau.additive", panels="bc",
                 map="encoder", b__map="1.2", text="go .", target="va la !")  # fmt: skip
    assert not app.exception
    same = {"text": "go .", "target": "va la !", "map": "encoder"}
    ends = {"vmax": 1.0}
    one, two = ({"a": f"{model}.additive", **same} for model in ("transformer", "bahdanau"))
    assert menus == {
        "b": ("transformer_one", one, "Translation, Additive · Convolution", ends),
        "c": ("one", two, "Translation, Additive · Bahdanau", ends),
    }
    assert heights == {"va la !"}, "a guess by what is written"
    assert {*legends} == {(1.0, True)}


@pytest.mark.usefixtures("transformer")
def test_a_panel_takes_its_map_along_when_another_one_is_removed(opened):
    app = opened("translation", a="bahdanau.additive", b="transformer.additive", b__map="1.2")
    app.button("panel-a-remove").click().run()
    assert link(app) == {"b": "transformer.additive", "panels": "b", "map": "cross.1.2"}


def test_an_adopted_model_says_where_it_is_from_and_that_its_scoring_stays(catalogue):
    adopted = {"family": "T5", "addition": "a bias joins the scores", "repository": "some/t5",
               "revision": "0123456789abcdef"}  # fmt: skip
    one = catalogue.checkpoints["one"]
    card = {**one.card, "adopted": adopted}
    found = replace(one, name="tiny", title="some/t5", scoring="scaled_dot", card=card)
    assert checkpoint_title("tiny", found, catalogue) == "Scaled dot · T5 · some/t5"
    told = origin(found)
    assert r"some\/t5 at 0123456" in told or "some/t5 at 0123456" in told
    assert "its scoring is its own · a bias joins the scores" in told
    assert "trained on" not in told


def test_a_language_model_says_how_well_it_foretells(catalogue):
    one = catalogue.checkpoints["one"]
    score = {"nats": 1.7227, "accuracy": 0.5529, "words": 7050}
    card = {**one.card, "kind": "decoder", "scores": {"held out": score}}
    assert problem_of(card) == ""
    assert origin(replace(one, card=card)).endswith(
        " · 1.72 nats a token, 55% of the next tokens right (held out)"
    )


def test_scores_near_and_far_and_of_copying_stand_beside_each_other(opened, facts):
    card = facts["checkpoints"][0]["card"]
    card["scores"] = {
        "held out, greedy": {
            "bleu": 44.97, "near": {"sentences": 1082, "bleu": 53.93},
            "far": {"sentences": 921, "bleu": 36.8}, "copied": {"sentences": 2003, "bleu": 22.94},
        }
    }  # fmt: skip
    app = opened("translation")
    (told,) = [one for one in app.caption if "copied" in one.value]
    assert told.value.endswith(r"(held out, greedy): near 53.9, far 36.8, copied 22.9")
    assert "**Near**, 1,082 sentences. The score of" in told.help
    plain = next(one for one in app.caption if "BLEU 47.1" in one.value)
    assert not plain.help


def ways(app):
    """Where the page's links lead, by what they say."""
    return {
        one.proto.label: dict(parse_qsl(one.proto.query_string, keep_blank_values=True))
        for one in app.get("page_link")
    }


@pytest.mark.usefixtures("transformer")
def test_other_pages_look_closer_at_the_same_sentence(opened, catalogue):
    app = opened("translation", a="transformer.additive", b="bahdanau.additive", text="go .",
                 target="va !", map="encoder", a__map="1.2")  # fmt: skip
    same = {"a": "transformer.additive", "corpus": "tatoeba", "text": "go .", "target": "va !",
            "kind": "encoder"}  # fmt: skip
    assert ways(app) == {
        "Where do they differ?": {**same, "b": "bahdanau.additive", "a.map": "1.2"},
        "What does each head of panel a do?": same,
    }
    for page, link in zip(("differences", "heads"), ways(app).values(), strict=True):
        there = opened(page, **{name.replace(".", "__"): value for name, value in link.items()})
        assert not there.exception
        assert "Parts of this link were changed" not in words(there)
        assert there.text_input(f"{page}-text").value == "go ."


@pytest.fixture
def reversing(backend):
    """A model of symbols, trained by a metric of its own."""
    corpus = {"name": "reverse", "trained_on": 90, "sides": ["symbols", "the symbols reversed"],
              "examples": ["a b c", "c b"]}  # fmt: skip
    own = {"name": "exact_match", "title": "Exact match", "value": 87.654, "unit": "%"}
    scores = {"held out, greedy": {"bleu": 12.3, "metric": own}}
    backend.facts["checkpoints"].append({"name": "rev", "fault": "", "card": {
        "title": "reverser", "model": "bahdanau", "scoring": "additive", "corpus": corpus,
        "scores": scores,
    }})  # fmt: skip


def plainly(text):
    return text.replace("\\", "")


def fields(app):
    return {key: app.text_input(f"translation-{key}") for key in ("text", "target")}


def test_what_goes_in_and_out_is_called_as_the_card_says(opened, reversing):
    app = opened("translation")
    text, target = fields(app).values()
    assert (plainly(text.label), text.value) == ("Source: English", "i'm home .")
    assert target.label == "Force this translation"
    assert target.placeholder == "optional: French, the same in every panel"
    app = opened("translation", corpus="reverse")
    assert not app.exception
    text, target = fields(app).values()
    assert (plainly(text.label), text.value) == ("Source: symbols", "a b c")
    assert target.placeholder == "optional: the symbols reversed, the same in every panel"
    assert "English" not in words(app)
    assert "French" not in words(app)
    assert "Exact match 87.7% (held out, greedy)" in plainly(words(app))
    assert "BLEU" not in words(app)


def test_another_corpus_of_other_sides_brings_its_own_sentence(opened, reversing):
    app = opened("translation", text="go .", target="va !")
    app.selectbox("translation-corpus").set_value("reverse").run()
    assert not app.exception
    assert [field.value for field in fields(app).values()] == ["a b c", ""]
    assert link(app) == {"corpus": "reverse"}


def test_results_that_come_while_the_page_is_drawn_draw_it_anew(opened, backend, monkeypatch):
    drawn, answer, kind = [], backend.wait, translation.translations.draw_kind

    def row(*given):
        drawn.append(given)
        return kind(*given)

    def wait(job, timeout):
        early = backend.submitted[job].task == "translation" and not drawn
        return None if early else answer(job, timeout)

    backend.wait = wait
    monkeypatch.setattr(translation.translations, "draw_kind", row)  # above the panels
    app = opened("translation")
    assert not app.exception
    assert len(drawn) == 2
    assert len(charts(app)) == 1 + 3

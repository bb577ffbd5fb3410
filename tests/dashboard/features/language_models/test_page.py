import json

import pytest
from support.readings import language_models

from dashboard.features.language_models import panel
from dashboard.jobs.backend import Event


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def words(app):
    kinds = (app.text, app.caption, app.markdown, app.error, app.warning)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def asked(backend):
    return [one for one in backend.submitted.values() if one.task == "language_models"]


def tokens(app):
    """What each panel's text is made of, as its component gets it."""
    found = [json.loads(one.proto.json) for one in app.get("bidi_component")
             if one.proto.component_name.endswith("tokens")]  # fmt: skip
    return [one["tokens"] for one in found]


@pytest.fixture(autouse=True)
def _models(backend):
    """The catalogue also has language models."""
    backend.facts["checkpoints"] += language_models()


def test_the_first_screen_has_a_text_its_losses_next_words_and_maps(opened, backend, chart_rows):
    app = opened("language_models")
    assert not app.exception
    assert link(app) == {}
    (request,) = asked(backend)
    assert (request.data, dict(request.options)) == ("speaker", {"text": "i am not", "words": 8})
    (text,) = tokens(app)
    assert [one["text"] for one in text] == ["<s>", "i", "am", "not", "on", "·ly"]
    assert [one["loss"] for one in text] == ["–", "0.25", "0.50", "0.75", "1.00", "1.25"]
    assert [one["written"] for one in text] == [False] * 4 + [True] * 2
    assert text[4]["title"] == "on: 1.000 nats, probability 0.368"
    assert text[4]["share"] == 0.125
    assert "**1.25 nats a token**, the mean of all of these: a perplexity of 3.49." in words(app)
    assert "The model wrote the 2 underlined tokens." in words(app)
    (bars,) = [sets for sets in chart_rows(app, "word", "probability") if sets]
    assert [row["word"] for row in bars[0]] == ["on", "*off*", "<eos>"]
    grids = [sets for sets in chart_rows(app, "map", "row", "column") if sets]
    assert [row["map"] for row in grids[0][0]] == [
        f"{layer}.{head}" for layer in (1, 2) for head in ("mean", 1, 2, 3)
    ]


def test_a_text_that_ended_where_the_model_reads_no_more_says_so(opened):
    assert "It stopped at" not in words(opened("language_models"))
    said = words(opened("language_models", text="stop here"))
    assert "It stopped at the 11 tokens that this model reads." in said


def test_an_encoder_without_a_mask_says_why_no_token_has_a_loss(opened):
    said = words(opened("language_models", a="reader", text="bare"))
    assert "No token has a loss: an encoder's is computed where a token is masked" in said
    assert "where it alone is masked" not in said
    assert "trained on 1,601 texts" in said


def test_prompt_and_settings_go_into_link_and_request(opened, backend):
    app = opened("language_models")
    app.text_area("language_models-text").set_value("where  is\nit ").run()
    app.slider("language_models-words").set_value(0).run()
    app.selectbox("language_models-scale").set_value("log").run()
    app.toggle("language_models-leave_out_first").set_value(True).run()
    assert not app.exception
    given = {"text": "where  is\nit", "words": "0", "scale": "log", "leave_out_first": "1"}
    assert link(app) == given
    assert dict(asked(backend)[-1].options) == {"text": "where  is\nit", "words": 0}
    assert len(asked(backend)) == 3  # looks ask for nothing
    assert "underlined" not in words(app)


def test_the_first_token_does_not_count_for_the_end_of_the_colours(opened, chart_rows):
    def end(**given):
        app = opened("language_models", text="go", words="0", **given)
        (found,) = [sets for sets in chart_rows(app, "vmax", "top") if sets]
        return found[0][0]["vmax"]

    # The second of two tokens gives a quarter to itself, and the rest to the first.
    assert end() == 1.0
    assert end(leave_out_first="1") == 0.25


def test_two_prompts_stand_side_by_side_and_one_of_them_goes(opened, backend):
    app = opened("language_models", a="speaker", b="speaker", b__text="where is")
    assert [dict(one.options)["text"] for one in asked(backend)] == ["i am not", "where is"]
    assert [len(one) for one in tokens(app)] == [6, 5]
    app.text_area("language_models-b-text").set_value("").run()
    assert link(app) == {"a": "speaker", "b": "speaker"}
    app.text_area("language_models-a-text").set_value("go").run()
    assert link(app) == {"a": "speaker", "b": "speaker", "a.text": "go"}
    app.button("panel-b-remove").click().run()
    assert not app.exception
    assert link(app) == {"text": "go"}
    assert app.text_area("language_models-text").value == "go"


def test_an_encoder_has_candidates_for_its_masks_and_says_how_to_write_one(opened, backend):
    app = opened("language_models", a="reader", text="go [MASK] [MASK] now")
    assert not app.exception
    assert "**Token 3**, masked" in words(app)
    assert "**Token 4**, masked" in words(app)
    assert "where it alone is masked" in words(app)
    assert dict(asked(backend)[-1].options)["words"] == 0
    said = words(opened("language_models", a="reader", text="go"))
    assert r"Write \[MASK\] in place of a word" in said
    many = words(opened("language_models", a="reader", text="[MASK] " * 7))
    assert "3 more masks: their candidates are in the exported table." in many


def test_a_long_text_has_blocks_and_the_chosen_map_is_whole(opened, backend, chart_rows):
    app = opened("language_models", text="a b c d e f g h i j k l m", a__map="2.3")
    assert not app.exception
    assert "Of 16 tokens, up to 2 stand in one row and one column" in words(app)
    assert [dict(one.options).get("map", "") for one in asked(backend)] == ["", "2.3"]
    (cells,) = [sets for sets in chart_rows(app, "q", "k", "value") if sets]
    assert len(cells[0]) == 16 * 16
    opened("language_models", text="a b c d e f g h i j k l m", a__map="7.1")
    assert dict(asked(backend)[-1].options)["map"] == "2.mean"


def test_unknown_words_are_named(opened):
    assert "Not in this model's vocabulary: zebra." in words(
        opened("language_models", text="zebra go")
    )


def test_what_cannot_be_read_costs_one_panel(opened, backend):
    backend.failing["talker"] = Event(number=3, stage="failed", note="odd.py raised KeyError")
    app = opened("language_models", a="speaker", b="talker", c="gone", d="speaker",
                 d__text="no " * 1_200)  # fmt: skip
    assert not app.exception
    said = words(app)
    assert "odd.py raised KeyError" in said
    assert "There is no language model gone here. If it was adopted" in said
    assert "the prompt has too many tokens; this model reads at most 1000" in said
    assert len(tokens(app)) == 1


def test_an_empty_prompt_says_so(opened, backend):
    app = opened("language_models", text="")
    assert "The prompt is empty: write one, and the next words appear here." in words(app)
    assert asked(backend) == []


def test_without_a_language_model_the_page_says_how_to_adopt_one(opened, backend):
    backend.facts["checkpoints"] = [
        one for one in backend.facts["checkpoints"] if not one["card"].get("kind")
    ]
    app = opened("language_models")
    assert not app.exception
    assert "from a folder or by its name" in words(app)
    assert app.code[0].value == "python -m attention_plugins adopt FOLDER_OR_NAME"
    assert asked(backend) == []


def test_a_link_leads_to_the_heads_of_the_model_with_its_text(opened):
    app = opened("language_models", a="reader", text="go [MASK]")
    (found,) = [one for one in app.get("page_link") if "heads" in one.proto.page]
    assert found.proto.label == "What does each head of panel a do?"
    assert "a=reader&kind=encoder&text=go+%5BMASK%5D" in found.proto.query_string
    assert not [one for one in opened("language_models", text="go " * 80).get("page_link")
                if "heads" in one.proto.page]  # fmt: skip


def test_heads_offers_language_models(opened, backend):
    app = opened("heads", a="speaker", kind="decoder", text="go")
    assert not app.exception
    assert {one.data for one in backend.submitted.values() if one.task == "heads"} == {"speaker"}
    assert "speaker" in app.selectbox("heads-model").value


def test_the_deepest_shade_is_that_of_eight_nats_and_more():
    given = {"token": "a", "written": False}
    assert [panel._token({**given, "loss": loss})["share"] for loss in (4.0, 8.0, 20.0)] == [
        0.5, 1.0, 1.0,
    ]  # fmt: skip


def test_a_certain_token_has_no_loss_below_0():
    told = panel._token({"token": "<eos>", "loss": -0.0, "written": True})
    assert told["loss"] == "0.00"
    assert "-0" not in told["title"]
    assert "−0" not in told["title"]

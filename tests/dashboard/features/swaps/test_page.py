"""The page shows what is shipped at once, and swaps in a model that is here when asked to."""

import pytest

from dashboard.jobs.backend import Event
from tests.dashboard.features.swaps.test_view import adopted


def link(app):
    given = app.query_params.items()
    return {key: value if isinstance(value, str) else value[-1] for key, value in given}


def words(app):
    kinds = (app.text, app.caption, app.markdown, app.header)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def asked(backend):
    return [one for one in backend.submitted.values() if one.task == "swaps"]


@pytest.fixture
def facts(facts):
    return adopted(facts)


def test_the_first_screen_has_the_shipped_table_sentences_texts_and_maps(
    opened, backend, chart_rows
):
    app = opened("swaps")
    assert not app.exception
    assert link(app) == {}
    (request,) = asked(backend)
    assert request.data == "shipped:stories260K"
    said = words(app)
    assert "Untuned: the original has" in said
    assert "stories of 64 tokens that the model told itself" in said
    (table,) = [one.value for one in app.dataframe]
    assert len(table) == 11
    assert table.columns.tolist() == ["swap", "untuned", "tuned at 0.001", "tuned at 0.003"]
    assert table["swap"][0] == "the original"
    assert "Once upon a time" in said
    assert len([sets for sets in chart_rows(app, "q", "k") if sets]) == 2


def test_what_is_beside_the_original_is_in_the_link(opened, backend):
    app = opened("swaps", model="shipped:gpt-nano-sort")
    app.selectbox("swaps-beside").set_value("additive").run()
    app.selectbox("swaps-when").set_value("untuned").run()
    app.number_input("swaps-layer").set_value(2).run()
    assert not app.exception
    assert link(app) == {
        "model": "shipped:gpt-nano-sort", "beside": "additive", "when": "untuned", "layer": "2",
    }  # fmt: skip
    assert "**Additive** · untuned" in words(app).replace("\\", "")
    assert len(asked(backend)) == 1


def test_a_swap_of_ones_own_is_begun_by_a_button(opened, backend):
    app = opened("swaps", model="speaker", scorings="additive")
    assert not app.exception
    assert asked(backend) == []
    (begin,) = [one for one in app.button if one.label.startswith("Swap and tune")]
    begin.click().run()
    (request,) = asked(backend)
    assert dict(request.options)["scorings"] == "additive"
    assert "Untuned: the original has" in words(app)


def test_a_formula_is_swapped_in_by_its_spelling(opened, backend):
    app = opened("swaps", model="speaker", scorings="cosine,=-|q - k|")
    assert not app.exception
    next(one for one in app.button if one.label.startswith("Swap and tune")).click().run()
    (request,) = asked(backend)
    assert dict(request.options)["scorings"] == "cosine\n=-norm(q - k)"


def test_what_is_refused_is_one_sentence_and_so_is_a_job_on_its_way(opened, backend):
    app = opened("swaps", model="speaker", scorings="additive", text="short")
    next(one for one in app.button if one.label.startswith("Swap and tune")).click().run()
    assert "need a text of at least 96 tokens, got 1" in words(app)
    assert "There is no model nowhere here" in words(opened("swaps", model="nowhere"))
    assert "Choose at least one scoring." in words(
        opened("swaps", model="speaker", scorings="none")
    )
    backend.failing["shipped:gpt-nano-sort"] = Event(number=1, stage="failed", note="it is broken")
    app = opened("swaps", model="shipped:gpt-nano-sort")
    assert not app.exception
    assert "it is broken" in words(app)


def test_without_results_and_models_it_says_how_to_adopt_one(opened, backend):
    backend.facts["checkpoints"] = []
    del backend.facts["options"]["swaps"][-1]  # the shipped results
    app = opened("swaps")
    assert not app.exception
    assert "Nothing to swap in yet" in words(app)
    assert "adopt" in app.code[0].value

"""The page shows what is shipped at once, and swaps in a model that is here when asked to."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from support import pages

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


def test_another_model_is_looked_at_from_its_first_swap_and_layer(opened):
    app = opened("swaps", model="shipped:gpt-nano-sort", beside="additive", layer="3")
    assert not app.slider
    assert not [one for one in app.multiselect if "Scorings" in one.label], "of what is shipped"
    app.selectbox("swaps-model").set_value("shipped:stories260K").run()
    assert not app.exception
    assert link(app) == {}
    app = opened("swaps", beside="nobody", layer="99")
    assert not app.exception
    assert app.number_input("swaps-layer").value == app.number_input("swaps-layer").max == 5
    first = app.selectbox("swaps-beside").value
    app.selectbox("swaps-beside").set_value("additive").run()
    app.selectbox("swaps-beside").set_value(first).run()
    assert "beside" not in link(app)


def test_what_a_swap_writes_and_what_went_wrong_are_told(opened, backend, monkeypatch):
    computed = pages.swapped

    def changed(request, context):
        made = computed(request, context)
        texts = made.tables["texts"].to_pylist()
        texts = [{**one, "text": "" if one["when"] == "tuned" else "what *it* wrote"}
                 for one in texts]  # fmt: skip
        kept = made.tables["maps"].filter(pc.field("layer") == 0)
        tables = {**made.tables, "maps": kept, "texts": pa.Table.from_pylist(texts)}
        facts = {**made.facts, "problems": {"": "it was slow", "odd": "it broke"}}
        return replace(made, tables=tables, facts=facts)

    monkeypatch.setattr(pages, "swapped", changed)
    tuned = words(opened("swaps"))
    assert tuned.count("It writes nothing.") == 2
    assert "the original: it was slow" in tuned
    assert "odd: it broke" in tuned
    untuned = words(opened("swaps", when="untuned"))
    assert untuned.count("what *it* wrote") == 2
    assert "It writes nothing." not in untuned


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

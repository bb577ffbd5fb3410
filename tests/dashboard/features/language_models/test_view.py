import copy
from dataclasses import replace
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.catalogue import FACTS
from support.readings import language_models

from dashboard.features.language_models.view import (
    LINK,
    PROMPT,
    LanguageModels,
    alone,
    default_view,
    fitted,
    models_of,
    prompts_of,
    requests,
    with_prompts,
    without,
    work,
)
from dashboard.links.panels import with_maps
from dashboard.records.catalogue import Catalogue
from dashboard.records.text import LONGEST_PASSAGE, lines


@pytest.fixture(scope="module")
def catalogue():
    facts = copy.deepcopy(FACTS)
    facts["checkpoints"] += language_models()
    return Catalogue.of(facts)


@st.composite
def views(draw):
    panels = st.sampled_from(["speaker", "talker", "reader", "not_here"])
    texts = st.text(max_size=250).map(lambda text: lines(text, LONGEST_PASSAGE))
    chosen = tuple(draw(st.lists(panels, min_size=1, max_size=4)))
    view = LanguageModels(
        panels=chosen, text=draw(texts), words=draw(st.integers(0, 64)),
        scale=draw(st.sampled_from(["linear", "log"])), leave_out_first=draw(st.booleans()),
        device=draw(st.sampled_from(["auto", "cpu"])),
    )  # fmt: skip
    own = {letter: draw(texts) for letter in view.by_letter}
    maps = st.sampled_from(["", "1.1", "12.mean"])
    return fitted(with_maps(with_prompts(view, own), draw(st.lists(maps, max_size=len(chosen)))))


@given(view=views())
def test_a_link_restores_the_view(catalogue, view):
    link = parse_qs(urlencode(LINK.format(view, catalogue)), keep_blank_values=True)
    assert LINK.parse(link, catalogue) == (view, [])


def test_the_bare_link_shows_the_first_decoder_and_its_first_example_of_words(catalogue):
    usual = default_view(catalogue)
    assert LINK.parse({}, catalogue) == (usual, [])
    assert LINK.format(usual, catalogue) == {}
    assert (usual.panels, usual.text, usual.words) == (("speaker",), "i am not", 8)
    assert [*models_of(catalogue)] == ["speaker", "talker", "reader"]
    assert default_view(Catalogue.of(FACTS)).text == PROMPT
    facts = copy.deepcopy(FACTS)
    facts["checkpoints"] += reversed(language_models())
    assert default_view(Catalogue.of(facts)).panels == ("speaker",)


def test_a_panel_has_its_own_prompt_or_that_of_all(catalogue):
    link = {"a": "speaker", "b": "reader", "c": "talker", "text": "go", "b.text": "a\n[MASK]"}
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    assert prompts_of(view) == {"a": "go", "b": "a\n[MASK]", "c": "go"}
    asked = requests(view, catalogue)
    assert {one.data: dict(one.options) for one in asked.values()} == {
        "speaker": {"text": "go", "words": 8}, "reader": {"text": "a\n[MASK]", "words": 0},
        "talker": {"text": "go", "words": 8},
    }  # fmt: skip
    assert prompts_of(without(view, "a")) == {"b": "a\n[MASK]", "c": "go"}
    last = without(without(view, "a"), "c")
    assert (last.text, last.prompts, last.by_letter) == ("a\n[MASK]", (), {"b": "reader"})
    assert alone(view, "c") == replace(view, panels=("talker",), prompts=())


def test_looks_are_no_part_of_a_request(catalogue):
    view = default_view(catalogue)
    other = replace(view, scale="log", leave_out_first=True, selected=("1.2",))
    assert requests(view, catalogue) == requests(other, catalogue)
    assert requests(replace(view, text=""), catalogue) == {}
    more = requests(replace(view, text="word " * 99, words=64), catalogue)["a"]
    assert work(more) > work(requests(view, catalogue)["a"]) > 0


def test_what_is_wrong_in_a_link_is_named(catalogue):
    _, problems = LINK.parse({"a": "No Model", "words": "65", "scale": "root"}, catalogue)
    assert len(problems) == 3
    assert "the name of a language model such as stories260k" in problems[0]
    long = {"text": "a" * 100_000}
    view, problems = LINK.parse(long, catalogue)
    assert problems == ["text has 100,000 characters; the first 6000 are used"]
    assert len(view.text) == LONGEST_PASSAGE

"""Links of the page, and what they ask for."""

import copy
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.catalogue import FACTS
from support.readings import language_models

from dashboard.features.swaps.view import LINK, Swaps, models_of, requests, work
from dashboard.records.catalogue import Catalogue
from dashboard.records.text import LONGEST_PASSAGE, lines, one_line


def adopted(facts):
    """The catalogue's facts with an adopted decoder, ``speaker``."""
    facts = copy.deepcopy(facts)
    facts["checkpoints"] += language_models()[:2]
    facts["checkpoints"][-2]["card"]["adopted"] = {
        "family": "Llama", "addition": "", "repository": "", "revision": "",
    }  # fmt: skip
    return facts


@pytest.fixture(scope="module")
def catalogue():
    return Catalogue.of(adopted(FACTS))


@st.composite
def views(draw):
    names = st.sampled_from(["additive", "cosine", "not_here", "=dot(q, k)"])
    return Swaps(
        model=draw(st.sampled_from(["shipped:gpt-nano-sort", "speaker", "not_here"])),
        scorings=tuple(draw(st.lists(names, max_size=4, unique=True))),
        text=draw(st.text(max_size=250).map(lambda text: lines(text, LONGEST_PASSAGE))),
        steps=draw(st.integers(1, 40)) * 5, seeds=draw(st.integers(1, 12)),
        beside=draw(st.text(max_size=40).map(one_line)),
        when=draw(st.sampled_from(["tuned", "untuned"])), layer=draw(st.integers(1, 99)),
        normaliser=draw(st.sampled_from(["softmax", "sparsemax"])),
    )  # fmt: skip


@settings(max_examples=30)
@given(view=views())
def test_a_link_restores_the_view(catalogue, view):
    link = parse_qs(urlencode(LINK.format(view, catalogue)), keep_blank_values=True)
    assert LINK.parse(link, catalogue) == (view, [])


def test_shipped_results_come_first_and_then_adopted_models(catalogue):
    names = models_of(catalogue)
    assert names[0] == "shipped:stories260K"
    assert "shipped:gpt-nano-sort" in names
    assert names[-1] == "speaker"
    assert "talker" not in names  # the workbench's own: no model of transformers
    (asked,) = requests(LINK.parse({}, catalogue)[0], catalogue)
    assert (asked.data, asked.options) == ("shipped:stories260K", ())


def test_a_swap_of_ones_own_waits_for_a_button_and_shipped_results_do_not(catalogue):
    view, problems = LINK.parse(
        {"model": "speaker", "scorings": "additive", "normaliser": "sparsemax", "seeds": "2"},
        catalogue,
    )
    assert not problems
    (asked,) = requests(view, catalogue)
    assert dict(asked.options) == {
        "scorings": "additive", "normaliser": "sparsemax", "text": "",
        "steps": 20, "seeds": 2,
    }  # fmt: skip
    assert work(asked) > 6 > work(requests(LINK.parse({}, catalogue)[0], catalogue)[0])
    more = LINK.parse({"model": "speaker", "scorings": "additive,cosine"}, catalogue)[0]
    assert work(requests(more, catalogue)[0]) > work(asked)


@pytest.mark.parametrize("link", [
    {"model": "no such thing!"}, {"steps": "1e9"}, {"seeds": "-4"}, {"layer": "x"},
    {"when": "never"}, {"scorings": "a,b,c,d,e"},
])  # fmt: skip
def test_a_bad_link_says_what_is_wrong_in_one_sentence(catalogue, link):
    view, problems = LINK.parse(link, catalogue)
    assert len(problems) == 1
    assert requests(view, catalogue)


def test_nothing_is_asked_of_a_model_that_is_not_here_or_without_a_scoring(catalogue):
    for link in ({"model": "not_here"}, {"model": "speaker", "scorings": "none"}):
        view, problems = LINK.parse(link, catalogue)
        assert not problems
        assert requests(view, catalogue) == []


def test_the_text_and_the_device_are_asked_for_and_the_usual_normaliser_is_not_named(catalogue):
    link = {"model": "speaker", "scorings": "additive", "text": "Once", "device": "cpu"}
    (asked,) = requests(LINK.parse(link, catalogue)[0], catalogue)
    assert asked.device == "cpu"
    assert {"text": "Once", "normaliser": ""}.items() <= dict(asked.options).items()


def test_the_work_is_that_of_the_original_and_every_swap_at_both_rates(catalogue):
    link = {"model": "speaker", "scorings": "additive,cosine", "steps": "10", "seeds": "2"}
    (asked,) = requests(LINK.parse(link, catalogue)[0], catalogue)
    assert work(asked) == pytest.approx(4 + 0.03 * 10 * 2 * 3 * 2)

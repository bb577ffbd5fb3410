from dataclasses import replace
from itertools import combinations
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.features.differences.view import (
    LINK,
    Differences,
    default_view,
    pairs_of,
    without_panel,
)
from dashboard.links.fits import usual_panels
from dashboard.links.panels import selected_maps, with_maps
from dashboard.records.interventions import KINDS
from dashboard.records.text import one_line


@st.composite
def views(draw):
    names = ["bahdanau.additive", "bahdanau.scaled_dot", "bahdanau.from_a_friend"]
    panels = tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=4)))
    letters = draw(st.sampled_from(["", *map("".join, combinations("abcd", len(panels)))]))
    view = Differences(
        corpus="tatoeba",
        panels=panels,
        letters="" if "abcd".startswith(letters) else letters,
        kind=draw(st.sampled_from(KINDS)),
        text=one_line(draw(st.text(max_size=40))),
        target=one_line(draw(st.text(max_size=40))),
        device=draw(st.sampled_from(["auto", "cpu"])),
    )
    view = replace(view, pair=draw(st.sampled_from(["", *pairs_of(view)[1:]])))
    maps = st.sampled_from(["", "1.1", "2.3", "12.mean"])
    return with_maps(view, draw(st.lists(maps, max_size=len(panels))))


@given(view=views())
def test_a_link_restores_the_view(catalogue, view):
    link = parse_qs(urlencode(LINK.format(view, catalogue)), keep_blank_values=True)
    assert LINK.parse(link, catalogue) == (view, [])


def test_the_bare_address_shows_the_usual_models_of_translation(catalogue):
    view, problems = LINK.parse({}, catalogue)
    assert problems == []
    assert view == default_view(catalogue)
    assert view.panels == usual_panels(catalogue, "tatoeba")
    assert LINK.format(view, catalogue) == {}


@pytest.mark.parametrize(
    ("pair", "letter", "left"),
    [("b-c", "a", ""), ("b-d", "a", "b-d"), ("b-d", "c", "b-d"), ("a-d", "b", "a-d"),
     ("b-d", "d", ""), ("a-c", "d", "a-c")],
)  # fmt: skip
def test_without_a_panel_the_pair_is_forgotten_with_one_of_its_two(pair, letter, left):
    names = ["bahdanau.additive", "bahdanau.scaled_dot", "bahdanau.dot", "transformer.dot"]
    view = Differences(corpus="tatoeba", panels=tuple(names), pair=pair)
    fewer = without_panel(view, letter)
    assert fewer.panels == tuple(name for name in names if name != names["abcd".index(letter)])
    assert fewer.pair == left


def test_every_parameter_of_a_link(catalogue):
    link = {
        "a": "bahdanau.additive", "b": "bahdanau.bilinear", "c": "bahdanau.additive",
        "text": "go .", "target": "va !", "kind": "encoder", "pair": "b-c", "a.map": "2.3",
        "c.map": "1.mean",
    }  # fmt: skip
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    assert view.pair == "b-c"
    assert selected_maps(view) == {"a": "2.3", "b": "", "c": "1.mean"}
    assert LINK.format(view, catalogue) == link


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"kind": "pooling"}, "kind=‘pooling’: need one of cross, encoder, decoder, so cross is"),
        ({"pair": "a-d"}, "pair=‘a-d’: need a-b, a-c, b-c; ignored"),
        ({"pair": "b-a"}, "pair=‘b-a’: need a-b"),
        ({"a": "bahdanau.additive", "pair": "a-b"}, "pair=‘a-b’: there is one panel; ignored"),
        ({"b.map": "1.1", "a": "bahdanau.additive"}, "unknown parameter ‘b.map’: ignored"),
        ({"beam": "3"}, "unknown parameter ‘beam’: ignored"),
        ({"corpus": "moon"}, "corpus=‘moon’: need one of tatoeba, phrasebook"),
    ],
)
def test_every_refused_parameter_is_named(catalogue, query, named):
    view, problems = LINK.parse(query, catalogue)
    assert any(named in sentence for sentence in problems)
    assert view.pair == ""
    assert view.kind == "cross"


def test_the_usual_pair_may_be_named(catalogue):
    assert LINK.parse({"pair": "a-b"}, catalogue) == (default_view(catalogue), [])


def test_the_usual_pair_or_one_that_is_not_there_stands_in_no_link(catalogue):
    view = Differences(corpus="tatoeba", panels=("bahdanau.additive", "bahdanau.dot"))
    for pair in ("a-b", "a-c"):
        assert "pair" not in LINK.format(replace(view, pair=pair), catalogue)

from dataclasses import replace
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.runs.differences_link import (
    Differences,
    default_differences,
    format_differences,
    pairs_of,
    parse_differences,
)
from dashboard.runs.reader import tidy
from dashboard.runs.translation_link import KINDS, default_translation, spots_of, with_spots


@st.composite
def views(draw):
    names = ["bahdanau.additive", "bahdanau.scaled_dot", "bahdanau.from_a_friend"]
    panels = tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=4)))
    view = Differences(
        corpus="tatoeba",
        panels=panels,
        kind=draw(st.sampled_from(KINDS)),
        text=tidy(draw(st.text(max_size=40))),
        target=tidy(draw(st.text(max_size=40))),
        device=draw(st.sampled_from(["auto", "cpu"])),
    )
    view = replace(view, pair=draw(st.sampled_from(["", *pairs_of(view)[1:]])))
    spots = st.sampled_from(["", "1.1", "2.3", "12.mean"])
    return with_spots(view, draw(st.lists(spots, max_size=len(panels))))


@given(view=views())
def test_a_link_restores_the_view(catalogue, view):
    link = parse_qs(urlencode(format_differences(view, catalogue)), keep_blank_values=True)
    assert parse_differences(link, catalogue) == (view, [])


def test_the_bare_address_shows_the_usual_models_of_translation(catalogue):
    view, problems = parse_differences({}, catalogue)
    assert problems == []
    assert view == default_differences(catalogue)
    assert view.panels == default_translation(catalogue).panels
    assert format_differences(view, catalogue) == {}


def test_every_parameter_of_a_link(catalogue):
    link = {
        "a": "bahdanau.additive", "b": "bahdanau.bilinear", "c": "bahdanau.additive",
        "text": "go .", "target": "va !", "kind": "encoder", "pair": "b-c", "a.map": "2.3",
        "c.map": "1.mean",
    }  # fmt: skip
    view, problems = parse_differences(link, catalogue)
    assert problems == []
    assert (view.pair, spots_of(view)) == ("b-c", ("2.3", "", "1.mean"))
    assert format_differences(view, catalogue) == link


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"kind": "pooling"}, "kind=‘pooling’ is not cross, encoder, decoder; cross is used"),
        ({"pair": "a-d"}, "pair=‘a-d’ is not two of the panels: a-b, a-c, b-c are offered"),
        ({"pair": "b-a"}, "pair=‘b-a’ is not two of the panels"),
        ({"a": "bahdanau.additive", "pair": "a-b"}, "there is one panel; ignored"),
        ({"b.map": "1.1", "a": "bahdanau.additive"}, "unknown parameter ‘b.map’: ignored"),
        ({"beam": "3"}, "unknown parameter ‘beam’: ignored"),
        ({"corpus": "moon"}, "corpus=‘moon’; offered: tatoeba, phrasebook"),
    ],
)
def test_every_mended_parameter_is_named(catalogue, query, named):
    view, problems = parse_differences(query, catalogue)
    assert any(named in sentence for sentence in problems)
    assert view.pair == ""
    assert view.kind == "cross"


def test_the_usual_pair_may_be_named(catalogue):
    assert parse_differences({"pair": "a-b"}, catalogue) == (default_differences(catalogue), [])

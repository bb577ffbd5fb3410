from dataclasses import replace
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.features.translation.view import BEAM, LINK, Translation, default_view, requests
from dashboard.links.panels import selected_maps, with_maps
from dashboard.records.interventions import KINDS
from dashboard.records.text import one_line


@st.composite
def translations(draw, catalogue):
    corpus = draw(st.sampled_from(catalogue.corpora()))
    offered = {
        "tatoeba": ["bahdanau.additive", "bahdanau.scaled_dot", "bahdanau.bilinear"],
        "phrasebook": ["twin_a", "twin_b"],
    }[corpus]
    panels = st.sampled_from([*offered, "bahdanau.from_a_friend", "transformer.additive"])
    chosen = tuple(draw(st.lists(panels, min_size=1, max_size=4)))
    maps = st.sampled_from(["", "1.1", "2.3", "12.mean", "99.99"])
    beam = BEAM.bounds(default_view(catalogue), catalogue)
    view = Translation(
        corpus=corpus,
        panels=chosen,
        kind=draw(st.sampled_from(KINDS)),
        text=one_line(draw(st.text(max_size=250))),
        target=one_line(draw(st.text(max_size=40))),
        beam=draw(st.integers(int(beam.low), int(beam.high))),
        device=draw(st.sampled_from(["auto", "cpu"])),
    )
    return with_maps(view, draw(st.lists(maps, max_size=len(chosen))))


def through_the_address_bar(link):
    return parse_qs(urlencode(link), keep_blank_values=True)


@given(data=st.data())
def test_a_link_restores_the_view(catalogue, data):
    view = data.draw(translations(catalogue))
    link = through_the_address_bar(LINK.format(view, catalogue))
    assert LINK.parse(link, catalogue) == (view, [])


def test_the_bare_link_is_short(catalogue):
    usual = default_view(catalogue)
    assert LINK.format(usual, catalogue) == {}
    assert LINK.parse({}, catalogue) == (usual, [])
    assert usual.panels == ("bahdanau.additive", "bahdanau.scaled_dot", "bahdanau.bilinear")


def test_a_map_for_all_panels_is_written_once_and_others_with_their_panel(catalogue):
    usual = default_view(catalogue)
    encoder = replace(usual, kind="encoder")
    links = {
        (): {"map": "encoder"},
        ("2.3", "2.3", "2.3"): {"map": "encoder.2.3"},
        ("", "2.3"): {"map": "encoder", "b.map": "2.3"},
    }
    for maps, link in links.items():
        assert LINK.format(with_maps(encoder, maps), catalogue) == link
    given = {
        "a": "bahdanau.additive",
        "c": "bahdanau.bilinear",
        "map": "cross.1.2",
        "c.map": "2.1",
    }
    view, problems = LINK.parse(given, catalogue)
    assert problems == []
    assert (view.kind, view.selected) == ("cross", ("1.2", "2.1"))
    view, _ = LINK.parse({"b.map": "1.2"}, catalogue)
    assert selected_maps(view) == {"a": "", "b": "1.2", "c": ""}


def test_the_map_that_is_shown_large_is_no_part_of_the_request(catalogue):
    view = default_view(catalogue)
    other = with_maps(replace(view, kind="decoder"), ["1.2"])
    assert len(requests(view, catalogue)) == 3
    assert requests(view, catalogue) == requests(other, catalogue)


def test_an_empty_sentence_is_kept_and_not_replaced_by_the_example(catalogue):
    view = replace(default_view(catalogue), text="")
    link = through_the_address_bar(LINK.format(view, catalogue))
    assert LINK.parse(link, catalogue)[0].text == ""
    assert requests(view, catalogue) == {}


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"a": "../x"}, "a=‘../x’: need model.scoring such as bahdanau.additive; ignored"),
        ({"corpus": "moon"}, "corpus=‘moon’: need one of tatoeba, phrasebook, so tatoeba is used"),
        (
            {"map": "pooling"},
            "map=‘pooling’: need cross, encoder, decoder, alone or with a layer and a head such",
        ),
        ({"map": "cross.0.1"}, "map=‘cross.0.1’: need cross"),
        ({"map": "cross."}, "map=‘cross.’: need cross"),
        ({"a.map": "2"}, "a.map=‘2’: need a layer and a head such as 2.3 or 2.mean; ignored"),
        ({"a": "bahdanau.additive", "b.map": "1.1"}, "unknown parameter ‘b.map’: ignored"),
        ({"beam": "13"}, "beam=‘13’: need 1 <= beam <= 12, so 12 is used"),
        ({"text": "x" * 10_000}, "text has 10,000 characters; the first 200 are used"),
    ],
)
def test_every_refused_parameter_is_named(catalogue, query, named):
    _, problems = LINK.parse(query, catalogue)
    assert any(named in sentence for sentence in problems)


def test_two_checkpoints_of_one_kind_go_by_their_own_names(catalogue):
    view, problems = LINK.parse({"corpus": "phrasebook", "a": "twin_b"}, catalogue)
    assert problems == []
    assert view.panels == ("twin_b",)
    assert LINK.parse({"a": "one"}, catalogue)[0].panels == ("bahdanau.additive",)


def test_an_adopted_model_stands_beside_those_of_every_corpus_by_its_own_name(catalogue):
    one = catalogue.checkpoints["one"]
    card = {**one.card, "adopted": {"family": "Marian"}, "corpus": {"name": "elsewhere"}}
    theirs = [
        replace(one, name=f"opus_{n}", model="huggingface_marian", corpus="elsewhere", card=card)
        for n in range(9)
    ]
    more = replace(catalogue, checkpoints=catalogue.checkpoints | {c.name: c for c in theirs})
    assert more.corpora() == (*catalogue.corpora(), "elsewhere")
    assert default_view(more) == default_view(catalogue)
    query = {"a": "bahdanau.additive", "b": "opus_3"}
    view, problems = LINK.parse(query, more)
    assert problems == []
    assert LINK.format(view, more) == query
    assert requests(view, more)["b"].data == "opus_3"
    elsewhere, _ = LINK.parse({"corpus": "elsewhere"}, more)
    assert elsewhere.panels == ("opus_0", "opus_1", "opus_2")


def test_a_name_that_could_be_a_checkpoints_stays_so_that_its_panel_can_speak(catalogue):
    assert LINK.parse({"a": "additive"}, catalogue) == (
        replace(default_view(catalogue), panels=("additive",)),
        [],
    )

import math
from dataclasses import replace
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.runs.link_parts import LETTERS, pairs
from dashboard.runs.offers import Knob, shown
from dashboard.runs.reader import LONGEST_TEXT, tidy
from dashboard.runs.regression_link import (
    MODEL,
    Regression,
    RegressionPanel,
    data_knobs,
    default_regression,
    fitting_knobs,
    format_regression,
    panel_knobs,
    parse_regression,
    regression_request,
)
from dashboard.runs.translation_link import (
    KINDS,
    Translation,
    beam_knob,
    default_translation,
    format_translation,
    parse_translation,
    resolve,
    spots_of,
    translation_request,
    with_spots,
)

UPLOAD = "upload:" + "0123456789abcdef" * 4


def values(draw, knobs):
    return pairs({knob.name: draw(value(knob)) for knob in knobs})


def value(knob: Knob):
    if isinstance(knob.default, bool):
        return st.booleans()
    if isinstance(knob.default, str):
        return st.sampled_from(knob.choices)
    if knob.whole:
        return st.integers(int(knob.low), int(knob.high))
    return st.floats(knob.low, knob.high)


@st.composite
def regressions(draw, catalogue):
    panels = []
    for _ in range(draw(st.integers(1, 4))):
        scoring = draw(st.sampled_from([*catalogue.scorings, "from_a_friend"]))
        if scoring not in catalogue.scorings:
            kept = {"alpha": draw(st.sampled_from(["1.5", "entropy"]))}
            panels.append(RegressionPanel(scoring=scoring, parameters=pairs(kept)))
            continue
        panel = RegressionPanel(
            scoring=scoring, model=draw(st.sampled_from([MODEL, "other_model"]))
        )
        learn = catalogue.scorings[scoring].learns and draw(st.booleans())
        panels.append(
            replace(
                panel,
                parameters=values(draw, panel_knobs(catalogue, panel)),
                learn=learn,
                fitting=values(draw, fitting_knobs(catalogue)) if learn else (),
            )
        )
    data = draw(st.sampled_from(["sine", "step", "clash", UPLOAD]))
    return Regression(
        panels=tuple(panels),
        data=data,
        settings=values(draw, data_knobs(catalogue, data)),
        seed=draw(st.integers(0, 9999)),
        device=draw(st.sampled_from(["auto", "cpu"])),
    )


@st.composite
def translations(draw, catalogue):
    corpus = draw(st.sampled_from(catalogue.corpora()))
    offered = {
        "tatoeba": ["bahdanau.additive", "bahdanau.scaled_dot", "bahdanau.bilinear"],
        "phrasebook": ["twin_a", "twin_b"],
    }[corpus]
    panels = st.sampled_from([*offered, "bahdanau.from_a_friend", "transformer.additive"])
    chosen = tuple(draw(st.lists(panels, min_size=1, max_size=4)))
    spots = st.sampled_from(["", "1.1", "2.3", "12.mean", "99.99"])
    view = Translation(
        corpus=corpus,
        panels=chosen,
        kind=draw(st.sampled_from(KINDS)),
        text=tidy(draw(st.text(max_size=250))),
        target=tidy(draw(st.text(max_size=40))),
        beam=draw(value(beam_knob(catalogue))),
        device=draw(st.sampled_from(["auto", "cpu"])),
    )
    return with_spots(view, draw(st.lists(spots, max_size=len(chosen))))


def through_the_address_bar(link):
    return parse_qs(urlencode(link), keep_blank_values=True)


@given(data=st.data())
def test_a_regression_link_restores_the_view(catalogue, data):
    view = data.draw(regressions(catalogue))
    link = through_the_address_bar(format_regression(view, catalogue))
    assert parse_regression(link, catalogue) == (view, [])


@given(data=st.data())
def test_a_translation_link_restores_the_view(catalogue, data):
    view = data.draw(translations(catalogue))
    link = through_the_address_bar(format_translation(view, catalogue))
    assert parse_translation(link, catalogue) == (view, [])


KEYS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(["data", "seed", "device", "text", "target", "beam", "corpus", "map"]),
    st.builds(
        "{}.{}".format, st.sampled_from(LETTERS), st.sampled_from(["width", "learn", "map", "x"])
    ),
    st.sampled_from(LETTERS),
)
NASTY = st.one_of(
    st.text(max_size=300),
    st.sampled_from(
        ["gaussian", "nan", "1e999", "-inf", "../../etc/passwd", "<img src=x>", "٣", "1_0", "0x10",
         "\ud800", "\u202e", "a" * 10_000, "9" * 500, "1", "0", "", UPLOAD, "upload:../x",
         "cross.1.2", "encoder", "decoder.2", "2.mean", "0.1", "2.3\n"]
    ),
)  # fmt: skip


@given(query=st.dictionaries(KEYS, st.one_of(NASTY, st.lists(NASTY, max_size=3)), max_size=8))
def test_no_link_whatever_makes_reading_fail(catalogue, query):
    for parse, write in (
        (parse_regression, format_regression),
        (parse_translation, format_translation),
    ):
        view, problems = parse(query, catalogue)
        again = parse(through_the_address_bar(write(view, catalogue)), catalogue)
        assert again == (view, [])
        for sentence in problems:
            assert len(sentence) < 400
            assert sentence.isprintable()


@given(
    query=st.fixed_dictionaries(
        {}, optional=dict.fromkeys(["a.width", "points", "noise", "seed"], NASTY)
    )
)
def test_whatever_a_link_says_numbers_stay_within_their_bounds(catalogue, query):
    view, _ = parse_regression({"a": "gaussian", **query}, catalogue)
    settings = dict(view.settings)
    width = dict(view.panels[0].parameters)["width"]
    assert 0.02 <= width <= 10
    assert math.isfinite(width)
    assert type(settings["points"]) is int
    assert 2 <= settings["points"] <= 500
    assert 0 <= settings["noise"] <= 2
    assert 0 <= view.seed <= 9999


def test_a_link_is_short_and_readable(catalogue):
    view = default_regression(catalogue)
    assert format_regression(view, catalogue) == {}
    wide = replace(view.panels[1], parameters=pairs({"width": 0.5, "hidden": 8}))
    view = replace(view, panels=(wide, view.panels[2], view.panels[0]), seed=3)
    link = format_regression(view, catalogue)
    assert urlencode(link) == ("a=gaussian&a.width=0.5&b=gaussian&b.learn=1&c=uniform&seed=3")
    usual = default_translation(catalogue)
    assert format_translation(usual, catalogue) == {}
    assert usual.panels == ("bahdanau.additive", "bahdanau.scaled_dot", "bahdanau.bilinear")


def test_the_usual_translations_are_two_scorings_and_another_model(catalogue):
    other = replace(catalogue.checkpoints["one"], name="other", model="transformer", scoring="dot")
    scaled = replace(other, name="scaled", scoring="scaled_dot")
    more = replace(catalogue, checkpoints={**catalogue.checkpoints, "o": other, "s": scaled})
    assert default_translation(more).panels == (
        "bahdanau.additive", "bahdanau.scaled_dot", "transformer.scaled_dot",
    )  # fmt: skip
    alone = replace(catalogue, checkpoints={"o": other})
    assert default_translation(alone).panels == ("transformer.dot",)


def test_the_corpus_of_most_checkpoints_comes_first(catalogue):
    few = [c for c in catalogue.checkpoints.values() if c.corpus == "tatoeba"][:1]
    twins = [c for c in catalogue.checkpoints.values() if c.corpus == "phrasebook"]
    reordered = replace(catalogue, checkpoints={c.name: c for c in (*few, *twins)})
    assert len(twins) > 1
    assert reordered.corpora() == ("phrasebook", "tatoeba")
    assert default_translation(reordered).corpus == "phrasebook"


def test_a_map_for_all_panels_is_written_once_and_others_with_their_panel(catalogue):
    usual = default_translation(catalogue)
    encoder = replace(usual, kind="encoder")
    links = {
        (): {"map": "encoder"},
        ("2.3", "2.3", "2.3"): {"map": "encoder.2.3"},
        ("", "2.3"): {"map": "encoder", "b.map": "2.3"},
    }
    for spots, link in links.items():
        assert format_translation(with_spots(encoder, spots), catalogue) == link
    given = {
        "a": "bahdanau.additive",
        "c": "bahdanau.bilinear",
        "map": "cross.1.2",
        "c.map": "2.1",
    }
    view, problems = parse_translation(given, catalogue)
    assert problems == []
    assert (view.kind, view.spots) == ("cross", ("1.2", "2.1"))
    assert spots_of(parse_translation({"b.map": "1.2"}, catalogue)[0]) == ("", "1.2", "")


def test_the_map_that_is_shown_large_is_no_part_of_the_request(catalogue):
    view = default_translation(catalogue)
    other = with_spots(replace(view, kind="decoder"), ["1.2"])
    (checkpoint,) = [c for c in catalogue.checkpoints.values() if c.name == "one"]
    assert translation_request(view, checkpoint) == translation_request(other, checkpoint)


def test_an_empty_sentence_is_kept_and_not_replaced_by_the_example(catalogue):
    view = replace(default_translation(catalogue), text="")
    link = through_the_address_bar(format_translation(view, catalogue))
    assert parse_translation(link, catalogue)[0].text == ""


def problems_of(parse, query, catalogue):
    return parse(query, catalogue)[1]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"a": "gaussian", "a.width": "99"}, "a.width=‘99’: need 0.02 <= a.width <= 10, so 10 is"),
        ({"a": "gaussian", "a.width": "NaN"}, "a.width=‘NaN’: need a number, so 1 is used"),
        ({"a": "gaussian", "a.width": "1e999"}, "a.width=‘1e999’: need a number"),
        ({"points": "٣٠"}, "points=‘٣٠’: need a whole number, so 50 is used"),
        ({"points": "2.5"}, "points=‘2.5’: need a whole number"),
        ({"seed": "-5"}, "seed=‘-5’: need 0 <= seed <= 9999, so 0 is used"),
        ({"a": "odd", "a.kind": "up"}, "a.kind=‘up’: need one of near, far, so near is used"),
        ({"a": "odd", "a.sharp": "yes"}, "a.sharp=‘yes’: need 0 or 1"),
        ({"a": "uniform", "a.learn": "1"}, "a.learn: uniform has nothing to learn"),
        ({"a": "<b>"}, "a=‘<b>’ is not a scoring's name; gaussian is used"),
        ({"a": "nobody.gaussian"}, "no regression model ‘nobody’ here; nadaraya_watson is used"),
        ({"data": "moon"}, "data=‘moon’ is not installed here; sine is used"),
        ({"data": "pairs"}, "data=‘pairs’ is not installed here"),
        ({"data": "upload:../../etc"}, "data=‘upload:../../etc’ is not installed here"),
        ({"device": "cuda:9"}, "device=‘cuda:9’ is not here; auto is used"),
        ({"e": "gaussian"}, "unknown parameter ‘e’: ignored"),
        ({"b.width": "2"}, "unknown parameter ‘b.width’: ignored"),
        ({"seed": ["1", "2"]}, "‘seed’ is given 2 times; the last one counts"),
        ({k * 99: "" for k in "uvwxyz"}, "and 3 more: ignored"),
    ],
)
def test_every_mended_parameter_is_named(catalogue, query, named):
    assert any(named in sentence for sentence in problems_of(parse_regression, query, catalogue))


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"a": "../x"}, "a=‘../x’ is not a model.scoring"),
        ({"corpus": "moon"}, "corpus=‘moon’; offered: tatoeba, phrasebook"),
        (
            {"map": "pooling"},
            "map=‘pooling’ is not cross, encoder, decoder, alone or with a layer",
        ),
        ({"map": "cross.0.1"}, "map=‘cross.0.1’ is not"),
        ({"map": "cross."}, "map=‘cross.’ is not"),
        ({"a.map": "2"}, "a.map=‘2’ is not a layer and a head such as 2.3 or 2.mean; ignored"),
        ({"a": "bahdanau.additive", "b.map": "1.1"}, "unknown parameter ‘b.map’: ignored"),
        ({"beam": "13"}, "beam=‘13’: need 1 <= beam <= 12, so 12 is used"),
        ({"text": "x" * 10_000}, "text has 10,000 characters; the first 200 are used"),
    ],
)
def test_every_mended_parameter_of_a_translation_is_named(catalogue, query, named):
    assert any(named in sentence for sentence in problems_of(parse_translation, query, catalogue))


def test_a_missing_scoring_stays_in_the_link_with_its_parameters(catalogue):
    link = {"a": "entmax", "a.alpha": "1.5", "b": "gaussian"}
    view, problems = parse_regression(link, catalogue)
    assert problems == []
    assert [panel.scoring for panel in view.panels] == ["entmax", "gaussian"]
    assert format_regression(view, catalogue) == link


def test_a_parameter_may_have_the_name_of_an_option(catalogue):
    link = {"a": "odd", "a.learn.value": "2.5", "a.learn": "1", "a.epochs": "30"}
    view, problems = parse_regression(link, catalogue)
    assert problems == []
    panel = view.panels[0]
    assert dict(panel.parameters)["learn"] == 2.5
    assert panel.learn is True
    assert dict(panel.fitting)["epochs"] == 30
    assert dict(panel.parameters)["epochs"] == 7


def test_two_checkpoints_of_one_kind_go_by_their_own_names(catalogue):
    view, problems = parse_translation({"corpus": "phrasebook", "a": "twin_b"}, catalogue)
    assert problems == []
    assert view.panels == ("twin_b",)
    assert parse_translation({"a": "one"}, catalogue)[0].panels == ("bahdanau.additive",)


def test_an_adopted_model_stands_beside_those_of_every_corpus_by_its_own_name(catalogue):
    one = catalogue.checkpoints["one"]
    card = {**one.card, "adopted": {"family": "Marian"}, "corpus": {"name": "elsewhere"}}
    theirs = [
        replace(one, name=f"opus_{n}", model="huggingface_marian", corpus="elsewhere", card=card)
        for n in range(9)
    ]
    more = replace(catalogue, checkpoints=catalogue.checkpoints | {c.name: c for c in theirs})
    assert more.corpora() == (*catalogue.corpora(), "elsewhere")
    assert default_translation(more) == default_translation(catalogue)
    query = {"a": "bahdanau.additive", "b": "opus_3"}
    view, problems = parse_translation(query, more)
    assert problems == []
    assert format_translation(view, more) == query
    assert resolve(more, view.corpus, "opus_3") is theirs[3]
    assert default_translation(more, "elsewhere").panels == ("opus_0", "opus_1", "opus_2")


def test_a_name_that_could_be_a_checkpoints_stays_so_that_its_panel_can_speak(catalogue):
    assert parse_translation({"a": "additive"}, catalogue) == (
        replace(default_translation(catalogue), panels=("additive",)),
        [],
    )


def test_a_text_is_one_line_of_at_most_the_limit():
    assert tidy("go\n\x00 there\u202e.") == "go   there ."
    assert len(tidy("x" * 999)) == LONGEST_TEXT


def test_a_strangers_text_is_shown_short_and_without_tricks():
    assert shown("a\u202eb\nc") == "‘a·b·c’"
    assert shown("x" * 41) == "‘" + "x" * 40 + "…’"


def test_a_request_carries_what_the_view_says(catalogue):
    link = {"a": "gaussian", "a.width": "0.5", "a.learn": "1", "points": "7", "seed": "11"}
    view, _ = parse_regression(link, catalogue)
    request = regression_request(view, view.panels[0])
    assert (request.task, request.scoring, request.data, request.seed) == (
        "regression", "gaussian", "sine", 11,
    )  # fmt: skip
    assert dict(request.parameters) == {"width": 0.5, "hidden": 8}
    options = dict(request.options)
    assert options["data.points"] == 7
    assert options["learn"] is True
    assert options["epochs"] == 200
    view, _ = parse_regression({"data": UPLOAD, "standardise": "0"}, catalogue)
    assert dict(regression_request(view, view.panels[0]).options) == {"standardise": False}

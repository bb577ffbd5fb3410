import importlib
import math
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.catalogue import parameter, scoring

from dashboard.features.regression import view as regression
from dashboard.features.regression.view import Regression
from dashboard.features.translation import view as translation
from dashboard.links.fields import LETTERS
from dashboard.links.fits import (
    COLUMNS_FIELD,
    MODEL,
    Fit,
    data_parameters,
    fit_parameters,
    fit_request,
    fitting_parameters,
)
from dashboard.links.link import Reader
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter, pairs
from dashboard.records.request import COLUMNS
from dashboard.records.text import LONGEST_LINE, one_line, shown

UPLOAD = "upload:" + "0123456789abcdef" * 4


def values(draw, parameters):
    return pairs({parameter.name: draw(value(parameter)) for parameter in parameters})


def value(parameter: Parameter):
    if isinstance(parameter.default, bool):
        return st.booleans()
    if isinstance(parameter.default, str):
        return st.sampled_from(parameter.choices)
    if parameter.whole:
        return st.integers(int(parameter.low), int(parameter.high))
    return st.floats(parameter.low, parameter.high)


@st.composite
def regressions(draw, catalogue):
    panels = []
    for _ in range(draw(st.integers(1, 4))):
        scoring = draw(st.sampled_from([*catalogue.scorings, "from_a_friend"]))
        if scoring not in catalogue.scorings:
            kept = {"alpha": draw(st.sampled_from(["1.5", "entropy"]))}
            panels.append(Fit(scoring=scoring, parameters=pairs(kept)))
            continue
        panel = Fit(scoring=scoring, model=draw(st.sampled_from([MODEL, "other_model"])))
        learn = catalogue.scorings[scoring].learns and draw(st.booleans())
        panels.append(
            replace(
                panel,
                parameters=values(draw, fit_parameters(catalogue, panel)),
                learn=learn,
                fitting=values(draw, fitting_parameters(catalogue)) if learn else (),
            )
        )
    data = draw(st.sampled_from(["sine", "step", "clash", UPLOAD]))
    return Regression(
        panels=tuple(panels),
        data=data,
        settings=values(draw, data_parameters(catalogue, data)),
        seed=draw(st.integers(0, 9999)),
        device=draw(st.sampled_from(["auto", "cpu"])),
        validation=values(draw, regression._PLAN) if data == UPLOAD else (),
    )


def through_the_address_bar(link):
    return parse_qs(urlencode(link), keep_blank_values=True)


@given(data=st.data())
def test_a_regression_link_restores_the_view(catalogue, data):
    view = data.draw(regressions(catalogue))
    link = through_the_address_bar(regression.LINK.format(view, catalogue))
    assert regression.LINK.parse(link, catalogue) == (view, [])


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
    for link in (regression.LINK, translation.LINK):
        view, problems = link.parse(query, catalogue)
        again = link.parse(through_the_address_bar(link.format(view, catalogue)), catalogue)
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
    view, _ = regression.LINK.parse({"a": "gaussian", **query}, catalogue)
    settings = dict(view.settings)
    width = dict(view.panels[0].parameters)["width"]
    assert 0.02 <= width <= 10
    assert math.isfinite(width)
    assert type(settings["points"]) is int
    assert 2 <= settings["points"] <= 500
    assert 0 <= settings["noise"] <= 2
    assert 0 <= view.seed <= 9999


def test_a_link_is_short_and_readable(catalogue):
    view = regression.default_view(catalogue)
    assert regression.LINK.format(view, catalogue) == {}
    wide = replace(view.panels[1], parameters=pairs({"width": 0.5, "hidden": 8}))
    view = replace(view, panels=(wide, view.panels[2], view.panels[0]), seed=3)
    link = regression.LINK.format(view, catalogue)
    assert urlencode(link) == ("a=gaussian&a.width=0.5&b=gaussian&b.learn=1&c=uniform&seed=3")


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
        ({"data": "moon"}, "data=‘moon’: need one of sine, step, clash, so sine is used"),
        ({"data": "pairs"}, "data=‘pairs’: need one of sine"),
        ({"data": "upload:../../etc"}, "data=‘upload:../../etc’: need one of sine"),
        ({"device": "cuda:9"}, "device=‘cuda:9’: need one of auto, cpu, so auto is used"),
        ({"e": "gaussian"}, "unknown parameter ‘e’: ignored"),
        ({"b.width": "2"}, "unknown parameter ‘b.width’: ignored"),
        ({"seed": ["1", "2"]}, "‘seed’ is given 2 times; the last one counts"),
        ({k * 99: "" for k in "uvwxyz"}, "and 3 more: ignored"),
    ],
)
def test_every_mended_parameter_is_named(catalogue, query, named):
    assert any(
        named in sentence for sentence in problems_of(regression.LINK.parse, query, catalogue)
    )


def test_a_missing_scoring_stays_in_the_link_with_its_parameters(catalogue):
    link = {"a": "entmax", "a.alpha": "1.5", "b": "gaussian"}
    view, problems = regression.LINK.parse(link, catalogue)
    assert problems == []
    assert [panel.scoring for panel in view.panels] == ["entmax", "gaussian"]
    assert regression.LINK.format(view, catalogue) == link


def test_a_parameter_may_have_the_name_of_an_option(catalogue):
    link = {"a": "odd", "a.learn.value": "2.5", "a.learn": "1", "a.epochs": "30"}
    view, problems = regression.LINK.parse(link, catalogue)
    assert problems == []
    panel = view.panels[0]
    assert dict(panel.parameters)["learn"] == 2.5
    assert panel.learn is True
    assert dict(panel.fitting)["epochs"] == 30
    assert dict(panel.parameters)["epochs"] == 7


def test_of_a_parameter_that_is_given_twice_the_last_counts():
    reader = Reader({"a": ["x", "y"], "b": [], "c": "z"})
    assert [reader.take(key) for key in "abcd"] == ["y", None, "z", None]
    (said,) = reader.finish()
    assert "‘a’" in said


def test_a_text_is_one_line_of_at_most_the_limit():
    assert one_line("go\n\x00 there\u202e.") == "go   there ."
    assert len(one_line("x" * 999)) == LONGEST_LINE


def test_a_strangers_text_is_shown_short_and_without_tricks():
    assert shown("a\u202eb\nc") == "‘a·b·c’"
    assert shown("x" * 41) == "‘" + "x" * 40 + "…’"


def test_a_request_carries_what_the_view_says(catalogue):
    link = {"a": "gaussian", "a.width": "0.5", "a.learn": "1", "points": "7", "seed": "11"}
    view, _ = regression.LINK.parse(link, catalogue)
    request = regression.requests(view, catalogue)["a"]
    assert (request.task, request.scoring, request.data, request.seed) == (
        "regression", "gaussian", "sine", 11,
    )  # fmt: skip
    assert dict(request.parameters) == {"width": 0.5, "hidden": 8}
    options = dict(request.options)
    assert options["data.points"] == 7
    assert options["learn"] is True
    assert options["epochs"] == 200
    view, _ = regression.LINK.parse({"data": UPLOAD, "standardise": "0"}, catalogue)
    assert dict(regression.requests(view, catalogue)["a"].options) == {"standardise": False}


@pytest.mark.parametrize(
    "name", ["alignment", "complexity", "experiment", "heads", "regression", "translation"]
)
def test_a_page_asks_for_the_device_of_its_link(catalogue, name):
    page = importlib.import_module(f"dashboard.features.{name}.page").PAGE
    view, problems = page.link.parse({"device": "cpu"}, catalogue)
    asked = [*page.requests(view, catalogue)]
    assert not problems
    assert asked
    assert {request.device for request in asked} == {"cpu"}


def test_columns_are_of_a_table_alone(catalogue):
    views = [SimpleNamespace(data=data, columns="1:2") for data in ("sine", UPLOAD)]
    asked = [
        fit_request(Fit(scoring="gaussian"), data=view.data, settings=(), columns=view.columns)
        for view in views
    ]
    assert [COLUMNS in dict(one.options) for one in asked] == [False, True]
    assert [COLUMNS_FIELD.write(view, catalogue) for view in views] == [{}, {COLUMNS: "1:2"}]


def test_a_parameter_of_both_is_the_scorings(facts):
    facts["scorings"].append(scoring("same", [parameter("hidden", 3, 1, 9)]))
    (hidden,) = fit_parameters(Catalogue.of(facts), Fit(scoring="same"))
    assert (hidden.name, hidden.default, hidden.high) == ("hidden", 3, 9)

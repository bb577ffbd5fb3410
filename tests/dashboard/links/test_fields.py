"""Every kind of field: what it reads, refuses, and writes back."""

from dataclasses import dataclass

import pytest

from dashboard.links.attending import Names
from dashboard.links.fields import (
    AUTO,
    SEED,
    Choice,
    Setting,
    Settings,
    Text,
    data,
    device,
    next_seed,
)
from dashboard.links.link import Link
from dashboard.records.parameter import Parameter
from dashboard.records.request import Pairs

WIDTH = Parameter(name="width", title="Width", default=1.5, low=0.5, high=7.0)
SIDES = Parameter(name="sides", title="Sides", default=3, low=1, high=11)
ROUND = Parameter(name="round", title="Round", default=False)


@dataclass(frozen=True, kw_only=True)
class View:
    shape: str = "square"
    width: float = 1.5
    settings: Pairs = ()
    scorings: tuple[str, ...] = ()
    words: str = "go ."
    data: str = "sine"
    device: str = AUTO


SHAPE: Choice[View] = Choice(name="shape", title="Shape", options=lambda *_: ("square", "star"))
LINK = Link(
    default=lambda _: View(),
    fields=(
        SHAPE,
        Setting(name="width", parameter=WIDTH),
        Settings(
            name="settings",
            parameters=lambda view, _: (SIDES, ROUND) if view.shape == "star" else (ROUND,),
            key_of=lambda name: f"of.{name}",
        ),
        Names(name="scorings", default=lambda _: ("gaussian",), most=2),
        Text(name="words", title="Words", default=lambda *_: "go ."),
        data("regression", lambda *_: "sine"),
        device(),
    ),
)


@pytest.mark.parametrize(
    "link",
    [
        {},
        {"shape": "star", "of.sides": "5", "of.round": "1"},
        {"width": "2.25", "words": "I lost .", "data": "step", "device": "cpu"},
        {"scorings": "laplacian,not_installed"},
        {"scorings": "none"},
        {"data": "upload:" + "a" * 64},
    ],
)
def test_a_link_gives_a_view_that_writes_the_same_link(catalogue, link):
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    assert LINK.format(view, catalogue) == link


def test_a_bare_address_gives_every_default(catalogue):
    view, _ = LINK.parse({}, catalogue)
    assert view == View(scorings=("gaussian",), settings=(("round", False),))
    assert LINK.format(View(scorings=("gaussian",)), catalogue) == {}  # before there was a “round”


def test_a_field_sees_what_those_before_it_have_read(catalogue):
    star, _ = LINK.parse({"shape": "star", "of.sides": "7"}, catalogue)
    assert dict(star.settings) == {"sides": 7, "round": False}
    square, problems = LINK.parse({"of.sides": "7"}, catalogue)
    assert dict(square.settings) == {"round": False}
    assert problems == ["unknown parameter ‘of.sides’: ignored"]


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"shape": "circle"}, "shape=‘circle’: need one of square, star, so square is used"),
        ({"width": "99"}, "width=‘99’: need 0.5 <= width <= 7, so 7 is used (field “Width”)"),
        ({"width": "wide"}, "width=‘wide’: need a number, so 1.5 is used (field “Width”)"),
        ({"of.round": "yes"}, "of.round=‘yes’: need 0 or 1, so 0 is used (field “Round”)"),
        ({"scorings": "a b"}, "scorings: ‘a b’ is not a scoring's name; it is left out"),
        ({"scorings": "a,b,c"}, "scorings: 3 of them; the first 2 are used"),
        ({"words": "w" * 201}, "words has 201 characters; the first 200 are used"),
        ({"device": "tpu"}, "device=‘tpu’: need one of auto, cpu, so auto is used"),
        ({"data": "upload:../x"}, "data=‘upload:../x’: need one of sine, step, clash, so sine"),
        ({"shape": ["star", "square"]}, "‘shape’ is given 2 times; the last one counts"),
    ],
)
def test_what_is_refused_is_said_once(catalogue, link, said):
    _, problems = LINK.parse(link, catalogue)
    assert len(problems) == 1
    assert said in problems[0]


def test_a_name_that_is_not_offered_stays_where_its_pattern_allows(catalogue):
    view, problems = LINK.parse({"data": "upload:" + "f" * 64}, catalogue)
    assert (view.data, problems) == ("upload:" + "f" * 64, [])


def test_of_much_that_is_offered_a_dozen_is_named(catalogue):
    many: Choice[View] = Choice(
        name="shape", title="Shape", options=lambda *_: tuple(f"s{n}" for n in range(33))
    )
    link = Link(default=lambda _: View(), fields=(many,))
    _, (said,) = link.parse({"shape": "circle"}, catalogue)
    assert f"need one of {', '.join(f's{n}' for n in range(12))} and 21 more, so s0" in said


def test_seeds_follow_one_another_and_begin_anew():
    assert [next_seed(seed) for seed in (0, 41)] == [1, 42]
    assert next_seed(int(SEED.high)) == 0


def test_a_text_that_may_be_longer_than_a_line_keeps_its_lines(catalogue):
    passage: Text[View] = Text(name="words", title="Words", longest=300)
    link = Link(default=lambda _: View(), fields=(passage,))
    words = f"{'w' * 250}\nv"
    view, problems = link.parse({"words": words}, catalogue)
    assert (view.words, problems) == (words, [])

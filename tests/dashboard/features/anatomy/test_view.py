from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.features.anatomy import tensors
from dashboard.features.anatomy.examples import DRAWN, EXAMPLES, GIVEN, HEADS, Sizes, names
from dashboard.features.anatomy.view import (
    LANDSCAPE,
    LENGTHS,
    LINK,
    MASK,
    PARAMETERS,
    PARTS,
    ROOT,
    STEP,
    counts,
    default_view,
    formulas,
    layouts,
    lengths_of,
    looked_at,
    missing,
    requests,
)
from dashboard.records.parameter import defaults

LAYOUTS = (GIVEN, HEADS, "self_attention", "from_a_friend")


def numbers(shape):
    row = st.tuples(*[st.floats(-99, 99).map(tensors.rounded)] * shape[2])
    return st.tuples(*[st.tuples(*[row] * shape[1])] * shape[0]).map(tensors.write)


@st.composite
def views(draw, catalogue):
    view = default_view(catalogue, draw(st.sampled_from(list(EXAMPLES))))
    if view.example == DRAWN:
        low_high = ((1, 3), (1, 6), (1, 8), (1, 8), (1, 8), (1, 8))
        view = replace(view, sizes=Sizes(*(draw(st.integers(*ends)) for ends in low_high)))
    scoring = draw(st.sampled_from([*catalogue.scorings, "entmax"]))
    known = (
        defaults(catalogue.scorings[scoring].parameters) if scoring in catalogue.scorings else ()
    )
    view = replace(
        view,
        part=draw(st.sampled_from(PARTS)), scoring=scoring, parameters=known,
        layout=draw(st.sampled_from(LAYOUTS)), heads=draw(st.integers(1, 12)),
        hidden=draw(st.integers(1, 100)), dropout=draw(st.sampled_from([0.0, 0.35, 0.9])),
        seed=draw(st.integers(0, 9999)), count=draw(st.integers(2, 128)),
        x=draw(st.floats(-3, 3)), y=draw(st.floats(-3, 3)),
        scores=draw(numbers((2, 2, 4))), per_row=draw(st.sampled_from(["", "0,4"])),
        per_query=draw(st.sampled_from(["", "0,4/1,9"])),
        **{name: draw(st.integers(0, 9)) for name in ("row", "head", "query", "key", "column")},
    )  # fmt: skip
    for name in names(view.layout):
        if view.editable(name) and draw(st.booleans()):
            view = replace(view, **{name: draw(numbers(view.sizes.of(name)))})
    batch, queries = view.sizes.batch, view.sizes.queries
    kinds = ["", LENGTHS.default(view), ",".join("1" * batch)]
    if "query" in LENGTHS.kinds(view):
        kinds.append("/".join([",".join("2" * queries)] * batch))
    lengths = tensors.read_lengths(
        draw(st.sampled_from(kinds)), batch, queries, LENGTHS.kinds(view)
    )
    return LINK.fitted(replace(view, lengths=lengths), catalogue)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_view_survives_its_link(catalogue, data):
    view = data.draw(views(catalogue))
    link = LINK.format(view, catalogue)
    assert LINK.parse(link, catalogue) == (view, [])
    assert all(isinstance(part, str) and part for part in link.values())


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            ["part", "example", "scoring", "scoring.width", "layout", "heads", "hidden", "q", "k",
             "v", "lengths", "dropout", "seed", "row", "head", "query", "key", "column", "scores",
             "per_row", "per_query", "count", "x", "y", "batch", "queries", "keys", "d_q", "zzz"]
        ),
        st.one_of(
            st.text(max_size=30),
            st.sampled_from(["self", "heads", "1,2:3,4", "1,2/3,4", "nan", "1e99", "-1", "999999",
                             "2,6", "0", "\u202e", "entmax", "self_attention", "none", "'; drop"]),
        ),
    )
)  # fmt: skip
def test_any_link_gives_a_view_that_has_a_link(catalogue, query):
    view, problems = LINK.parse(query, catalogue)
    assert all("\n" not in problem for problem in problems)
    assert LINK.parse(LINK.format(view, catalogue), catalogue) == (view, [])
    for part in PARTS:
        seen = replace(view, part=part)
        assert bool(requests(seen, catalogue)) != bool(missing(catalogue, seen))
    assert len(requests(replace(view, part=MASK), catalogue)) == 2


def test_what_was_mended_is_named(catalogue):
    view, problems = LINK.parse(
        {"q": "1,2", "hidden": "500", "lengths": "9", "part": "tail", "row": "7", "x": "nan"},
        catalogue,
    )
    assert view == LINK.fitted(replace(default_view(catalogue), hidden=100, row=1), catalogue)
    text = "\n".join(problems)
    assert "q=‘1,2’: need one matrix per batch row, 2 in all, got 1, so the example's" in text
    assert "hidden=‘500’: need 1 <= hidden <= 100, so 100 is used" in text
    assert "lengths=‘9’: need a length per batch row, such as 1,1" in text
    assert "part=‘tail’: need one of step, mask, root, landscape, so step is used" in text


def test_an_example_alone_makes_a_short_link(catalogue):
    for name in EXAMPLES:
        wanted = {} if name == DRAWN else {"example": name}
        assert LINK.format(default_view(catalogue, name), catalogue) == wanted


def test_a_big_tensor_does_not_travel(catalogue):
    view, problems = LINK.parse({"example": "self", "q": "1,2"}, catalogue)
    assert view.q == ""
    assert "q: its numbers cannot be changed here" in problems[0]
    text = view.text_of("q")
    assert tensors.shape_of(text) == (3, 10, 100)
    assert text == view.text_of("q")
    assert text != replace(view, seed=1).text_of("q")


@pytest.mark.parametrize(("layout", "read"), [(GIVEN, "qkv"), ("self_attention", "q")])
def test_a_model_reads_its_sequence_alone(catalogue, layout, read):
    (request,) = requests(replace(default_view(catalogue), layout=layout), catalogue)
    options = dict(request.options)
    assert options["part"] == STEP
    assert {name for name in "qkv" if name in options} == set(read)


def test_a_model_attends_from_its_sequence_to_itself(catalogue):
    sizes = Sizes(2, 4, 6, 3, 3, 3)
    given = replace(default_view(catalogue), sizes=sizes)
    model = replace(given, layout="self_attention")
    assert (given.keys, model.keys) == (6, 4)
    assert [counts(view)["key"] for view in (given, model)] == [6, 4]
    assert [lengths_of(view) for view in (given, model)] == ["5,4", "3,2"]
    assert [LENGTHS.kinds(view) for view in (given, model)] == ["row query", "row"]
    assert lengths_of(replace(given, sizes=sizes._replace(keys=1))) == "1,1"


def test_what_is_looked_at_is_what_the_layout_has_several_of(catalogue):
    view = replace(default_view(catalogue), sizes=Sizes(1, 3, 5, 4, 4, 4), heads=3, hidden=6)
    highest = {
        layout: {each.name: each.high for each in looked_at(replace(view, layout=layout))}
        for layout in (GIVEN, HEADS)
    }
    assert highest[GIVEN] == {"query": 2, "key": 4}
    assert highest[HEADS] == {"query": 2, "key": 4, "head": 2, "column": 5}


def test_only_what_a_part_and_a_layout_need_must_be_here_and_is_asked_for(catalogue):
    view = replace(default_view(catalogue), normaliser="theirs")
    told = {part: missing(catalogue, replace(view, part=part)) for part in PARTS}
    assert {part for part, sentence in told.items() if sentence} == {STEP, LANDSCAPE}
    asked = {}
    for layout in (GIVEN, HEADS):
        (request,) = requests(replace(default_view(catalogue), layout=layout), catalogue)
        asked[layout] = "heads" in dict(request.options)
    assert asked == {GIVEN: False, HEADS: True}
    assert "words" in layouts(catalogue)
    assert "words" not in layouts(catalogue, "dot")


def test_a_formula_is_known_from_the_link_and_from_the_view(catalogue):
    view = replace(default_view(catalogue), scoring="=dot(q, k)")
    assert [*formulas({"scoring": ["=q - k"]}, view)] == ["q - k", "dot(q, k)"]
    assert [*formulas({}, None)] == []
    assert (PARAMETERS.owner(view), PARAMETERS.owner(default_view(catalogue))) == (
        "typed", default_view(catalogue).scoring,
    )  # fmt: skip


def test_a_tensor_travels_up_to_240_numbers(catalogue):
    view = replace(default_view(catalogue), sizes=Sizes(2, 10, 10, 12, 13, 1))
    assert [view.editable(name) for name in "qkv"] == [True, False, True]


CHANGES = {
    "scoring": {"scoring": "dot", "parameters": ()}, "width": {"parameters": (("width", 3.0),)},
    "hidden": {"hidden": 5}, "seed": {"seed": 7}, "q": {"q": "1"}, "lengths": {"lengths": "1,1"},
    "dropout": {"dropout": 0.5}, "count": {"count": 99}, "x": {"x": -2.0}, "y": {"y": -2.0},
    "normaliser": {"normaliser": "sparsemax"},
    "alpha": {"normaliser": "entmax", "normaliser_parameters": (("alpha", 1.7),)},
    "scores": {"scores": "1"}, "per_row": {"per_row": "1,1"}, "per_query": {"per_query": ""},
}  # fmt: skip
_SCORED = "scoring width hidden seed"
READ = {
    STEP: f"{_SCORED} q lengths dropout normaliser alpha", ROOT: f"{_SCORED} count",
    LANDSCAPE: f"{_SCORED} x y normaliser alpha", MASK: "scores per_row per_query",
}  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_a_request_follows_all_that_its_part_shows_and_nothing_else(catalogue, part):
    view = replace(default_view(catalogue), part=part, scoring="gaussian")
    view = replace(view, parameters=(("width", 1.0),))
    asked = {name: requests(replace(view, **change), catalogue)
             for name, change in CHANGES.items()}  # fmt: skip
    usual = requests(view, catalogue)
    assert usual
    assert {name for name, one in asked.items() if one != usual} == {*READ[part].split()}
    changed = [one for one in asked.values() if one != usual]
    assert len({str(one) for one in changed}) == len(changed)


def test_the_examples_of_the_texts_hold_their_numbers(catalogue):
    for name, queries in (("dot", 1), ("scaled", 1), ("additive", 1)):
        view = default_view(catalogue, name)
        keys = tensors.read(view.text_of("k"), (2, 10, 2))
        values = tensors.read(view.text_of("v"), (2, 10, 4))
        assert {number for rows in keys for row in rows for number in row} == {1.0}
        assert [number for row in values[1] for number in row] == list(range(40))
        assert view.sizes.queries == queries
        assert view.lengths == "2,6"
    view = default_view(catalogue, "heads")
    assert (view.hidden, view.heads, view.lengths) == (9, 3, "3,2")
    view = default_view(catalogue, "self")
    assert (view.sizes.of("q"), view.hidden, view.lengths) == ((3, 10, 100), 8, "7,10,4")

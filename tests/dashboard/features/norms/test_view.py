import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.features.norms.view import (
    EXAMPLE,
    LARGEST,
    LINK,
    matrix_of,
    requests,
    text_of,
)

MATRICES = st.integers(1, 8).flatmap(
    lambda columns: st.lists(
        st.tuples(*[st.floats(-LARGEST, LARGEST, allow_nan=False)] * columns),
        min_size=2,
        max_size=8,
    )
)


def test_the_bare_link_is_the_documents_matrix(catalogue):
    view, problems = LINK.parse({}, catalogue)
    assert (view, problems) == (LINK.default(catalogue), [])
    assert matrix_of(view.x) == (((1.0, 2.0), (2.0, 3.0)), "")
    assert LINK.format(view, catalogue) == {}


def test_a_link_comes_back_as_it_was(catalogue):
    link = {"x": "1,-2.5,0;3,4,1e-07", "batches": "0", "momentum": "0.25", "seed": "3"}
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    assert LINK.format(view, catalogue) == link
    (request,) = requests(view, catalogue)
    assert (request.task, request.seed) == ("norms", 3)
    assert dict(request.options)["x"] == link["x"]
    assert dict(request.options)["batches"] == 0


@pytest.mark.parametrize(
    "text",
    [
        "", "1,2", "1;2,3", "nan,1;2,3", "1e7,2;3,4", "-1e7,2;3,4", "1,2;3,4;" * 9, "x", ";" * 500,
        "1,2;3,",
    ],
)  # fmt: skip
def test_what_is_no_matrix_is_named(catalogue, text):
    view, (problem,) = LINK.parse({"x": text}, catalogue)
    assert view.x == EXAMPLE
    assert problem.startswith("x=")
    assert f"so {EXAMPLE} is used" in problem
    assert len(problem) < 200


@settings(max_examples=100, deadline=None)
@given(MATRICES)
def test_every_matrix_of_the_editor_can_be_written(matrix):
    text = text_of(tuple(matrix))
    read, problem = matrix_of(text)
    assert problem == ""
    assert text_of(read) == text
    for row, other in zip(matrix, read, strict=True):
        assert other == pytest.approx(row, rel=1e-8)


def test_what_is_no_number_becomes_one():
    assert text_of(((math.nan, 1e9), (-math.inf, -1e9))) == "0,1000000;0,-1000000"


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(("x", "momentum", "padding", "seed", "y")),
                       st.text("0123456789,;.e-x", max_size=20)))  # fmt: skip
def test_any_link_gives_a_view_that_its_own_link_restores(catalogue, query):
    view, _ = LINK.parse(query, catalogue)
    assert LINK.parse(LINK.format(view, catalogue), catalogue) == (view, [])


def test_a_matrix_of_too_many_columns_is_told_with_its_size():
    assert matrix_of(";".join([",".join("123456789")] * 2))[1] == (
        "need 2 to 8 rows and 1 to 8 columns, got 2 and 9"
    )
    assert matrix_of(";".join(["1"] * 9))[1].endswith("got 9 and 1")
    assert matrix_of(";".join([",".join("12345678")] * 8))[1] == ""


def test_spaces_around_a_number_do_no_harm():
    assert matrix_of(" 1, -2 ;3,4 ") == (((1.0, -2.0), (3.0, 4.0)), "")


def test_the_largest_numbers_are_taken():
    assert matrix_of("1e6,-1000000;0,0") == (((1e6, -1e6), (0.0, 0.0)), "")


def test_no_infinity_becomes_the_largest_number():
    assert text_of(((math.inf, -math.inf),)) == "0,0"
    assert text_of(((1e-07, 1e6),)) == "1e-07,1000000"

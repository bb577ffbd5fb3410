import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.features.positions.view import LINK, SETTINGS, requests, usual_columns

KEYS = ("size", "positions", "position", "offset", "pair", "columns", "flow_rows", "flow_size",
        "flow_tokens", "seed", "")  # fmt: skip


def test_the_bare_link_is_the_documents_encoding(catalogue):
    view, problems = LINK.parse({}, catalogue)
    assert problems == []
    assert view.columns == (6, 7, 8, 9)
    held = dict(view.settings)
    assert (held["size"], held["positions"]) == (32, 60)
    assert (held["flow_rows"], held["flow_size"], held["flow_tokens"]) == (8, 6, 4)
    assert LINK.format(view, catalogue) == {}
    (request,) = requests(view, catalogue)
    assert (request.task, dict(request.options)) == ("positions", held)


def test_a_link_comes_back_as_it_was(catalogue):
    link = {"size": "10", "offset": "-7", "pair": "4", "columns": "0,5", "flow_tokens": "2"}
    view, problems = LINK.parse(link, catalogue)
    assert problems == []
    assert view.columns == (0, 5)
    assert LINK.format(view, catalogue) == link


def test_a_smaller_encoding_bounds_what_lies_in_it(catalogue):
    view, problems = LINK.parse(
        {"size": "6", "positions": "5", "pair": "3", "position": "5", "flow_rows": "3"}, catalogue
    )
    held = dict(view.settings)
    assert (held["pair"], held["position"], held["flow_tokens"]) == (2, 4, 3)
    assert view.columns == (2, 3, 4, 5)
    assert [problem.partition("=")[0] for problem in problems] == ["position", "pair"]
    assert "flow_tokens" not in LINK.format(view, catalogue)


@pytest.mark.parametrize("columns", ["", "1,", "40", "1,2,3,4,5", "a", "-1", "1,,2", "9" * 300])
def test_columns_that_are_not_there_are_named(catalogue, columns):
    view, (problem,) = LINK.parse({"columns": columns}, catalogue)
    assert view.columns == (6, 7, 8, 9)
    assert problem.startswith("columns=")
    assert "6,7,8,9 is used" in problem


def test_columns_are_sorted_and_taken_once(catalogue):
    assert LINK.parse({"columns": "8,3,8"}, catalogue)[0].columns == (3, 8)


@pytest.mark.parametrize(("size", "columns"), [(4, (0, 1, 2, 3)), (9, (5, 6, 7, 8))])
def test_the_usual_columns_lie_inside(size, columns):
    assert usual_columns(size) == columns


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), st.text(max_size=8) | st.integers().map(str)))
def test_any_link_gives_a_view_that_its_own_link_restores(catalogue, query):
    view, problems = LINK.parse(query, catalogue)
    again, none = LINK.parse(LINK.format(view, catalogue), catalogue)
    assert again == view
    assert none == []
    assert all(isinstance(problem, str) for problem in problems)
    for parameter in SETTINGS.parameters(view, catalogue):
        assert parameter.low <= dict(view.settings)[parameter.name] <= parameter.high


def test_four_columns_may_be_drawn_and_none_beyond_the_last(catalogue):
    view, problems = LINK.parse({"columns": "0,1,2,31"}, catalogue)
    assert (view.columns, problems) == ((0, 1, 2, 31), [])
    view, (problem,) = LINK.parse({"columns": "32"}, catalogue)
    assert view.columns == (6, 7, 8, 9)
    assert "need 1 to 4 numbers from 0 to 31 with commas between" in problem

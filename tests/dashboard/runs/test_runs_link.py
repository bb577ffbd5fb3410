import pytest

from dashboard.runs.offers import Catalogue
from dashboard.runs.runs_link import RunsView, format_runs, parse_runs

ID = "0123456789abcdef" * 2


@pytest.mark.parametrize("view", [RunsView(), RunsView(id=ID)])
def test_a_view_survives_its_link(view):
    assert parse_runs(format_runs(view, Catalogue()), Catalogue()) == (view, [])


def test_the_list_has_a_bare_link():
    assert format_runs(RunsView(), Catalogue()) == {}


@pytest.mark.parametrize("id", ["x", "../" * 9, ID[:-1], ID.upper(), ID + "\n", "<b>", "é" * 32])
def test_a_hostile_id_is_named(id):
    view, (problem,) = parse_runs({"id": id}, Catalogue())
    assert view == RunsView()
    assert "32 hexadecimal digits" in problem
    assert "\n" not in problem


def test_what_is_unknown_is_named():
    view, problems = parse_runs({"id": [ID, ID], "zzz": "1"}, Catalogue())
    assert view == RunsView(id=ID)
    assert "2 times" in problems[0]
    assert "zzz" in problems[1]

import pytest

from dashboard.features.runs.view import LINK, RunsView
from dashboard.records.catalogue import Catalogue

ID = "0123456789abcdef" * 2


@pytest.mark.parametrize("view", [RunsView(), RunsView(id=ID)])
def test_a_view_survives_its_link(view):
    assert LINK.parse(LINK.format(view, Catalogue()), Catalogue()) == (view, [])


def test_the_list_has_a_bare_link():
    assert LINK.format(RunsView(), Catalogue()) == {}


@pytest.mark.parametrize("id", ["x", "../" * 9, ID[:-1], ID.upper(), ID + "\n", "<b>", "é" * 32])
def test_a_hostile_id_is_named(id):
    view, (problem,) = LINK.parse({"id": id}, Catalogue())
    assert view == RunsView()
    assert "32 hexadecimal digits" in problem
    assert "\n" not in problem


def test_what_is_unknown_is_named():
    view, problems = LINK.parse({"id": [ID, ID], "zzz": "1"}, Catalogue())
    assert view == RunsView(id=ID)
    assert "2 times" in problems[0]
    assert "zzz" in problems[1]

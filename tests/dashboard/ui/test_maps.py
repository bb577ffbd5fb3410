import pytest

from dashboard.ui import maps


@pytest.fixture
def session(monkeypatch):
    state = {}
    monkeypatch.setattr(maps.st, "session_state", state)
    return state


def clicked(name):
    return {"selection": {"head": [{"map": name}]}}


def test_a_grid_stays_as_it_is_while_the_reader_clicks_in_it(session):
    key, start = maps._started("maps", "2.mean")
    assert start == "2.mean"
    session[key] = clicked("1.2")
    assert maps._started("maps", "1.2") == (key, "2.mean")
    session[key] = clicked("2.mean")
    assert maps._started("maps", "2.mean") == (key, "2.mean")


def test_a_grid_is_made_anew_where_another_map_is_wanted_than_was_clicked(session):
    first, _ = maps._started("maps", "2.mean")
    session[first] = clicked("1.2")
    back, start = maps._started("maps", "2.mean")
    assert start == "2.mean"
    assert back != first
    linked, start = maps._started("maps", "1.1")
    assert start == "1.1"
    assert linked not in (first, back)

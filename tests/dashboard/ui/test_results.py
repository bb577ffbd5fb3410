"""The place of a panel whose scoring or model is not installed, or not known yet."""

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.ui import results


def _page():
    from dashboard.ui import results

    results.absent("There is no checkpoint mine here.", 200, "panel-a-result")


@pytest.fixture
def drawn(monkeypatch):
    """What the place says, where the catalogue is being read again at these of the looks."""

    def look(*answers):
        left = [*answers]
        reread = lambda: left.pop(0) if left else False  # noqa: E731
        monkeypatch.setattr(results, "workbench", lambda: SimpleNamespace(rereading=reread))
        app = AppTest.from_function(_page, default_timeout=60).run()
        assert not app.exception
        return app.markdown[0].value, [text.value for text in app.text]

    return look


def test_what_is_not_installed_is_named(drawn):
    title, texts = drawn(False)
    assert "**Not installed here**" in title
    assert texts == ["There is no checkpoint mine here."]


def test_what_was_just_kept_is_waited_for(drawn):
    title, texts = drawn(True, True)
    assert "**Not known yet**" in title
    assert "is being read again" in texts[0]
    assert texts[1:] == ["There is no checkpoint mine here."]


def test_the_page_is_drawn_anew_once_the_catalogue_was_read(drawn):
    assert "**Not installed here**" in drawn(True, False)[0]


def test_a_page_is_drawn_anew_as_soon_as_one_of_what_it_awaits_has_come(monkeypatch):
    drawn = []
    monkeypatch.setattr(results.st, "fragment", lambda run_every: lambda place: place)
    monkeypatch.setattr(results.st, "rerun", lambda: drawn.append(1))
    ends = {"a": None, "b": None}
    jobs = SimpleNamespace(settled=lambda: False, pace=float, final=ends.get)
    results.until_settled(jobs, "words", [*ends])
    assert not drawn
    ends["b"] = "ended"
    results.until_settled(jobs, "words", ["a"])
    assert not drawn
    results.until_settled(jobs, "words", [*ends])
    assert drawn

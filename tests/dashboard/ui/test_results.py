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


def _failure(facts, note):
    from dashboard.jobs.backend import Event
    from dashboard.ui import results

    results.failure(Event(number=1, stage="failed", note=note, facts=facts), "panel-a-result")


def failed(note="too few points", **facts):
    app = AppTest.from_function(_failure, args=(facts, note), default_timeout=60).run()
    assert not app.exception
    kinds = (app.markdown, app.text, app.caption, app.code)
    said = "\n".join(one.value for kind in kinds for one in kind)
    return said, [one.label for one in app.button]


def test_what_was_refused_is_not_offered_again_and_what_failed_is():
    said, buttons = failed(refused=True)
    assert ("**This cannot be computed**" in said, buttons) == (True, [])
    said, buttons = failed()
    assert ("**This panel failed**" in said, buttons) == (True, ["Try again"])
    assert "too few points" in said
    assert "The job was stopped before it was done." in failed("")[0]


def test_a_failure_names_its_culprit_and_shows_what_was_printed():
    said, _ = failed(culprit="plugin p", stderr="Fatal: 7")
    assert "It happened in plugin p" in said
    assert "Fatal: 7" in said
    assert "It happened" not in failed()[0]


def _waiting(fraction, note):
    from dashboard.jobs.backend import Event
    from dashboard.ui import results

    events = [Event(number=n, stage="running", fraction=f, note=note)
              for n, f in enumerate((0.1, fraction))]  # fmt: skip
    results.waiting(events, 200)


@pytest.mark.parametrize(("fraction", "share"), [(0.25, 25), (1.5, 100), (-1.0, 0), (None, 0)])
def test_while_one_waits_the_latest_word_counts_and_no_share_is_beyond_the_whole(fraction, share):
    app = AppTest.from_function(_waiting, args=(fraction, "fitting"), default_timeout=60).run()
    assert not app.exception
    (bar,) = app.get("progress")
    assert (bar.proto.value, bar.proto.text) == (share, "fitting")

"""What is seen while plugins are reloaded: all pages go on; administrators see how far it is."""

import pytest

from dashboard.jobs.backend import Event
from dashboard.ui import owner, workbench
from dashboard.visitors import Visitor


@pytest.fixture
def become(monkeypatch):
    """Say who the visitor is."""

    def one(role):
        monkeypatch.setattr(owner, "visitor", lambda: Visitor(owner="ada", role=role))

    return one


def press(app, label):
    next(one for one in app.button if one.label == label).click()
    return app.run()


def words(app):
    kinds = (app.text, app.caption, app.markdown)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def charts(app):
    return [chart.proto.spec for chart in app.get("vega_lite_chart")]


def asked(backend):
    return [one for one in backend.submitted.values() if one.task == "regression"]


@pytest.fixture
def administrator(opened, backend, become):
    """Has pressed the button; the new workers are not ready."""
    become("administrator")
    app = opened("regression", a="gaussian", b="laplacian")
    backend.unfinished.add("catalogue")
    return press(app, "Reload plugins")


def test_the_page_of_another_visitor_goes_on_as_if_nothing_happened(
    opened, backend, become, administrator
):
    become("author")
    app = opened("regression", a="gaussian", b="laplacian")
    before, count = charts(app), len(asked(backend))
    assert len(before) > 1
    app.run()
    assert not app.exception
    assert charts(app) == before
    assert len(asked(backend)) == count
    assert "Reloading" not in str(app.main)
    assert not app.get("skeleton")
    app.slider("panel-a-gaussian-width").set_value(2.5).run()
    assert len(charts(app)) == len(before)
    assert len(asked(backend)) == count + 1


def test_what_others_see_is_read_anew_once_new_workers_serve(
    opened, backend, become, administrator
):
    become("author")
    app = opened("regression", a="gaussian", b="laplacian")
    count = len(asked(backend))
    scorings = backend.facts["scorings"]
    backend.facts["scorings"] = [one for one in scorings if one["name"] != "laplacian"]
    backend.unfinished.clear()
    app.run()
    assert "Not installed here" in words(app)
    assert len(charts(app)) > 0
    assert len(asked(backend)) == count + 1


def test_an_administrator_reads_how_far_it_is(administrator):
    app = administrator
    assert not app.exception
    (bar,) = app.get("progress")
    assert bar.proto.text == r"Reloading plugins: half \*way\*"
    assert bar.proto.value == 50
    assert len(charts(app)) > 1
    assert not app.toast


def test_it_ends_with_what_changed(administrator, backend):
    app, count = administrator, len(asked(backend))
    backend.facts = {**backend.facts, "failures": []}
    backend.unfinished.clear()
    app.run()
    assert not app.get("progress")
    assert len(app.toast) == 1
    assert len(asked(backend)) == 2 * count


def test_an_administrator_reads_why_new_workers_cannot_start(administrator, backend):
    app, before = administrator, charts(administrator)
    backend.failing["catalogue"] = Event(
        number=2, stage="failed", note="no worker starts: *memory*", facts={"stderr": "its words"}
    )
    backend.unfinished.clear()
    app.run()
    assert "Plugins were not reloaded" in words(app)
    assert "no worker starts: *memory*" in [one.value for one in app.text]
    assert "its words" in [one.value for one in app.code]
    assert charts(app) == before
    app = press(app, "Close")
    assert "not reloaded" not in words(app)


def test_a_visitor_is_not_bothered_with_it(opened, backend, become, administrator):
    backend.failing["catalogue"] = Event(number=2, stage="failed", note="no worker starts")
    backend.unfinished.clear()
    become("author")
    app = opened("regression")
    assert workbench.workbench().failure
    assert "not reloaded" not in words(app)


def test_results_that_came_meanwhile_are_asked_anew_by_who_reloads(administrator, backend):
    app = administrator
    backend.unfinished.add("regression")
    app.slider("panel-a-gaussian-width").set_value(2.5).run()
    count = len(asked(backend))
    backend.unfinished.clear()
    assert app.session_state["sessions"]["regression"].jobs.settled()  # as its place has found
    app.run()
    assert len(asked(backend)) == count + 2

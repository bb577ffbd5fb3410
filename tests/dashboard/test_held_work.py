"""What is too much for a link waits for a button, on every page by one mechanism."""

import pytest

from dashboard.storage.blobs import Blobs
from dashboard.ui import upload

HEAVY = [
    ("complexity", {"longest": "2048", "widest": "512"}, "Time the three layers", {}),
    (
        "regression",
        {"a": "gaussian", "a.learn": "1", "a.epochs": "2000", "points": "500"},
        "Compute 1 result",
        {"learn": True},
    ),
    (
        "experiment",
        {"scorings": "gaussian,laplacian", "seeds": "10", "learn": "1", "points": "300"},
        "Make 18 fits",
        {"learn": True},
    ),
]
PAGES = (
    "start", "regression", "translation", "differences", "alignment", "race", "training",
    "experiment", "heads", "anatomy", "positions", "complexity", "norms", "runs", "plugins",
    "server",
)  # fmt: skip


def button(app):
    return next((one for one in app.button if one.key == "begin-held"), None)


def asked(backend, options):
    return [
        request
        for request in backend.submitted.values()
        if request.task not in ("catalogue", "experiment")
        and options.items() <= dict(request.options).items()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_bare_address_needs_no_button(opened, page):
    assert button(opened(page)) is None


@pytest.mark.parametrize(("page", "link", "words", "options"), HEAVY)
def test_a_link_with_much_work_waits_for_a_press(opened, backend, page, link, words, options):
    app = opened(page, **link)
    assert not app.exception
    before = asked(backend, options)
    assert button(app).label == words
    app = button(app).click().run()
    assert not app.exception
    assert len(asked(backend, options)) > len(before)
    assert button(app) is None


def test_what_is_held_begins_where_it_will_stand_too(opened, backend):
    app = opened("regression", a="gaussian", a__learn="1", a__epochs="2000", points="500")
    (place,) = [one for one in app.button if one.label == "Begin"]
    app = place.click().run()
    assert asked(backend, {"learn": True})
    assert button(app) is None


def test_the_button_says_how_long_where_that_was_measured(opened, backend):
    backend.seconds_of_work = 17.0
    app = opened("complexity", longest="2048", widest="512")
    assert button(app).label == "Time the three layers, about 2 minutes"
    assert any("measured on this server" in one.value for one in app.caption)


def test_the_setting_says_how_much_is_free(opened, monkeypatch):
    monkeypatch.setenv("ATTENTION_FREE_WORK", "0.001")
    assert button(opened("complexity", times="here")) is not None
    assert button(opened("complexity")) is None, "a reference that ships costs nothing"
    monkeypatch.setenv("ATTENTION_FREE_WORK", "100")
    assert button(opened("complexity", longest="2048", widest="512")) is None


def test_a_large_table_waits_for_a_press(opened, backend):
    lines = "".join(f"{n},{n % 7}\n" for n in range(20_000))
    data = f"upload:{Blobs().put(lines.encode())}"
    assert upload.rows(data) == 20_000
    assert button(opened("regression", a="gaussian", b="additive", data=data)) is not None
    assert [request.scoring for request in asked(backend, {})] == ["gaussian"]

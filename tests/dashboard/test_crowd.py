"""Every page stays as it is while 200 scorings, 50 normalisers and 30 models are installed."""

from __future__ import annotations

import pytest
from support import crowd

PAGES = (
    "start", "regression", "translation", "differences", "alignment", "training", "experiment",
    "heads", "attention_maps", "anatomy", "positions", "complexity", "norms", "runs", "plugins",
)  # fmt: skip
MOST_PILLS = 12
MOST_FAULTS = 50  # elements: two for each problem in the popover, four in a box of a package
CHANGES = crowd.SCORINGS + crowd.NORMALISERS + crowd.MODELS


@pytest.fixture(scope="module")
def usual():
    return crowd.built_in()


@pytest.fixture(scope="module")
def many(usual):
    return crowd.crowded(usual)


@pytest.fixture
def seen(backend, opened, usual, many, monkeypatch):
    """``seen(page, which, **link)``: the page, with the crowd or without."""
    from dashboard.ui import workbench

    installed = {"usual": usual, "sound": {**many, "failures": []}, "faulty": many}

    def new(page, which="faulty", **link):
        backend.facts = installed[which]
        bench = workbench.Workbench(backend)
        monkeypatch.setattr(workbench, "_shared", lambda: bench)
        app = opened(page, **link)
        assert not app.exception
        return app

    return new


def elements(app):
    return sum(1 for _ in app.main)


def words(app):
    kinds = (app.text, app.caption, app.markdown)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_hardly_more_elements(page, seen):
    few, many, faulty = seen(page, "usual"), seen(page, "sound"), seen(page)
    # The page Plugins has a box for each of the first packages.
    assert elements(many) <= (1.5 if page == "plugins" else 1.1) * elements(few)
    assert elements(faulty) <= elements(many) + MOST_FAULTS
    for row in many.get("button_group"):
        assert len(row.options) <= MOST_PILLS
    assert not many.radio


@pytest.mark.parametrize(
    ("page", "link", "key", "name"),
    [
        ("regression", {"a": "uniform"}, "panel-a-scoring", "gaussian_137"),
        ("regression", {"a": "uniform"}, "panel-a-uniform--normaliser-name", "entmax_37"),
        ("anatomy", {}, "anatomy-scoring", "gaussian_137"),
        ("anatomy", {}, "anatomy-normaliser-name", "entmax_37"),
        ("training", {}, "training-model", "bahdanau_7"),
        ("training", {}, "training-normaliser-name", "entmax_37"),
        ("experiment", {}, "experiment-normaliser-name", "entmax_37"),
    ],
)
def test_one_of_them_is_chosen_in_a_box_that_is_searched_by_typing(page, link, key, name, seen):
    app = seen(page, **link)
    app.selectbox(key).set_value(name).run()
    assert not app.exception
    assert name in str(dict(app.query_params))


@pytest.mark.parametrize("page", ["training", "experiment"])
def test_one_of_the_scorings_is_found_among_them(page, seen):
    app = seen(page)
    app.multiselect(f"{page}-scorings").set_value(["gaussian_137", "additive"]).run()
    assert not app.exception
    assert "gaussian_137" in str(dict(app.query_params))


def test_a_search_on_plugins_finds_one_and_shows_its_formula(seen):
    app = seen("plugins", find="no. 137")
    assert "1 found for" in words(app)
    assert "`gaussian_137`" in words(app)
    assert [fold.label for fold in app.expander] == ["Scorings · 1"]
    assert not app.dataframe


def test_plugins_lists_many_in_tables_and_shows_one_of_them(seen):
    app = seen("plugins", show="crowd")
    assert [fold.label for fold in app.expander] == [
        "Scorings · 200", "Normalisers · 50", "Models · 30",
    ]  # fmt: skip
    assert [len(table.value) for table in app.dataframe] == [200, 50, 30, crowd.PACKAGES + 2 - 6]
    assert "`gaussian_137`" not in words(app)
    (box,) = [one for one in app.selectbox if one.key == "crowd-scorings-one"]
    box.set_value("gaussian_137").run()
    assert "`gaussian_137`" in words(app)
    assert [button.key for button in app.button if button.label == "Check"] == [
        "check-scorings-gaussian_137"
    ]
    app.selectbox("plugins-others").set_value("small-35").run()
    assert dict(app.query_params)["show"] in ("small-35", ["small-35"])


def test_a_reload_that_changes_much_is_one_message_with_counts(backend, opened, usual, many):
    backend.facts = usual
    app = opened("regression")
    backend.facts = many
    (button,) = [one for one in app.button if one.label == "Reload plugins"]
    app = button.click().run()
    (toast,) = app.toast
    first, *named, last = toast.value.split("\n\n")
    problems = crowd.PACKAGES + 1
    assert first == f"**{CHANGES + problems} changes**"
    assert len(named) == 3
    assert last == f"and {CHANGES + problems - 3} more: see the page Plugins"


def test_plugins_says_the_first_changes_and_holds_the_others_in_a_table(
    backend, opened, usual, many
):
    backend.facts = usual
    app = opened("plugins")
    backend.facts = many
    (button,) = [one for one in app.button if one.key == "plugins-reload"]
    app = button.click().run()
    assert not app.toast
    assert app.expander[0].label == f"All {CHANGES + crowd.PACKAGES + 1} changes"
    assert len(app.dataframe[0].value) == CHANGES + crowd.PACKAGES + 1
    told = [one.value for one in app.text if " is new: a " in one.value]
    assert told == [*app.dataframe[0].value["Change"][:8]]

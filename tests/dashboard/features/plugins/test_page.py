import re
import tomllib
from types import SimpleNamespace

import pytest
from support.documents import ROOT

from attention_plugins.hookspecs import HOOKS
from dashboard.features.plugins import cards, page
from dashboard.jobs.backend import Event
from dashboard.language import ENGLISH, languages, said_in
from dashboard.records.request import Result
from dashboard.ui import owner
from dashboard.ui.widgets import plain
from dashboard.visitors import Visitor


def about(name, **more):
    return {"name": name, "version": "0.3", "summary": "", "links": [], **more}


def plugin(name, distribution, built_in=False, **offers):
    return {
        "name": name, "distribution": distribution, "version": "0.3", "module": f"{name}.hooks",
        "contract": "" if built_in else "1.0", "offers": offers, "built_in": built_in,
    }  # fmt: skip


@pytest.fixture
def shop(backend):
    """A backend beside which one good and three bad packages are installed."""
    facts = backend.facts
    (odd,) = [entry for entry in facts["scorings"] if entry["name"] == "odd"]
    odd |= {"title": "Odd *one*", "description": "Favours [nothing](https://evil.org).",
            "reference": "Nobody 2031", "formula": "q^\\top k / 2"}  # fmt: skip
    facts |= {
        "distributions": [
            about("attention-workbench"),
            about(
                "odd-kernels",
                summary="Kernels for [you](https://evil.org)",
                links=[
                    {"label": "Source", "url": "https://github.com/somebody/odd"},
                    {"label": "Home", "url": "http://insecure.example"},
                ],
            ),
            about("broken"), about("blocked"), about("locked"),
        ],
        "plugins": [
            plugin("scorings", "attention-workbench", True, scorings=["uniform", "gaussian"]),
            plugin("odd", "odd-kernels", scorings=["odd"]),
        ],
        "failures": [
            {"plugin": name, "distribution": name, "version": "0.3", "module": name,
             "stage": stage, "message": f"{name} *because*", "advice": f"mend {name}"}
            for name, stage in (("broken", "import"), ("blocked", "blocked"),
                                ("locked", "quarantine"))
        ],
        "versions": {"contract": "1.7"},
        "example": "yield cosine",
    }  # fmt: skip
    return backend


def texts(app):
    words = [*app.text, *app.caption, *app.markdown, *app.latex]
    return "\n".join(each.value for each in words)


def press(app, label, number=0):
    return [button for button in app.button if button.label == label][number].click().run()


def test_the_first_screen_lists_everything_and_shows_what_is_offered(shop, opened):
    app = opened("plugins")
    assert not app.exception
    seen = texts(app)
    for name in ("broken", "blocked", "locked"):
        assert f"{name} *because*" in seen
        assert f"What to do: mend {name}\\." in seen
    for badge in ("built-in]", "blocked]", "quarantined]", "1 problem]"):
        assert seen.count(badge) == 1
    assert "q^\\top k / 2" in seen
    assert "Nobody 2031" in seen
    assert "odd: imported from odd\\.hooks\\. Written for version 1\\.0 of the plugin " in seen
    assert "this workbench has version 1\\.7" in seen
    (origin,) = [each for each in app.caption if "Written for version" in each.value]
    assert "The contract is what a plugin may bring" in origin.help
    assert [code.value for code in app.code if "attention_plugins" in code.value or "yield" in
            code.value] == [
        "yield cosine", "python -m attention_plugins new my-scoring",
        "python -m attention_plugins check my-scoring",
    ]  # fmt: skip


def test_a_problem_that_is_blocked_is_no_error_and_advice_may_be_missing(shop, opened):
    del shop.facts["failures"][0]["advice"]
    shop.facts["failures"][1]["advice"] = ""
    seen = texts(opened("plugins"))
    assert seen.count("What to do") == 2, "of one, above the page and on it"
    for icon, name in (("error", "broken"), ("block", "blocked"), ("error", "locked")):
        assert re.search(rf":material/{icon}: \*\*[^*]+\*\* · {name}$", seen, re.MULTILINE), name


def test_texts_of_strangers_stay_text_and_only_honest_links_are_links(shop, opened):
    (odd,) = [one for one in shop.facts["scorings"] if one["name"] == "odd"]
    odd["reference"] = "See [me](https://evil.org)"
    seen = texts(opened("plugins"))
    assert f"**{plain('Odd *one*')}** · `odd`" in seen
    assert "](https://evil.org)" not in seen
    honest = "https://github.com/somebody/odd"
    assert f"[{plain(honest)}]({honest})" in seen
    assert "](http://" not in seen


def test_a_link_opens_a_distribution_and_a_click_another(shop, opened):
    app = opened("plugins", show="Attention_Workbench")
    assert "Uniform" in texts(app)
    assert dict(app.query_params) == {"show": "attention-workbench"}
    number = [b.key for b in app.button if b.label == "Show"].index("distribution-3-show")
    press(app, "Show", number)
    assert dict(app.query_params) == {"show": "odd-kernels"}
    assert "Nobody 2031" in texts(app)


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"show": "entmax-kernels"}, "distribution ‘entmax-kernels’ is not installed here."),
        ({"show": "<b>"}, "show=‘<b>’: need the name of a distribution"),
    ],
)
def test_a_hostile_or_foreign_link_is_explained(shop, opened, link, sentence):
    app = opened("plugins", **link)
    assert not app.exception
    assert sentence in texts(app)


def test_a_check_runs_on_demand_and_says_what_to_change(shop, opened, monkeypatch):
    findings = [
        {"rule": "scores_have_their_shape", "passed": True, "message": "", "waived": "",
         "seconds": 0.01},
        {"rule": "inputs_stay_as_they_are", "passed": False, "message": "do not write *into* it",
         "waived": "", "seconds": 0.02},
    ]  # fmt: skip
    shop.failing["plugins"] = Event(
        number=2, stage="done", result=Result(facts={"findings": findings})
    )
    app = opened("plugins")
    assert "plugins" not in [request.task for request in shop.submitted.values()]
    press(app, "Check")
    (asked,) = [r for r in shop.submitted.values() if r.task == "plugins"]
    assert dict(asked.options) == {"kind": "scorings", "name": "odd"}
    seen = texts(app)
    assert "1 of 2 rules broken" in seen
    assert "do not write *into* it" in seen
    assert "inputs stay as they are" in seen
    findings[1] |= {"passed": True, "waived": "of [this](http://x)", "seconds": 1.254}
    seen = texts(press(opened("plugins"), "Check"))
    assert "**2 rules kept**" in seen
    assert plain("✓ scores have their shape, 0.01 s") in seen
    waived = "✓ inputs stay as they are (expected to fail: of [this](http://x)), 1.25 s"
    assert plain(waived) in seen


def test_a_check_whose_worker_dies_costs_its_card(shop, opened):
    shop.failing["plugins"] = Event(
        number=2, stage="failed", note="killed by SIGSEGV", facts={"culprit": "odd-kernels"}
    )
    app = press(opened("plugins"), "Check")
    assert not app.exception
    assert "killed by SIGSEGV" in texts(app)
    assert "It happened in odd-kernels\\." in texts(app)


def test_only_administrators_may_reload(shop, opened, monkeypatch):
    for administers in (True, False):
        visitor = Visitor(owner="", role="administrator" if administers else "author")
        monkeypatch.setattr(owner, "visitor", lambda visitor=visitor: visitor)
        app = opened("plugins")
        assert app.button("plugins-reload").disabled != administers


def test_what_is_gone_since_it_was_to_be_checked_is_not_checked(shop, opened):
    app = press(opened("plugins"), "Check")
    shop.facts = {**shop.facts, "plugins": shop.facts["plugins"][:1]}
    shop.submitted.clear()
    app = press(app, "Reload plugins")
    assert not app.exception
    assert "plugins" not in [one.task for one in shop.submitted.values()]


@pytest.mark.parametrize(("count", "tables"), [(6, 0), (7, 1)])
def test_more_than_six_records_of_a_kind_are_a_table(shop, opened, count, tables):
    (odd,) = [one for one in shop.facts["scorings"] if one["name"] == "odd"]
    names = [f"odd_{number}" for number in range(count)]
    shop.facts["scorings"] += [{**odd, "name": name} for name in names]
    (mine,) = [one for one in shop.facts["plugins"] if one["name"] == "odd"]
    mine["offers"]["scorings"] = names
    app = opened("plugins", show="odd-kernels")
    assert len(app.dataframe) == tables
    if tables:
        (frame,) = (one.value for one in app.dataframe)
        assert ([*frame["Name"]], {*frame["Title"]}) == (names, {"Odd *one*"})
        box = app.selectbox("odd-kernels-scorings-one")
        assert box.options[2] == "Odd *one* · odd_2"
        box.set_value("odd_2").run()
        assert "`odd_2`" in texts(app)
        mine["offers"]["scorings"] = [name for name in names if name != "odd_2"] + ["odd_9"]
        shop.facts["scorings"].append({**odd, "name": "odd_9"})
        app = press(app, "Reload plugins")
        assert not app.exception
        assert app.selectbox("odd-kernels-scorings-one").value is None


def test_of_many_packages_the_chosen_one_has_its_box_and_all_its_problems(shop, opened):
    shop.facts["distributions"] += [about(f"more-{n}") for n in range(5)]
    like = shop.facts["failures"][0]
    shop.facts["failures"] += [
        {**like, "plugin": f"bad {n}", "distribution": name, "message": f"{name} {n}"}
        for name, count in (("broken", 1), ("odd-kernels", 9)) for n in range(count)
    ]  # fmt: skip
    app = opened("plugins", show="more-4")
    seen = texts(app)
    assert "**more-4**" in seen
    assert "Offers nothing." in seen
    (others,) = [one.value for one in app.dataframe]
    assert len(others) == len(shop.facts["distributions"]) - 7
    assert "and 1 more problems" in seen, "of a package that is not looked at one is told"
    seen = texts(opened("plugins", show="odd-kernels"))
    assert [f"odd-kernels {n}" in seen for n in (0, 7, 8)] == [True, True, False]
    assert "and 1 more problems" in seen
    kept = opened("plugins", show="attention-workbench")
    (others,) = [one.value for one in kept.dataframe if "Problems" in one.value]
    assert {*others["Problems"]} == {0}


def test_of_few_packages_all_problems_are_told(shop, opened):
    like = shop.facts["failures"][0]
    shop.facts["failures"].append({**like, "message": "broken twice"})
    assert texts(opened("plugins", show="odd-kernels")).count("broken twice") == 2, "and above"


def test_the_table_of_other_packages_counts_their_problems(shop, opened):
    like = shop.facts["failures"][0]
    shop.facts["distributions"] = [about(f"bad-{n}") for n in range(8)]
    shop.facts["failures"] = [{**like, "distribution": f"bad-{n}"} for n in range(8)] * 2
    app = opened("plugins")
    (others,) = [one.value for one in app.dataframe]
    assert [*others["Problems"]] == [2, 2]
    assert [*others["Package"]] == ["bad-6", "bad-7"]
    assert [*others["Version"]] == ["0.3"] * 2
    app.selectbox("plugins-others").set_value("bad-7").run()
    assert dict(app.query_params) == {"show": "bad-7"}
    assert "**bad-7**" in texts(app)


def test_what_is_found_in_more_than_six_packages_is_counted(shop, opened):
    (odd,) = [one for one in shop.facts["scorings"] if one["name"] == "odd"]
    names = [f"more_{n}" for n in range(7)]
    shop.facts["scorings"] += [{**odd, "name": name} for name in names]
    shop.facts["distributions"] = [about(name) for name in names]
    shop.facts["plugins"] = [plugin(name, name, scorings=[name]) for name in names]
    seen = texts(opened("plugins", find="more"))
    assert plain("7 found for ‘more’.") in seen
    assert "and in 1 more packages: search for more words." in seen


def test_pages_of_packages_are_told_with_what_is_wrong_with_them(shop, opened, monkeypatch):
    def entry(**more):
        said = SimpleNamespace(built_in=False, distribution="their*pages", version="2", title="T",
                               icon="map", purpose="Look", problem="", **more)  # fmt: skip
        said.said = lambda text, _language: text
        return said

    broken = entry()
    broken.problem, broken.title = "it *breaks*", "B"
    ours = entry()
    ours.built_in = True
    monkeypatch.setattr(page, "installed", lambda: [entry(), broken, ours])
    seen = texts(opened("plugins"))
    assert f":material/map: **T** · {plain('their*pages 2')}" in seen
    assert f":material/error: **B** · {plain('their*pages 2')}" in seen
    assert seen.count("**T**") == 1
    assert "it *breaks*" in seen
    assert seen.count("Look") == 1


def test_reload_says_what_changed(shop, opened):
    app = opened("plugins")
    assert "reloaded" not in texts(app)
    shop.facts = {**shop.facts, "failures": shop.facts["failures"][1:]}
    shop.facts["plugins"] = [
        shop.facts["plugins"][0], plugin("odd", "odd-kernels", scorings=["odd", "student_t"]),
    ]  # fmt: skip
    app = press(app, "Reload plugins")
    assert shop.reloads == 1
    assert "student_t is new: a scoring of odd-kernels." in texts(app)
    assert "broken has no problem any more." in texts(app)
    app = press(app, "Reload plugins")
    assert "Nothing has changed." in texts(app)


def test_of_many_changes_eight_stand_on_the_page_and_all_in_a_table(shop, opened, monkeypatch):
    sentences = [f"odd_{number} is new" for number in range(10)]
    monkeypatch.setattr(page.reloading, "changes", lambda *_, **_looks: sentences)
    app = opened("plugins")
    assert [one.value for one in app.text if "is new" in one.value] == sentences[:8]
    assert "All 10 changes" in [fold.label for fold in app.expander]
    (every,) = (one.value for one in app.dataframe)
    assert [*every["Change"]] == sentences


def test_another_page_tells_it_in_passing(shop, opened):
    app = opened("regression")
    shop.facts = {**shop.facts, "failures": []}
    press(app, "Reload plugins")
    (toast,) = app.toast
    assert toast.value.split("\n\n") == [
        "**3 changes**",
        *(f"{name} has no problem any more\\." for name in ("broken", "blocked", "locked")),
    ]


def test_one_change_needs_no_count(shop, opened):
    app = opened("regression")
    shop.facts = {**shop.facts, "failures": shop.facts["failures"][1:]}
    press(app, "Reload plugins")
    assert [toast.value for toast in app.toast] == ["broken has no problem any more\\."]


def test_records_of_a_hook_that_no_page_knows_have_their_cards(shop, opened):
    shop.facts["kinds"] = {**shop.facts["kinds"], "words": "word"}
    shop.facts["words"] = [{"name": "an", "title": "Article", "description": "Before vowels."}]
    (odd,) = [one for one in shop.facts["plugins"] if one["name"] == "odd"]
    odd["offers"]["words"] = ["an"]
    app = opened("plugins", show="odd-kernels")
    assert not app.exception
    seen = texts(app)
    assert "Offers 1 scoring, 1 word." in seen
    assert [fold.label for fold in app.expander] == ["Scorings · 1", "Words · 1"]
    assert [fold.proto.expanded for fold in app.expander] == [True, False]
    assert "**Article** · `an`" in seen
    assert "Before vowels\\." in seen


def test_a_search_shows_what_has_all_its_words_wherever_it_is_from(shop, opened):
    app = opened("plugins")
    app.text_input("plugins-find").set_value("NOBODY scor").run()
    assert dict(app.query_params) == {"find": "NOBODY scor"}
    seen = texts(app)
    assert plain("1 found for ‘NOBODY scor’.") in seen
    assert "odd-kernels" in seen
    assert "Nobody 2031" in seen
    assert "Uniform" not in seen
    both = texts(opened("plugins", find="scoring"))
    assert plain("3 found for ‘scoring’.") in both
    assert "Uniform" in both
    assert "Nobody 2031" in both
    none = opened("plugins", find="<b>")
    assert not none.exception
    assert plain("0 found for ‘<b>’.") in texts(none)


def test_every_kind_of_record_has_its_words():
    assert [*cards._TITLES] == [*HOOKS]
    assert cards.heading("datasets", "data set", 1234) == "Data sets · 1,234"
    assert [cards.counted(kind, "odd word", 2) for kind in (*HOOKS, "words")] == [
        *(f"2 {hook.noun}s" for hook in HOOKS.values()), "2 odd words",
    ]  # fmt: skip


def test_a_plugin_that_names_no_version_of_the_contract_is_not_complained_about(shop, opened):
    for one in shop.facts["plugins"]:
        one["contract"] = ""
    app = opened("plugins", show="odd-kernels")
    (origin,) = [each for each in app.caption if "odd\\.hooks" in each.value]
    assert origin.value == "odd: imported from odd\\.hooks\\."
    assert not origin.help


def test_the_workbenchs_own_summary_is_said_in_every_language():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for language in languages():
        said = said_in(language, project["description"])
        assert (said == project["description"]) == (language == ENGLISH)

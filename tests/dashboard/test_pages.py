"""Pages that packages bring: real distributions, real processes that try them, real workers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import streamlit
from streamlit.testing.v1 import AppTest

import dashboard
from dashboard import pages
from dashboard.jobs.pool import LocalPool, PoolOptions
from dashboard.records.request import Request
from dashboard.ui import navigation, workbench
from dashboard.ui.widgets import plain

ROOT = Path(dashboard.__file__).parents[1]
SHARPNESS = ROOT / "tests/plugins/attention_sharpness"
LIMIT = 20.0  # seconds; a busy machine imports slowly

ENTRY = "from dashboard.pages import Entry\nENTRY = Entry(title='A *title*')\n"
PAGE = """
    from dashboard.links.link import Link
    from dashboard.ui.page import Page
    {before}
    PAGE = Page(
        name="{name}", title="A title", explanation="It says.", keeps=False, catalogue=False,
        link=Link(default=lambda catalogue: None, fields=()),
        controls=lambda session: {controls}, results=lambda *_: None,
    )
"""


def page(name, before="", controls="None"):
    return PAGE.format(name=name, before=before, controls=controls)


# By the page's name, its page.py
PAGES = {
    "torchy": page("torchy", "import torch"),
    "leaves": page("leaves", "import os; os._exit(3)"),
    "race": page("race"),
    "train": page("train"),
    "formula": page("formula"),
    "Two Words": page("Two Words"),
    "draws": page("draws", controls="1 / 0"),
    "ends": page("ends", controls="exit()"),
    "offers": page("offers"),
}
# They are tried one after the other in one process.
TRIED = {
    "raises": page("raises", "1 / 0"),
    "exits": page("exits", "import sys; sys.exit('I leave')"),
    "absent": page("absent", "import surely_not_installed"),
    "numbers": page("numbers"),
    "icon": page("icon"),
    "other": page("another"),
    "hidden": page("hidden", "from attention_plugins import scoring"),
}


def lay(site, name, source, entry=ENTRY):
    """The modules of a page; the name of their package."""
    module = "page_" + name.replace(" ", "_")
    (site / module).mkdir()
    (site / module / "__init__.py").write_text(entry, "utf-8")
    (site / module / "page.py").write_text(textwrap.dedent(source), "utf-8")
    return module


def install(site, name, source):
    """A distribution with a page, as a wheel leaves it."""
    module = lay(site, name, source)
    known(site, module.replace("_", "-"), f"{name} = {module}:ENTRY")


def known(site, distribution, point):
    info = site / f"{distribution.replace('-', '_')}-0.1.dist-info"
    info.mkdir()
    about = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 0.1\n"
    (info / "METADATA").write_text(about, "utf-8")
    (info / "entry_points.txt").write_text(f"[attention_pages]\n{point}\n", "utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(SHARPNESS / "src", folder, dirs_exist_ok=True)
    declared = (SHARPNESS / "pyproject.toml").read_text("utf-8")
    (point,) = [line for line in declared.splitlines() if line.startswith("sharpness = ")]
    known(folder, "attention-sharpness", point.replace('"', ""))
    for name, source in PAGES.items():
        install(folder, name, source)
    (folder / "page_offers" / "task_offer.py").write_text("1 / 0", "utf-8")
    (folder / "page_offers" / "zh.po").write_bytes(b"\xff msgid")
    for number in "12":
        known(folder, f"twin-{number}", "twin = page_draws:ENTRY")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        patch.setenv("ATTENTION_PLUGIN_LIMIT", str(LIMIT))
        patch.syspath_prepend(str(folder))
        navigation.look_again()
        yield folder
    navigation.look_again()


@pytest.fixture(scope="module")
def bench(site):
    made = LocalPool(PoolOptions(workers=1))
    bench = workbench.Workbench(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workbench, "_shared", lambda: bench)
        patch.setattr("dashboard.ui.results.PATIENCE", 60.0)
        streamlit.cache_resource.clear()
        assert bench.catalogue(patience=120)
        yield bench
    made.close()


def visit(name, **query):
    def script(name):
        import streamlit as st

        from dashboard.ui import navigation, speaking

        speaking.begin()
        st.navigation(navigation.menu(), position="top")
        navigation._opener(name)()

    app = AppTest.from_function(script, args=(name,), default_timeout=120)
    app.query_params.update(query)
    return app.run()


def words(app):
    return "\n".join(each.value for kind in ("markdown", "text", "caption", "error")
                     for each in getattr(app, kind))  # fmt: skip


def test_a_page_of_a_package_is_shown_with_its_slider_its_chart_and_its_link(bench, chart_rows):
    app = visit("sharpness", temperature="0.5")
    assert not app.exception
    assert [title.value for title in app.title] == ["Sharpness"]
    assert app.slider[0].value == 0.5
    assert not words(app).strip().startswith("unknown parameter")
    ((drawn,),) = chart_rows(app, "key", "weight")
    assert [round(row["weight"], 4) for row in drawn] == [0.0003, 0.0021, 0.0158, 0.117, 0.8647]
    app.slider[0].set_value(2.0).run()
    assert app.query_params["temperature"] == "2"
    ((drawn,),) = chart_rows(app, "key", "weight")
    assert sum(row["weight"] for row in drawn) == pytest.approx(1.0)
    assert drawn[-1]["weight"] < 0.5


def test_its_place_in_the_menu_and_its_texts_are_as_it_declares_them(bench):
    entry = navigation.opened("sharpness")
    assert (entry.section, entry.distribution, entry.path) == (
        "Understand", "attention-sharpness", "sharpness",
    )  # fmt: skip
    app = visit("sharpness", lang="zh")
    assert not app.exception
    assert [title.value for title in app.title] == ["锐度"]
    assert app.slider[0].label == "温度"
    assert "温度越低，单个键得到的权重越大。" in words(app)


REFUSED = {
    "torchy": "page_torchy.page imports torch: only its task.py may, which runs in workers",
    "leaves": "leaves: its process ended with exit code 3",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_a_page_that_cannot_be_shown_says_why_where_it_would_be(site, name):
    app = visit(name)
    assert not app.exception
    assert app.text[-1].value == REFUSED[name]
    module = next(entry for entry in pages.found() if entry.name == name).module
    assert f"{module}.page" not in sys.modules


SAID = {
    "raises": "page_raises.page raised ZeroDivisionError: division by zero (page.py, line 4)",
    "exits": "page_exits.page raised SystemExit: I leave (page.py, line 4)",
    "absent": "page_absent.page raised ModuleNotFoundError: No module named "
    "'surely_not_installed' (page.py, line 4)",
    "numbers": "page_numbers:ENTRY must be an Entry of texts",
    "icon": 'page_icon:ENTRY raised StreamlitAPIException: The value `":material/no such:"` is '
    "not a valid Material icon.",
    "other": "need PAGE in page_other.page to be a Page of the name other, as the entry point "
    "has it",
    "hidden": "page_hidden.page imports torch: only its task.py may, which runs in workers",
}
TRY = """
import json, sys
from dashboard.records.request import Request
from dashboard.ui.page_trial import perform

def said(name):
    declared = f"page_{name}:ENTRY"
    try:
        return str(perform(Request.make(name, options={"declared": declared}), None))
    except ValueError as error:
        return str(error)

print(json.dumps({name: said(name) for name in sys.argv[1:]}))
"""


@pytest.mark.slow
def test_the_trial_of_a_page_says_what_is_wrong_with_it(tmp_path):
    entries = {"numbers": "ENTRY = 3", "icon": ENTRY.replace("*'", "*', icon='no such'")}
    for name, source in TRIED.items():
        lay(tmp_path, name, source, entries.get(name, ENTRY))
    ran = subprocess.run(
        [sys.executable, "-c", TRY, *TRIED], cwd=ROOT, capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)}, timeout=LIMIT * 5,
    )  # fmt: skip
    said = json.loads(ran.stdout.replace(r"\u200b", ""))  # Streamlit breaks its own icon's name
    assert said.keys() == SAID.keys()
    assert not {name: text for name, text in said.items() if not text.startswith(SAID[name])}


TAKEN = "its name is taken by the workbench: choose another"
TWIN = "another package brings a page of this name: remove one of them"
NO_ADDRESS = "its name cannot stand in an address: need a letter, then up to 39 of a-z, 0-9, _, -"


@pytest.mark.parametrize(
    ("name", "problem"),
    [("race", TAKEN), ("train", TAKEN), ("formula", TAKEN), ("twin", TWIN),
     ("Two Words", NO_ADDRESS)],
)  # fmt: skip
def test_a_page_whose_name_cannot_be_is_refused_before_its_package_is_touched(
    bench, name, problem
):
    theirs = [one for one in navigation.installed() if one.name == name and not one.built_in]
    assert [one.problem for one in theirs] == [problem] * (2 if name == "twin" else 1)
    assert not {one.module for one in theirs} & {*sys.modules}
    said = words(visit("plugins"))
    assert f"**{theirs[0].title}** · {plain(theirs[0].distribution + ' 0.1')}" in said
    assert problem in said


def test_a_task_of_a_packages_page_cannot_replace_one_of_the_workbench(bench):
    event = bench.backend.wait(bench.backend.submit(Request.make("formula")), 120)
    assert "page_formula" not in event.note + str(event.facts)


def test_what_a_task_offers_that_cannot_be_read_is_named_and_costs_no_other(bench):
    catalogue = bench.catalogue()
    (failure,) = catalogue.distributions["page-offers"].failures
    assert failure["message"] == "ZeroDivisionError: division by zero (task_offer.py, line 1)"
    assert [option.name for option in catalogue.options["sharpness"]] == ["temperature"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["draws", "ends"])
def test_what_a_page_raises_while_it_is_drawn_costs_that_page_alone(bench, name):
    assert visit(name).exception
    assert not visit("sharpness").exception


@pytest.mark.slow
def test_the_page_plugins_lists_the_pages_of_packages_with_their_problems(bench):
    for name in ("sharpness", "torchy"):
        navigation.opened(name)
    app = visit("plugins")
    assert not app.exception
    said = words(app)
    assert "**Sharpness** · " + plain("attention-sharpness 0.1") in said
    assert "how a temperature makes weights sharp or even" in said
    assert REFUSED["torchy"] in said


@pytest.mark.slow
def test_a_page_that_takes_too_long_is_refused_and_the_others_do_not_wait(site, monkeypatch):
    monkeypatch.setenv("ATTENTION_PLUGIN_LIMIT", "3")
    install(site, "slow", page("slow", "import time; time.sleep(600)"))
    navigation.look_again()
    slow = next(entry for entry in navigation.installed() if entry.name == "slow")
    assert (slow.title, slow.problem) == ("Slow", "")  # it is being tried
    assert navigation.opened("slow").problem == (
        "importing its page took over 3 s (ATTENTION_PLUGIN_LIMIT)"
    )

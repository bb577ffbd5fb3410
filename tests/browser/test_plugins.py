"""Packages that come and break while the app runs: the page Plugins says so, other panels draw."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.browser.conftest import WORK_SECONDS

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

SCORING = r"""
    import torch
    from attention_plugins import hookimpl, scoring

    @scoring("{name}", formula=r"-\log(1 + \lVert q-k\rVert_2^2)", same_size=True)
    def function(queries, keys):
        {forward}

    @hookimpl
    def attention_scorings():
        yield function
"""
STUDENT = "return -torch.cdist(queries, keys).square().log1p()"
LOOP = "while True: torch.ones(1)"


def install(site: Path, distribution: str, source: str) -> None:
    """What installing a wheel leaves behind."""
    module = distribution.replace("-", "_")
    (site / f"{module}.py").write_text(textwrap.dedent(source), "utf-8")
    info = site / f"{module}-0.3.dist-info"
    info.mkdir()
    about = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 0.3\nSummary: <b>About</b>\n"
    (info / "METADATA").write_text(about, "utf-8")
    (info / "entry_points.txt").write_text(f"[attention_plugins]\n{module} = {module}\n", "utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    install(folder, "bad-start", "while True: pass")
    install(folder, "bad-import", "import surely_not_installed")
    install(folder, "bad-loop", SCORING.format(name="loop", forward=LOOP))
    return folder


@pytest.fixture(scope="module")
def app(tmp_path_factory, server, site):
    """An app with impatient workers beside these packages."""
    variables = {
        "PYTHONPATH": str(site), "ATTENTION_PLUGIN_LIMIT": "3", "ATTENTION_SILENCE_LIMIT": "6",
    }  # fmt: skip
    with server(tmp_path_factory.mktemp("app"), **variables) as url:
        yield url


def test_a_package_that_is_installed_meanwhile_appears_after_a_reload(window, site):
    seen = window("plugins")
    seen.until(lambda: "Write your own in ten lines" in seen.text(), "the list")
    text = seen.text()
    assert "it was not loaded after 3 s (bad_start.py, line 1" in text
    assert "No module named 'surely_not_installed' (bad_import.py, line 1)" in text
    assert "<b>About</b>" in text
    install(site, "attention-student-t", SCORING.format(name="student_t", forward=STUDENT))
    seen.page.get_by_role("button", name="Reload plugins").last.click()
    new = "student_t is new: a scoring of attention-student-t."
    seen.until(lambda: new in seen.text(), "the news")
    seen.page.get_by_role("button", name="Check").first.click()
    seen.until(lambda: " rules kept" in seen.text() or " rules broken" in seen.text(), "its card")
    assert seen.overflow() <= 0
    seen.screenshot("plugins")


# Counts the moments at which a page of two charts shows less than these, or that it waits.
WATCH = """() => {
  window.blanks = 0;
  const look = () => {
    const charts = document.querySelectorAll('[data-testid="stVegaLiteChart"] canvas').length;
    const waits = document.querySelector('[data-testid="stSkeleton"], [data-stale="true"]');
    if (charts < window.charts || waits) window.blanks += 1;
  };
  window.charts = document.querySelectorAll('[data-testid="stVegaLiteChart"] canvas').length;
  new MutationObserver(look).observe(document.body, {subtree: true, childList: true});
  setInterval(look, 5);
}"""


def test_the_page_of_another_visitor_notices_nothing_of_a_reload(window):
    other = window("regression?a=gaussian&b=laplacian")
    other.until(lambda: other.rows("q", "x", "prediction", key="panel-b"), "the second curve")
    other.settle()
    other.page.evaluate(WATCH)
    assert other.page.evaluate("window.charts") > 1
    seen = window("plugins")
    seen.page.get_by_role("button", name="Reload plugins").last.click()
    seen.until(lambda: "Reloading plugins: " in seen.text(), "how far it is")
    seen.screenshot("plugins-reloading")
    seen.until(lambda: "Plugins were reloaded" in seen.text(), "what changed")
    assert "Reloading plugins: " not in seen.text()
    assert other.page.evaluate("window.blanks") == 0


def test_an_endless_loop_costs_its_panel_and_names_its_package(window):
    seen = window("regression?a=loop&b=gaussian")
    seen.until(lambda: seen.rows("q", "x", "prediction", key="panel-b"), "the other curve")
    seen.until(lambda: "without a sign of life in bad-loop" in seen.text(), "the culprit")
    # The page is drawn anew when the culprit is named; on a busy machine that takes a moment.
    seen.until(lambda: seen.rows("q", "x", "prediction", key="panel-b"), "the other curve, still")


def test_the_list_fits_a_phone(window):
    seen = window("plugins?show=bad-import&look=x", width=390, scheme="dark")
    seen.until(lambda: "Write your own in ten lines" in seen.text(), "the list")
    assert "unknown parameter ‘look’: ignored" in seen.text()
    assert seen.overflow() <= 0
    seen.screenshot("plugins-narrow-dark")


def test_what_a_reload_changed_covers_no_button_and_goes_away(window):
    seen = window("regression?a=gaussian")
    seen.until(lambda: seen.rows("q", "x", "prediction", key="panel-a"), "the curve")
    button = seen.page.get_by_role("button", name="Reload plugins").first
    button.click()  # the pointer rests there
    toast = seen.page.get_by_test_id("stToast")
    toast.wait_for(state="visible", timeout=WORK_SECONDS * 1000)  # until new workers are ready
    button_box, box = button.bounding_box(), toast.bounding_box()
    assert box["y"] > button_box["y"] + button_box["height"]
    toast.hover(force=True)
    toast.wait_for(state="detached", timeout=15_000)

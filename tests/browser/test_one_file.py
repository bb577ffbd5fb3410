"""Pages as HTML files: opened from the disk, without a server and a network."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from axe_playwright_python.sync_playwright import Axe

from dashboard.charts import attention_heatmap, export
from dashboard.charts.one_file import Edition

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
MOST_BYTES, PATIENCE = 3_000_000, 30.0
LINKS = {
    "start": "/", "regression": "/regression", "anatomy": "/anatomy", "positions": "/positions",
    "normalisation": "/normalisation", "translation": "/translation", "heads": "/heads",
    "lesson": "/lessons?lesson=2&guess=b",
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The pages' files by their names, written by the command, in the order of the links."""
    folder = tmp_path_factory.mktemp("published")
    subprocess.run(
        [sys.executable, "-c", "from dashboard.command_line import main; raise SystemExit(main())",
         "publish", folder / "site", *LINKS.values()],
        check=True, cwd=ROOT, env=os.environ | {"ATTENTION_WORKBENCH_HOME": str(folder)},
    )  # fmt: skip
    written = sorted((folder / "site").glob("[0-9]*.html"))
    return dict(zip(LINKS, written, strict=True)) | {"index": folder / "site" / "index.html"}


@pytest.fixture
def opened(browser):
    """Opens a file as a reader without a network; nothing may be asked for or complained about."""
    asked, errors = [], []

    @contextmanager
    def new(file, width=1280, scheme="light"):
        context = browser.new_context(
            offline=True, viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda said: errors.append(said.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri())
        yield page
        context.close()

    yield new
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert errors == []


def drawn(page, language="en"):
    page.locator(f"html[data-drawn^={language}]").wait_for(timeout=PATIENCE * 1000)


@pytest.mark.parametrize("name", LINKS)
def test_a_page_is_one_small_file(name, files, opened):
    assert files[name].stat().st_size <= MOST_BYTES
    with opened(files[name]) as page:
        drawn(page)
        shown = page.locator(".chart").count()
        assert page.evaluate("Object.keys(window.views).length") == shown > 0
        found = Axe().run(page, options={"reporter": "no-passes"}).response["violations"]
        assert found == [], [(one["id"], one["nodes"][0]["html"][:200]) for one in found]
        english = page.inner_text("main")
        page.get_by_role("button", name="简体中文").click()
        drawn(page, "zh")
        assert page.evaluate("document.documentElement.lang") == "zh-Hans"
        assert page.inner_text("main") != english
        assert page.locator(".chart").count() == shown


@pytest.mark.parametrize("name", LINKS)
def test_it_fits_a_phone_and_a_dark_room(name, files, opened):
    with opened(files[name], width=390, scheme="dark") as page:
        drawn(page)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert (
            page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 28)"
        )
        paper = "Object.values(window.views).map((view) => view.background())"
        assert set(page.evaluate(paper)) == {"#12161c"}
        page.get_by_role("button", name="Light or dark").click()
        page.locator("html[data-drawn='en light']").wait_for(timeout=PATIENCE * 1000)
        assert set(page.evaluate(paper)) == {"#ffffff"}


def test_charts_answer_the_pointer_and_say_themselves_in_words(files, opened):
    with opened(files["regression"]) as page:
        drawn(page)
        chart = page.locator(".chart").first
        box = chart.bounding_box()
        tooltip = page.locator("#vg-tooltip-element.visible")
        for x in range(60, 300, 20):
            page.mouse.move(box["x"] + x, box["y"] + box["height"] / 2)
        tooltip.wait_for(timeout=PATIENCE * 1000)
        assert page.locator('.chart svg [aria-label^="x: "][aria-label*="y: "]').count() > 0
        words = page.locator("figure details").first
        assert not words.locator("p").is_visible()
        words.locator("summary").click()
        assert words.inner_text().count(" ") > 10
        assert page.locator("math").count() > 0
        assert page.locator("table").count() > 0


# The heights of the points of all lines of a chart, as painted.
CURVE = """(name) => {
  const view = window.views[Object.keys(window.views).find((each) => each.endsWith(name))];
  const sets = Object.values(view.getState({data: () => true, signals: () => false}).data);
  return sets.flat().filter((mark) => mark && "defined" in mark).map((mark) => mark.y);
}"""
FIGURES = "[...document.querySelectorAll('p.text')].map((each) => each.textContent)"


TOLD = """() => Object.fromEntries([...document.querySelectorAll('#vg-tooltip-element tr')]
  .map((row) => [...row.cells].map((cell) => cell.textContent)))"""


def comes(page, condition):
    """Whether something comes to hold while a busy machine draws."""
    end = time.monotonic() + PATIENCE
    while not (held := condition()) and time.monotonic() < end:
        page.wait_for_timeout(50)
    return held


def test_the_pointer_is_told_what_a_slider_has_moved(files, opened):
    with opened(files["regression"]) as page:
        drawn(page)
        chart, at = page.locator(".chart").first, {"x": 300, "y": 90}
        chart.hover(position=at)
        assert comes(page, lambda: "b" in page.evaluate(TOLD))
        before = page.evaluate(TOLD)
        page.locator(".live input").first.focus()
        page.keyboard.press("End")
        chart.hover(position=at)
        assert comes(page, lambda: page.evaluate(TOLD)["b"] != before["b"])
        now = page.evaluate(TOLD)
        assert now == before | {"b": now["b"]}


def test_charts_and_words_follow_its_sliders(files, opened):
    with opened(files["regression"]) as page:

        def others(known):
            now = page.evaluate(FIGURES)
            return [a != b for a, b in zip(known, now, strict=True)]

        drawn(page)
        first, second = page.locator(".live input").all()
        curve, words = page.evaluate(CURVE, "panel-b"), page.evaluate(FIGURES)
        assert len(curve) > 10
        for key in ("End", "Home", "End"):  # a second time is as the first
            first.focus()
            before, drawn_before = first.input_value(), page.evaluate(CURVE, "panel-b")
            page.keyboard.press(key)
            assert comes(page, lambda was=drawn_before: page.evaluate(CURVE, "panel-b") != was)
            assert comes(page, lambda: others(words) == [False, True, False, False])
            assert first.input_value() != before
            assert first.get_attribute("aria-valuetext").startswith(first.input_value())
            assert page.evaluate(CURVE, "panel-b") != curve
        assert "tables show the values from before" in page.locator(".moved").inner_text()
        second.focus()
        page.keyboard.press("ArrowRight")
        assert comes(page, lambda: page.evaluate(CURVE, "panel-b") == curve)
        assert comes(page, lambda: others(words)[:3] == [False, False, False])
        page.keyboard.press("ArrowLeft")
        assert comes(page, lambda: page.locator(".moved").inner_text() == "")
        assert comes(page, lambda: page.evaluate(FIGURES) == words)
        page.get_by_role("button", name="Light or dark").click()
        page.locator("html[data-drawn='en dark']").wait_for(timeout=PATIENCE * 1000)
        assert page.evaluate(CURVE, "panel-b") == curve
        page.get_by_role("button", name="简体中文").click()
        drawn(page, "zh")
        figures = page.evaluate(FIGURES)
        page.locator(".live input").first.focus()
        page.keyboard.press("End")
        assert comes(page, lambda: others(figures) == [False, True, False, False])
        assert not set(page.evaluate(FIGURES)) & set(words)


def test_the_index_leads_to_every_file(files, opened):
    with opened(files["index"]) as page:
        links = page.locator("main a")
        assert links.count() == len(LINKS)
        links.first.click()
        drawn(page)
        assert page.url == files["start"].as_uri()


RUN = "window.hit=1"
HOSTILE = [
    f"<img src=x onerror={RUN}>", f"</script><script>{RUN}</script>", f"[a](javascript:{RUN})",
    f"[b](data:text/html,<script>{RUN}</script>)", f"[c](vbscript:{RUN})",
    f"$\\href{{javascript:{RUN}}}{{x}}$", f"$\\htmlData{{a=b}}{{x}}$ <svg onload={RUN}>",
    "$\\rule{100000em}{1em}$", "$\\def\\a{\\a\\a}\\a$", "[d](//evil.example/x)", "**`*[`_$$",
    f"| <b onclick={RUN}>a</b> | b |\n| --- | --- |\n| c | <i>d</i> |",
]  # fmt: skip


def test_no_name_note_or_token_runs_or_loads_anything(tmp_path, opened):
    every = "\n\n".join(HOSTILE)
    chart = attention_heatmap([[0.5, 0.5]], [HOSTILE[0]], HOSTILE[1:3], title=HOSTILE[1])
    kinds = ("heading", "markdown", "caption", "text", "latex", "error")
    seen = [{"kind": kind, "text": text} for kind in kinds for text in (*HOSTILE, every)]
    seen += [{"kind": kind, "label": every, "value": every} for kind in ("metric", "setting")]
    seen.append({"kind": "group", "title": every, "letter": "a", "blocks": []})
    seen += [{"kind": "chart", "name": "c", "alt": every}, {"kind": "table", "name": "t"}]
    page = Edition(
        title=every, note=every, link=f"javascript:{RUN}", seen=seen,
        charts={"c": chart.to_dict()}, tables={"t": pa.table({each: [each] for each in HOSTILE})},
    )  # fmt: skip
    file = tmp_path / "hostile.html"
    file.write_bytes(export.page({"en": page, "zh": page}))
    with opened(file) as seen_by:
        for language, button in (("en", "简体中文"), ("zh", "English")):
            drawn(seen_by, language)
            assert (
                seen_by.locator("main :is(img, script, iframe, svg[onload], [onclick])").count()
                == 0
            )
            addresses = seen_by.eval_on_selector_all("a", "(all) => all.map((a) => a.href)")
            assert [each for each in addresses if not each.startswith("http")] == []
            assert seen_by.inner_text("h1").startswith("<img src=x")
            assert seen_by.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            seen_by.get_by_role("button", name=button).click()
        assert seen_by.evaluate("window.hit") is None


def test_the_policy_stops_what_would_stand_in_the_page(tmp_path, browser):
    """As if a text had become markup after all: the browser refuses to run it."""
    file = tmp_path / "page.html"
    file.write_bytes(export.page({"en": Edition(title="A", seen=[])}))
    context = browser.new_context(offline=True)
    page = context.new_page()
    refused = []
    page.on("console", lambda said: refused.append(said.text))
    page.goto(file.as_uri())
    page.evaluate(
        """() => {
          document.body.insertAdjacentHTML('beforeend',
            '<img src="data:," onerror="window.hit=1"><a href="javascript:window.hit=2">go</a>');
          const script = document.createElement('script');
          script.textContent = 'window.hit=3';
          document.body.append(script);
        }"""
    )
    page.get_by_text("go", exact=True).click()
    page.wait_for_timeout(300)
    assert page.evaluate("window.hit") is None
    assert len([each for each in refused if "Content Security Policy" in each]) == 3
    context.close()


def test_the_page_s_button_gives_the_file_in_both_languages(window, tmp_path, opened):
    seen = window("regression?a=gaussian&b=laplacian")
    seen.until(lambda: seen.rows("q", "x", key="panel-b"), "curves").settle()
    seen.page.locator(".st-key-page-keep button").first.click()
    button = seen.page.get_by_role("button", name="HTML", exact=True)
    button.wait_for(timeout=PATIENCE * 1000)
    with seen.page.expect_download(timeout=4 * PATIENCE * 1000) as coming:
        button.click()
    file = tmp_path / "page.html"
    file.write_bytes(coming.value.path().read_bytes())
    with opened(file) as page:
        drawn(page)
        assert page.inner_text("h1") == "Kernel regression: Gaussian kernel, Laplacian kernel"
        assert page.locator(".live input").count() == 2
        assert page.locator("nav a").count() == 0  # this machine is nowhere else
        page.get_by_role("button", name="简体中文").click()
        drawn(page, "zh")
        assert page.inner_text("h1").startswith("核回归：")
    seen.settle()

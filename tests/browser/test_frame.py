"""What stands around every page: its beginning, and its language."""

from __future__ import annotations

import re

import pytest

from tests.browser.conftest import Window

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


def test_another_page_begins_at_its_top(window):
    seen = window("normalisation", width=390, height=844, touch=True)
    seen.until(lambda: len(seen.views()) >= 10, "the charts").settle()
    main = seen.page.get_by_test_id("stMain")
    main.evaluate("main => main.scrollTo(0, 700)")
    assert main.evaluate("main => main.scrollTop") == 700
    seen.page.get_by_test_id("stExpandSidebarButton").click()
    seen.page.get_by_test_id("stSidebarNavLink").get_by_text("Positional encoding").click()
    seen.until(lambda: "for 50 points" in seen.text() or len(seen.views()) >= 5, "the page")
    seen.until(lambda: "positions" in seen.page.url, "the address").settle()
    seen.until(lambda: main.evaluate("main => main.scrollTop") == 0, "its top")
    menu = seen.page.locator('[data-testid="stSidebar"][data-collapsed="false"]')
    seen.until(lambda: not menu.count(), "the page without the menu")


def test_another_lesson_begins_at_its_top(window):
    seen = window("lessons", width=390, height=844, touch=True)
    main = seen.page.get_by_test_id("stMain")
    next_one = seen.page.get_by_role("button", name="Next", exact=True)
    seen.until(next_one.count, "the first lesson").settle()
    next_one.scroll_into_view_if_needed()
    main.evaluate("main => main.scrollTo(0, main.scrollHeight)")
    next_one.click()
    seen.until(lambda: "lesson=2" in seen.page.url, "the second lesson").settle()
    seen.until(lambda: main.evaluate("main => main.scrollTop") == 0, "its top")


def test_a_page_speaks_chinese_and_its_link_says_so(window):
    seen = window("server?lang=zh")
    seen.until(lambda: "你的身份" in seen.text(), "the role").settle()
    assert "ATTENTION_WORKERS" in seen.text()
    seen.screenshot("server-zh-1280-light")
    seen.page.get_by_role("button", name="English").click()
    seen.until(lambda: "You are: administrator" in seen.text(), "English").settle()
    assert "lang=en" in seen.page.url
    seen.page.get_by_role("button", name="简体中文").click()
    seen.until(lambda: "工作进程数" in seen.text(), "Chinese").settle()
    assert "lang=zh" in seen.page.url


def test_a_chosen_language_stays_for_other_tabs_of_the_same_browser_alone(window):
    seen = window("server")
    seen.page.get_by_role("button", name="简体中文").click()
    seen.until(lambda: "工作进程数" in seen.text(), "Chinese").settle()
    tab = seen.page.context.new_page()
    tab.goto(f"{seen.url}/server")
    tab.get_by_role("button", name="English").wait_for()
    assert "lang" not in tab.url
    tab.goto(f"{seen.url}/server?lang=en")
    tab.get_by_role("button", name="简体中文").wait_for()
    tab.goto(f"{seen.url}/server")
    tab.get_by_role("button", name="English").wait_for()  # a link's language is not remembered
    another = window("server")
    assert another.page.get_by_role("button", name="简体中文").count() == 1


def test_a_row_fades_where_it_goes_on(window):
    seen = window("alignment", width=390, height=844, touch=True)
    row = seen.page.locator(".st-key-alignment-what")
    seen.until(row.count, "the row of controls").settle()
    faded = "row => ['left', 'right'].map((end) => getComputedStyle(row)"
    faded += ".getPropertyValue(`--more-${end}`) !== '0px')"
    for scrolled, ends in ((0, [False, True]), (200, [True, True]), (9999, [True, False])):
        row.evaluate("(row, to) => { row.scrollLeft = to; }", scrolled)
        seen.until(lambda ends=ends: row.evaluate(faded) == ends, f"its ends at {scrolled} px")


@pytest.mark.parametrize("path", ["regression", "anatomy", "experiment"])
def test_a_phone_shows_whole_rows_of_sliders(window, path):
    seen = window(path, width=390, height=844, touch=True)
    sliders = seen.page.locator(".stHorizontalBlock .stSlider")
    seen.until(sliders.count, "the sliders").settle()
    rights = """all => all.flatMap(one => [...one.closest('.stHorizontalBlock').children])
      .map(one => one.getBoundingClientRect().right)"""
    assert max(sliders.evaluate_all(rights)) <= 390


def test_a_finger_that_scrolls_moves_no_slider(window):
    seen = window(width=390, height=844, touch=True)
    main, slider = seen.page.get_by_test_id("stMain"), seen.page.locator("input[type=range]")
    seen.until(slider.count, "the slider").settle()
    touch = seen.page.context.new_cdp_session(seen.page)

    def swipe(begun, across, down):
        main.evaluate("main => main.scrollTo(0, 0)")
        seen.page.wait_for_timeout(300)  # until no finger's swing goes on
        main.evaluate("main => main.scrollTo(0, 0)")
        box = slider.locator("xpath=../..").bounding_box()
        x, y = box["x"] + box["width"] / 2 + begun[0], box["y"] + box["height"] / 2 + begun[1]
        for step in range(11):
            at = {"x": x + across * step / 10, "y": y + down * step / 10}
            kind = "touchMove" if step else "touchStart"
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [at]})
            seen.page.wait_for_timeout(16)  # as a screen tells it
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        seen.settle()

    # On the thumb, its number and its track; the last is the way of a thumb that holds the phone.
    for begun, across in [((0, 0), 0), ((0, -22), 0), ((150, 0), 0), ((0, 0), 60)]:
        swipe(begun, across, -200)
        seen.until(lambda: main.evaluate("main => main.scrollTop") > 100, "the page to scroll")
        assert slider.input_value() == "0.5"
    swipe((0, 18), 80, 20)
    assert float(slider.input_value()) > 0.8
    assert main.evaluate("main => main.scrollTop") == 0


def test_the_tab_key_goes_through_a_popover_and_escape_returns_to_its_button(window):
    seen = window("server", height=1200)
    keyboard = seen.page.keyboard
    button = seen.page.get_by_role("button", name="Glossary")
    focused = "each => each === document.activeElement"
    button.focus()
    keyboard.press("Enter")
    sought = seen.page.get_by_role("textbox", name="Find a term")
    seen.until(sought.count, "the glossary").settle()
    keyboard.press("Tab")
    assert sought.evaluate(focused)
    keyboard.press("Shift+Tab")
    assert button.evaluate(focused)
    seen.page.get_by_role("link", name="Lessons explain most").focus()
    keyboard.press("Tab")
    assert seen.page.get_by_role("button", name="Copy link").evaluate(
        "each => each === each.getRootNode().activeElement"
    )
    sought.focus()
    keyboard.press("Escape")
    seen.until(lambda: not sought.count(), "the glossary to close").settle()
    assert button.evaluate(focused)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_has_the_focus_has_a_ring(window, scheme):
    seen = window("plugins", scheme=scheme)
    ring = """each => {
      const style = getComputedStyle(each);
      return style.outlineStyle + ' ' + style.outlineWidth + ' ' + style.outlineColor;
    }"""
    colour = {"light": "rgb(42, 109, 179)", "dark": "rgb(90, 162, 230)"}[scheme]
    seen.page.keyboard.press("Tab")  # from now on the browser shows the focus
    link = seen.page.get_by_test_id("stSidebarNavLink").or_(
        seen.page.get_by_test_id("stTopNavLink")
    )
    for each in (link.first, seen.page.get_by_role("button", name="Glossary")):

        def ringed(each=each):
            each.focus()
            return each.evaluate(ring) == f"solid 2px {colour}"

        seen.until(ringed, "its ring")


def test_one_press_leads_back_to_before_a_slider_was_moved(window):
    seen = window("regression?a=gaussian")
    slider = seen.page.get_by_role("slider", name="Training points")
    slider.focus()
    for points in (51, 52, 53):
        seen.page.keyboard.press("ArrowRight")
        seen.until(lambda now=points: f"points={now}" in seen.page.url, "the step").settle()
    seen.page.go_back()
    seen.until(lambda: "points" not in seen.page.url, "the address of before").settle()
    seen.until(lambda: slider.input_value() == "50", "the slider as it was")


def test_what_says_that_the_server_stopped_covers_no_embedded_title(window):
    seen = window("server?embed=true", width=960, height=540)
    title = seen.page.locator("h1").bounding_box()
    told = seen.page.locator(".stApp").evaluate("""app => {
      app.dataset.testConnectionState = "PINGING_SERVER";
      const { display, top } = getComputedStyle(document.body, "::before");
      return [display, parseFloat(top)];
    }""")
    assert told[0] == "block"
    assert 540 > told[1] > title["y"] + title["height"]


HIDDEN = "list => list.every(e => !e.getClientRects().length)"


def test_an_embedded_page_is_its_content_alone_and_says_how_high_it_is(window):
    seen = window("regression?a=gaussian&embed=true")
    header = seen.page.get_by_test_id("stHeader")
    buttons = seen.page.locator(".st-key-page-buttons button")
    seen.until(buttons.count, "the buttons, unseen")
    assert header.evaluate_all(HIDDEN)
    assert buttons.evaluate_all(HIDDEN)
    data = seen.page.get_by_role("button", name="Your data", include_hidden=True)
    seen.until(data.count, "the button for files, unseen")
    assert data.evaluate_all(HIDDEN)
    assert seen.page.get_by_test_id("stSliderThumbValue").first.is_visible()
    assert seen.page.locator("h1").is_visible()
    size = "parseFloat(getComputedStyle(document.querySelector('h1')).fontSize)"
    narrow = seen.page.evaluate(size)
    seen.page.set_viewport_size({"width": 1920, "height": 1080})
    assert 1.45 < seen.page.evaluate(size) / narrow < 1.55
    seen.page.set_viewport_size({"width": 1280, "height": 900})
    seen.page.evaluate(
        """() => { addEventListener("message", ({ data }) => { window.heard = data; });
        const frame = document.createElement("iframe"); frame.src = location; frame.width = 700;
        document.body.append(frame); }"""
    )
    seen.until(lambda: seen.page.evaluate("window.heard?.height > 400"), "how high it is")
    assert seen.page.evaluate("window.heard.subject") == "lti.frameResize"


@pytest.mark.parametrize(
    ("path", "screen"),
    [("translation?embed=true", {"width": 1920, "height": 1080}),
     ("translation", {"width": 390, "height": 844, "touch": True})],
)  # fmt: skip
def test_on_a_slide_and_a_phone_formulas_and_names_are_whole(window, path, screen):
    seen = window(path, **screen)
    formulas = seen.page.locator(".st-key-panel-a-formula, .st-key-panel-b-formula")
    seen.until(lambda: formulas.locator(".katex-html").count() == 2, "the formulas").settle()
    outside = """(found) => found.filter((place) => {
      const { top, bottom } = place.getBoundingClientRect();
      return [...place.querySelectorAll(".katex-html > .base")].some((set) => {
        const box = set.getBoundingClientRect();
        return box.top < top || box.bottom > bottom;
      });
    }).length"""
    assert formulas.evaluate_all(outside) == 0
    cut = "(found) => found.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.value)"
    assert seen.page.locator("[data-testid=stSelectbox] input").evaluate_all(cut) == []


def test_paper_has_no_menu_and_no_buttons_and_tears_nothing_apart(window):
    seen = window("regression?a=gaussian")
    seen.until(lambda: len(seen.views()) >= 3, "the charts").settle()
    seen.page.emulate_media(media="print")
    unseen = ".stApp :is(button, [data-testid=stHeader])"
    assert seen.page.locator(f"{unseen}:visible").all_inner_texts() == []
    assert seen.page.get_by_test_id("stSliderThumbValue").first.is_visible()
    rule = "list => [...new Set(list.map(e => getComputedStyle(e).breakInside))]"
    assert seen.charts().evaluate_all(rule) == ["avoid"]


@pytest.mark.parametrize("page", ["heads", "race", "translation", "lessons?guess=b"])
def test_a_sheet_holds_what_a_window_holds_and_nothing_that_is_pressed(window, page):
    seen = window(page, width=1280)
    seen.until(seen.views, "the charts").settle()
    wide = "list => Math.max(0, ...list.map(e => e.getBoundingClientRect().width))"
    drawn = seen.page.locator(":is(canvas, svg.marks):visible")
    most = drawn.evaluate_all(wide)
    seen.page.emulate_media(media="print")
    margins = 2 * 12 / 25.4 * 96  # px
    zoom = "getComputedStyle(document.querySelector('.stMainBlockContainer')).zoom"
    assert 0 < most * float(seen.page.evaluate(zoom)) <= 210 / 25.4 * 96 - margins
    rules = "[...document.styleSheets].flatMap(s => [...s.cssRules]).map(r => r.cssText)"
    assert any(one.startswith("@page") and "12mm" in one for one in seen.page.evaluate(rules))
    pressed = "[role=tablist], [aria-checked=false], .st-key-race-narrow, .st-key-lesson-tries"
    assert seen.page.locator(f".stApp :is({pressed}):visible").all_inner_texts() == []
    for value in seen.page.get_by_test_id("stSliderThumbValue").all():
        assert value.bounding_box()["height"] < 30  # px: one line


def test_paper_cuts_no_chart_of_a_panel(window):
    """A panel is as high as its neighbours; on paper it must grow with what moves down a sheet."""
    seen = window("experiment")
    seen.until(lambda: len(seen.views()) >= 5, "the charts").settle()
    seen.page.emulate_media(media="print")
    cuts = """list => list.flatMap((chart) => {
      const found = [];
      for (let at = chart; at && !at.matches("[data-testid=stMain]"); at = at.parentElement) {
        const { overflow, display, flexDirection } = getComputedStyle(at);
        if (overflow !== "visible") found.push(overflow);
        if (display === "flex" && flexDirection === "column") found.push(at.dataset.testid);
      }
      return found;
    })"""
    assert set(seen.charts().evaluate_all(cuts)) <= {"stGridCell", "stLayoutWrapper"}
    rule = "list => [...new Set(list.map(e => getComputedStyle(e).breakInside))]"
    assert seen.page.get_by_test_id("stGridCell").evaluate_all(rule) == ["avoid"]
    opening = """list => list.filter((e) => getComputedStyle(e).breakBefore === "page")
      .map((e) => e.innerText)"""
    headings = seen.page.locator(".stElementContainer:has(> [data-testid=stHeading])")
    assert headings.evaluate_all(opening) == ["Where each scoring looks"]


def test_the_table_of_all_scorings_fits_on_a_sheet_of_paper(window):
    seen = window("plugins")
    table = seen.page.locator("[data-testid=stDataFrame]:visible").first
    seen.until(table.count, "the table").settle()
    sheet = 277 / 25.4 * 96  # A4 with margins of 1 cm, in px
    assert table.bounding_box()["height"] > sheet
    seen.page.emulate_media(media="print")
    assert table.bounding_box()["height"] < sheet


@pytest.mark.parametrize(
    ("page", "said"), [("race", {'"The page has more of this table."'}), ("experiment", {"none"})]
)
def test_paper_says_where_there_is_more_of_a_table(window, page, said):
    seen = window(page)
    seen.until(seen.page.locator(".dvn-scroller").count, "a table").settle()
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    seen.page.emulate_media(media="print")
    below = """list => list.map((table) =>
      getComputedStyle(table.closest(".stElementContainer"), "::after").content)"""
    tables = seen.page.locator("[data-testid=stDataFrame]:has(.dvn-scroller):visible")
    assert {*tables.evaluate_all(below)} == said


def test_a_table_of_text_goes_on_over_sheets_and_words_stay_with_their_chart(window):
    seen = window("server")
    table = seen.page.get_by_test_id("stTableStyledTable").first
    seen.until(table.count, "the settings").settle()
    seen.page.emulate_media(media="print")
    whole = """(table) => {
      const found = [];
      for (let at = table; at && !at.matches("[data-testid=stMain]"); at = at.parentElement) {
        const { breakInside, overflow, display } = getComputedStyle(at);
        if (breakInside !== "auto" || overflow !== "visible" || display.startsWith("inline"))
          found.push([at.className, breakInside, overflow, display]);
      }
      return found;
    }"""
    assert table.evaluate(whole) == []
    seen = window("complexity")
    seen.until(lambda: len(seen.views()) >= 4, "the charts").settle()
    seen.page.emulate_media(media="print")
    titles = seen.page.locator(".stElementContainer:has(> .stMarkdown)").filter(
        has_text=re.compile("^(Time|Multiplications) over")
    )
    rule = "list => list.map((title) => getComputedStyle(title).breakAfter)"
    assert titles.evaluate_all(rule) == ["avoid"] * 4


@pytest.mark.parametrize(("locale", "name"), [("en-GB", "Pages"), ("zh-CN", "页面")])
def test_a_phone_names_its_menu(browser, app, locale, name):
    context = browser.new_context(viewport={"width": 390, "height": 844}, locale=locale)
    seen = Window(context.new_page(), app).open("runs")
    menu = seen.page.get_by_test_id("stExpandSidebarButton")
    seen.until(lambda: menu.get_attribute("aria-label") == name, "its name")
    assert name in menu.evaluate("e => getComputedStyle(e, '::after').content")
    context.close()


def test_a_stopped_server_is_told_in_the_language_and_the_page_comes_back(
    browser, server, tmp_path
):
    context = browser.new_context(locale="zh-CN")
    with server(tmp_path) as url:
        seen = Window(context.new_page(), url).open("regression?a=gaussian&points=80")
        seen.until(seen.views, "the charts").settle()
    dialog = seen.page.locator("[role=dialog]")
    seen.until(dialog.count, "what Streamlit says")
    assert not dialog.is_visible()
    said = seen.page.evaluate("getComputedStyle(document.body, '::before').content")
    assert "服务器没有响应" in said
    with server(tmp_path, port=int(url.rpartition(":")[2])):
        seen.until(lambda: not dialog.count(), "the server")
        seen.until(seen.views, "the charts").settle()
        assert seen.page.get_by_test_id("stSliderThumbValue").first.inner_text() == "80"
        context.close()

"""Every page against the rules of WCAG 2.2 that axe-core knows, in both themes, both languages.

What axe finds in Streamlit's own parts is mended by ``dashboard/style.css`` and the theme: the
contrast of captions and of what stands on the primary colour, icon buttons without a name, and
formulas that scroll by a pixel. Nothing is excepted.
"""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from dashboard.ui.navigation import installed, location

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

GRAVE = {"serious", "critical"}
# A page stands when no part of it waits for a worker.
WAITING = '.st-key-starting, [data-testid="stSkeleton"], [data-testid="stSpinner"]'


def found(seen) -> list[str]:
    """What axe finds twice: on a busy machine the page may be drawn anew, faded, as it looks."""
    return _found(seen) and _found(seen.settle(1.0))


def _found(seen) -> list[str]:
    """What axe finds, in the words that say how to mend it."""
    results = Axe().run(seen.page, options={"reporter": "no-passes"}).response["violations"]
    return [
        f"{rule['impact']}: {rule['id']}: {node['html'][:200]}: {node['failureSummary']}"
        for rule in results
        if rule["impact"] in GRAVE or rule["id"] == "heading-order"
        for node in rule["nodes"]
    ]


# What a Chinese page may say in English: what is typed or read there, code, and whose words it is.
OWN_WORDS = (
    "pre", "code", "input", "textarea", ".katex", "svg", "canvas", "table",
    '[data-testid="stDataFrame"]', '[data-testid="stSelectbox"] [data-baseweb="select"]',
    '[data-testid="stText"]',
)  # fmt: skip
SAID = """(own) => {
  const texts = [];
  const walker = document.createTreeWalker(
    document.querySelector('[data-testid="stApp"]'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (element.closest(own) || !element.checkVisibility({visibilityProperty: true})) continue;
    texts.push(node.textContent);
  }
  for (const element of document.querySelectorAll('[data-testid="stApp"] [aria-label]'))
    if (!element.closest(own) && element.checkVisibility())
      texts.push(element.getAttribute('aria-label'));
  return texts;
}"""
# Streamlit has no other language; sentences of a corpus and the summary that a package has on its
# index are theirs.
NOT_OURS = (
    "Navigate to home page", "Skip to main content", "je suis chez moi.",
    "would you like a cup of tea ?", "Est-ce que son voisin est trop paresseux ?",
    "Is his neighbor too lazy?", "do you want to",
    "Write an attention scoring function once",
)  # fmt: skip
ENGLISH = re.compile(r"\b[A-Za-z]+( [a-z]{2,}){3}")


def left_english(seen) -> list[str]:
    """What a Chinese page says in four English words in a row or more."""
    texts = seen.page.evaluate(SAID, ", ".join(OWN_WORDS))
    found = {" ".join(text.split()) for text in texts if ENGLISH.search(text)}
    return sorted(text for text in found if not any(theirs in text for theirs in NOT_OURS))


def lightness(seen) -> str:
    return seen.page.evaluate("getComputedStyle(document.querySelector('.stApp')).colorScheme")


@pytest.mark.parametrize("entry", installed(), ids=lambda entry: entry.name)
def test_no_rule_is_broken_in_either_theme_or_language(window, entry):
    """English in light, Chinese in dark: neither theme nor language depends on the other."""
    seen = window(location(entry).strip("/"))
    seen.until(lambda: not seen.page.locator(WAITING).count(), "the page").settle(1.0)
    assert not seen.page.locator('[data-testid="stException"]').count()
    assert found(seen) == []
    seen.page.emulate_media(color_scheme="dark")
    seen.until(lambda: lightness(seen) == "dark", "the dark theme")
    seen.page.get_by_role("button", name="简体中文").click()
    english = seen.page.get_by_role("button", name="English", exact=True)
    seen.until(english.count, "the other language")
    seen.until(lambda: not seen.page.locator(WAITING).count(), "the page").settle(1.0)
    assert "lang=zh" in seen.page.url
    assert found(seen) == []
    assert left_english(seen) == []


def test_a_page_is_quiet_where_less_motion_is_asked_for(window):
    seen = window("plugins")
    seen.page.emulate_media(reduced_motion="reduce")
    longest = seen.page.evaluate(
        """() => Math.max(...[...document.querySelectorAll('.stApp *')].flatMap((e) => {
          const style = getComputedStyle(e);
          return [style.transitionDuration, style.animationDuration]
            .flatMap((all) => all.split(',').map(parseFloat));
        }))"""
    )
    assert longest <= 0.001


def test_a_head_is_chosen_by_keyboard_and_told_in_words(window):
    seen = window("heads")
    choice = seen.page.get_by_role("combobox", name="Large map of the unchanged translation")
    seen.until(choice.count, "the choice of a map").settle()
    chart = seen.page.locator('[aria-label^="Attention of the unchanged translation"]').last
    told = chart.get_attribute("aria-label")
    assert "The largest weight is" in told
    choice.scroll_into_view_if_needed()
    seen.settle()
    choice.focus()  # without scrolling, which would close the list
    seen.page.keyboard.press("ArrowDown")
    seen.until(seen.page.get_by_role("option").count, "the list").settle(0.5)
    seen.page.keyboard.press("Home")
    first = seen.page.get_by_role("option").first.get_attribute("id")
    seen.until(lambda: choice.get_attribute("aria-activedescendant") == first, "the first map")
    seen.page.keyboard.press("Enter")
    seen.until(lambda: "map=" in seen.page.url, "the head in the link").settle()
    assert chart.get_attribute("aria-label") != told


def test_the_tables_of_all_charts_are_one_key_away(window):
    seen = window("heads")
    opener = seen.page.locator(".st-key-charts-in-words summary")
    seen.until(opener.count, "the page").settle()
    opener.focus()
    seen.page.keyboard.press("Enter")
    tables = seen.page.locator('.st-key-charts-in-words [data-testid="stDataFrame"]')
    # The scale of colours shows no data.
    seen.until(lambda: tables.count() == len(seen.views()) - 1 == 2, "a table for every map")


@pytest.mark.parametrize(
    "path", ["regression", "translation", "alignment", "anatomy", "complexity"]
)
def test_a_phone_shows_the_first_chart_before_the_fold(window, path):
    seen = window(path, width=390, height=844, touch=True)
    chart = seen.page.locator('.stMain [data-testid="stVegaLiteChart"]')
    tall = "(all) => all.map(e => e.getBoundingClientRect()).filter(r => r.height > 60)[0]?.top"
    seen.until(lambda: chart.evaluate_all(tall) is not None, "a chart").settle(1.0)
    assert chart.evaluate_all(tall) < 844
    assert seen.overflow() <= 0

"""The page *Language models*, as painted, with the decoder that is shipped."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


def text(seen):
    """The tokens of the first panel, as they are read."""
    return seen.page.locator("ol[aria-label] li > span").all_inner_texts()


def largest(seen):
    """Where the large map is from, and its cells."""
    (title,) = seen.charts().locator(".role-title-text").all_inner_texts()[-1:] or [""]
    cells = seen.charts().locator(".cells_marks path")
    cells = cells.evaluate_all("(all) => all.map((one) => one.getAttribute('aria-label'))")
    return title, cells


def test_a_prompt_is_typed_and_its_words_and_map_are_seen(window):
    seen = window("language_models?words=4", height=1200)
    seen.until(lambda: len(text(seen)) > 3, "the words").settle()
    field = seen.page.get_by_role("textbox", name="Prompt")
    field.fill("do you want to")
    field.press("Control+Enter")
    seen.until(lambda: text(seen)[1:5] == ["do", "you", "want", "to"], "the new words").settle()
    assert "text=do+you+want+to" in seen.page.url
    assert len(text(seen)) == 9
    words = seen.rows("word", "probability")[0]
    assert words[0]["word"] == text(seen)[5]
    assert words[0]["probability"] == max(row["probability"] for row in words)
    before = largest(seen)
    assert before[1][0].startswith("query <bos>, key <bos>, weight 1")
    seen.page.get_by_role("combobox", name="Large map of panel a").click()
    seen.page.get_by_role("option", name="layer 1 · head 2").click()
    seen.until(lambda: "a.map=1.2" in seen.page.url, "the map in the link").settle()
    seen.until(lambda: largest(seen) != before, "another map")
    assert len(largest(seen)[1]) == len(before[1]) == 45
    assert seen.overflow() <= 0
    seen.screenshot("language-models-1280")


def test_a_phone_shows_the_text_before_the_fold(window):
    seen = window("language_models", width=390, height=844, touch=True, scheme="dark")
    seen.until(lambda: len(text(seen)) > 3, "the words").settle()
    assert seen.page.locator("ol[aria-label]").bounding_box()["y"] < 844
    sizes = "(all) => all.map((one) => parseFloat(getComputedStyle(one).fontSize))"
    assert min(seen.page.locator("ol small").evaluate_all(sizes)) >= 12
    assert seen.overflow() <= 0
    seen.screenshot("language-models-390-dark")

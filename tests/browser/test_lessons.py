"""All ten lessons in one session: asked, answered, done by hand, ticked, and left by a link."""

import json
import re
from collections.abc import Callable

import pytest

from dashboard.features.lessons.course import LESSONS
from dashboard.language.catalogues import catalogue

pytestmark = pytest.mark.browser

# By lesson: the answer that the results give, where its goal is reached, and what a reader sees
# at the first state of another page that it leads to.
WALK = {
    "cues": ("b", "-1", "Gaussian kernel"),
    "kernel": ("b", "0.2", "0.20"),
    "scoring": ("c", "256", "largest weight, on average"),
    "mask": ("c", "1", "Leaked to padding"),
    "bahdanau": ("b", "4", "j'ai une voiture rouge."),
    "heads": ("b", "3", "head 7"),
    "positions": ("c", "5", "offset of 5"),
    "transformer": ("b", "cross", "head 8"),
    "literature": ("b", "1.6", "Sparsemax"),
    "explaining": ("c", "6", "elle a un maison blanc."),
}
STORED = "JSON.parse(localStorage.getItem('attention-workbench-lessons') || '[]')"


def ticks(window):
    return window.page.locator(".st-key-lessons-progress a[data-done]").count()


def lesson(window, number):
    """Open a lesson by its number in the row."""
    window.page.locator(".st-key-lessons-progress li a").nth(number - 1).click()
    heading = f"{number}. {LESSONS[number - 1].title}"
    window.until(lambda: heading in window.text(), heading).settle()


def move(view, one, to, said: Callable[[str], str] = str):
    """Move the lesson's control as a hand does, by its keys or its menu."""
    if one.control.choices:
        view.page.get_by_role("combobox").click()
        view.page.get_by_role("option", name=said(to), exact=True).click()
        return
    slider = view.page.get_by_role("slider")
    steps = round((float(to) - one.asked) / one.control.step)
    for _ in range(abs(steps)):
        slider.press("ArrowRight" if steps > 0 else "ArrowLeft")
    stands = slider.get_attribute("aria-valuetext")
    assert float(stands) == float(to)


@pytest.mark.timeout(1800)
def test_ten_lessons_are_walked_ticked_and_left_by_their_links(window):
    view = window("lessons", height=800)
    assert ticks(view) == 0
    for number, one in enumerate(LESSONS, 1):
        guess, at, landed = WALK[one.name]
        answer = view.page.get_by_text(one.choices[guess], exact=True)
        assert view.page.get_by_text("Try this").count() == 0
        answer.click()
        view.until(lambda: "Right." in view.text(), f"the verdict on {one.name}")
        view.until(lambda words=one.goal: words in view.text(), f"the goal of {one.name}")
        view.settle()
        assert view.page.get_by_text("Found.").count() == 0
        move(view, one, at)
        view.until(lambda: "Found." in view.text(), f"{one.name} to be done")
        view.until(lambda done=number: ticks(view) == done, f"{number} ticks")
        assert view.overflow() <= 0
        # The address follows what is seen, a moment later on a busy machine.
        view.until(lambda: "at=" in view.page.url, f"the link of {one.name}").settle()
        links = view.page.locator('[data-testid="stPageLink"] a')
        links.filter(has_text=next(iter(one.tries.values()))).click()
        view.until(lambda words=landed: words in shown(view), f"{landed!r} by {one.name}")
        if number % 2:
            view.page.go_back()
        else:
            view.page.get_by_text(f"Back to lesson {number}").click()
        view.until(lambda: "Found." in view.text(), f"the way back to {one.name}").settle()
        if number < len(LESSONS):
            view.page.get_by_role("button", name="Next", exact=True).click()
            following = f"{number + 1}. {LESSONS[number].title}"
            view.until(lambda words=following: words in view.text(), following).settle()
    assert view.page.evaluate(STORED) == [one.name for one in LESSONS]
    lesson(view, 2)
    assert ticks(view) == len(LESSONS)
    view.page.get_by_text("Start over").click()
    view.until(lambda: ticks(view) == 0, "no ticks")
    assert view.page.evaluate(STORED) == []


QUOTED = re.compile(r"[“‘][^”’]*[”’]")  # sentences of a corpus
SENTENCE = re.compile(r"(?:[A-Za-z]{2,}[ ,]+){3}[a-z]{2,}")


@pytest.mark.timeout(1800)
def test_ten_lessons_are_walked_in_chinese_by_what_each_offers_at_its_end(window):
    said = catalogue("zh").said
    view = window("lessons?lang=zh", height=800)
    for number, one in enumerate(LESSONS, 1):
        heading = f"{number}. {said(one.title)}"
        view.until(lambda words=heading: words in view.text(), heading).settle()
        guess, at, _ = WALK[one.name]
        view.page.get_by_text(said(one.choices[guess]), exact=True).click()
        view.until(lambda: "正确。" in view.text(), f"the verdict on {one.name}")
        goal = said(one.goal)
        view.until(lambda words=goal: words in view.text(), f"the goal of {one.name}")
        view.settle()
        move(view, one, at, said)
        done = f"第 {number} 课已完成"
        view.until(lambda words=done: words in view.text(), f"{one.name} to be done")
        assert "找到了。" in view.text()
        assert view.overflow() <= 0
        lesson_itself = view.page.inner_text(f".st-key-lesson-{one.name}")
        assert SENTENCE.findall(QUOTED.sub("", lesson_itself)) == []
        if number < len(LESSONS):
            view.page.get_by_role("button", name=said(LESSONS[number].title)).click()
    view.until(lambda: ticks(view) == len(LESSONS), "all ticks")
    links = view.page.locator(".st-key-lessons-progress li a")
    assert links.nth(1).get_attribute("href") == "?lesson=2&lang=zh"
    assert links.nth(1).get_attribute("aria-label") == "2. 核回归，已完成"


def body(view):
    """What a reader sees, with what lies over the page."""
    return view.page.inner_text("body")


def shown(view):
    """What a reader sees, in charts and fields as well."""
    fields = view.page.evaluate("[...document.querySelectorAll('input')].map((i) => i.value)")
    charts = view.page.evaluate(
        "[...document.querySelectorAll('[data-testid=\"stVegaLiteChart\"] text')]"
        ".map((t) => t.textContent)"
    )
    return "\n".join((view.text(), *fields, *charts))


@pytest.mark.timeout(600)
def test_the_glossary_opens_on_a_telephone_and_the_lesson_fits(window):
    view = window("lessons?lesson=3", width=390, height=844, scheme="dark")
    assert view.overflow() <= 0
    chart = view.page.locator('[data-testid="stVegaLiteChart"]').bounding_box()
    terms = view.page.locator(".st-key-lesson-terms-aside").bounding_box()
    assert chart["y"] < 700, "the figure stands beside its question on the first screen"
    assert terms["y"] > chart["y"] + chart["height"], "the terms stand below it"
    ticked = json.dumps([one.name for one in LESSONS])
    view.page.evaluate(
        "(names) => localStorage.setItem('attention-workbench-lessons', names)", ticked
    )
    view.open("lessons?lesson=3")
    view.until(lambda: ticks(view) == len(LESSONS), "all ticks")
    row = view.page.locator(".st-key-lessons-progress ol").bounding_box()
    assert row["height"] < 40, "ten ticks fit beside each other"
    view.page.get_by_role("button", name="Glossary").click()
    view.until(lambda: "ablation effect" in body(view), "the glossary")
    view.page.get_by_label("Find a term").fill("dot product")
    view.page.keyboard.press("Enter")
    view.until(lambda: "ablation effect" not in body(view), "one term")
    assert "scaled dot product" in body(view)

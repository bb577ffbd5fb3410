"""A class: a teacher makes an exercise and a poll, a phone and a Chinese reader answer both."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PATIENCE = 60_000  # milliseconds
HOSTILE = "<b>Bo</b> ![x](http://evil.example/x.png)"
RIGHT, WRONG = {"en": "Right.", "zh": "正确。"}, {"en": "Not right yet.", "zh": "还不对"}


@pytest.fixture
def person(server, browser, tmp_path):
    """Opens an address in a browser of its own, on a server that trusts nobody; none may err."""
    errors, contexts = [], []

    def new(path, **more):
        contexts.append(browser.new_context(base_url=url, **more))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda one: one.url.startswith((url, "data:", "blob:"))
                or errors.append(one.url))  # fmt: skip
        page.goto(path)
        return page

    with server(tmp_path, ATTENTION_TRUST_LOCAL="0") as url:
        yield new
        for context in contexts:
            context.close()
    assert errors == []


def begin(teacher, question):
    """From the menu of a page to the exercise about it."""
    teacher.goto("/normalisation?x=1,2;2,3")
    teacher.get_by_role("button", name="QR code").click()
    teacher.get_by_role("link", name="Make an exercise").click()
    teacher.get_by_label("Question").fill(question)
    teacher.get_by_label("Question").press("Control+Enter")


def made(teacher, keep=False):
    """The id of the exercise, once its board is there."""
    if keep:
        teacher.get_by_text("Keep names and answers after the end").click()
    teacher.get_by_role("button", name="Make the exercise").click()
    sees(teacher, "Students who have answered: 0")
    return re.search("id=([0-9a-f]{32})", teacher.url)[1]


def sees(page, text):
    page.get_by_text(text).first.wait_for()


def open_it(page, id, language):
    page.goto(f"/exercise?id={id}&lang={language}")
    page.locator(".st-key-exercise-open a").click()
    page.locator(".st-key-exercise-panel").wait_for()


def hand_in(page, name, answer, said):
    panel = page.locator(".st-key-exercise-panel")
    button = panel.locator('[data-testid="stFormSubmitButton"] button')
    panel.locator('[role="radiogroup"], input[type=text]').nth(1).wait_for()  # its code comes late
    panel.locator("input[type=text]").first.fill(name)
    if panel.locator('[role="radiogroup"]').count():
        panel.get_by_text(answer, exact=True).click()
    else:
        panel.locator("input[type=text]").last.fill(answer)
    page.wait_for_timeout(1100)  # an answer each second
    button.click()
    panel.get_by_text(said).wait_for()


def end(teacher):
    for _ in range(2):  # the popover's button, and the one in it
        teacher.get_by_role("button", name="End the exercise").last.click()
    sees(teacher, "This exercise has ended.")
    sees(teacher, "Delete the exercise")
    # A second click deletes nothing.
    teacher.get_by_test_id("stPopoverBody").wait_for(state="detached")


def test_a_class_from_the_first_page_to_the_end(person):
    teacher = person("/exercise", viewport={"width": 1280, "height": 900})
    begin(teacher, "How many?")
    teacher.get_by_label("Right answer").fill("2")
    teacher.get_by_label("Hints, one a line, up to three").fill("Look.")
    exercise = made(teacher)
    sees(teacher, "Hint 1: Look.")
    small = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    phone, reader = person("/exercise", **small), person("/exercise", color_scheme="dark")
    class_ = [(phone, HOSTILE[:40], "en"), (reader, "王芳", "zh")]
    for answer, said, board in (("7", WRONG, "Not yet: 2"), ("2,0", RIGHT, "Found: 2")):
        for page, name, language in class_:
            if said is WRONG:
                open_it(page, exercise, language)
            hand_in(page, name, answer, said[language])
        sees(teacher, board)  # without a touch
    hand_in(phone, HOSTILE[:40], "8", WRONG["en"])
    sees(teacher, "Found, now wrong: 1")
    phone.reload()
    sees(phone, WRONG["en"])
    expect(phone.get_by_label("Your name")).to_have_value(HOSTILE[:40])
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390

    poll_page = teacher.context.new_page()
    poll_page.set_default_timeout(PATIENCE)
    begin(poll_page, "Which?")
    poll_page.get_by_text("A poll", exact=True).click()
    poll_page.get_by_label("Answers, one a line").fill("dot\n:red[additive]")
    poll_page.get_by_label("Answers, one a line").press("Control+Enter")
    poll = made(poll_page, keep=True)
    for (page, name, language), answer in zip(class_, ("dot", ":red[additive]"), strict=True):
        open_it(page, poll, language)
        hand_in(page, name, answer, {"en": "Handed in.", "zh": "已提交。"}[language])
    for bar in ("dot: 1", ":red[additive]: 1"):
        sees(poll_page, bar)

    for page, left in (
        (teacher, "Names and answers were deleted at the end."),
        (poll_page, "Students who have answered: 2"),
    ):
        end(page)
        sees(page, left)
    phone.locator(".st-key-exercise-panel").get_by_role("button", name="Hand in").click()
    sees(phone, "This exercise has ended.")
    sees(phone, "Your answer: dot")
    assert not teacher.locator(".st-key-exercise-open").get_by_text("answer there").count()
    assert not teacher.get_by_text("Give your class this link").count()


def test_eight_answers_stand_in_the_window_of_a_projector(person):
    teacher = person("/exercise", viewport={"width": 1920, "height": 1080})
    begin(teacher, "Which of these kernels follows the noise at a width of 0.1, and why that one?")
    teacher.get_by_text("A poll", exact=True).click()
    teacher.get_by_label("Answers, one a line").fill("\n".join(map(str, range(1, 9))))
    teacher.get_by_label("Answers, one a line").press("Control+Enter")
    poll = made(teacher)
    teacher.goto(f"/exercise?id={poll}&projector=1&embed=true")
    bars = teacher.locator(".st-key-exercise-projector").get_by_role("progressbar")
    bars.nth(7).wait_for()
    last = bars.nth(7).bounding_box()
    assert last["y"] + last["height"] <= 1080

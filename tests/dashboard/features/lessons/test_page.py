"""A lesson asks first, says what a result says, and knows when its goal is reached."""

import json
from types import SimpleNamespace

import pytest
from support.pages import chart_words, live_words

from dashboard import language
from dashboard.features.anatomy import task as anatomy
from dashboard.features.lessons import page, view
from dashboard.features.lessons.course import LESSONS
from dashboard.features.positions import task as positions
from dashboard.records.catalogue import Catalogue
from dashboard.ui import speaking


def words(app):
    kinds = (app.text, app.caption, app.markdown)
    return "\n".join([*(str(one.value) for kind in kinds for one in kind), *live_words(app)])


def row(app):
    """What the row of lessons is told."""
    (component,) = (
        one.proto for one in app.get("bidi_component") if "lessons" in one.proto.component_name
    )
    return json.loads(component.json)


def link(app):
    return {name: "".join(values) for name, values in app.query_params.items()}


def controls(app):
    return [*app.slider, *app.selectbox]


@pytest.fixture
def chinese(monkeypatch):
    """Somebody who chose to read Chinese."""
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    monkeypatch.setattr(speaking, "in_link", lambda: {speaking.PARAMETER: "zh"})


def test_a_lesson_shows_nothing_of_its_answer_before_it_is_asked(opened):
    app = opened("lessons", lesson="4")
    assert not app.exception
    assert app.radio("lessons-mask-guess").value is None
    assert controls(app) == []
    assert "would be" not in words(app)
    assert not app.get("page_link")
    assert "With 6 of 6 tokens valid" in words(app)


@pytest.mark.parametrize(("guess", "said"), [("c", "**Right.**"), ("a", "**Not so.**")])
def test_an_answer_is_judged_by_the_result(opened, guess, said):
    app = opened("lessons", lesson="4")
    app.radio("lessons-mask-guess").set_value(guess).run()
    assert not app.exception
    assert said in words(app)
    assert "73% of the weight goes to padding" in words(app)
    assert link(app) == {"lesson": "4", "guess": guess}
    assert app.radio("lessons-mask-guess").disabled
    assert app.slider("lessons-mask-at").value == 3


def test_the_goal_is_reached_by_the_visitors_own_hand(opened):
    app = opened("lessons", lesson="4", guess="c")
    assert LESSONS[3].goal in words(app)
    assert row(app)["finished"] == ""
    app.slider("lessons-mask-at").set_value(2).run()
    assert "Not yet: at length 2 it is 89%." in words(app)
    app.slider("lessons-mask-at").set_value(1).run()
    assert "Not yet" not in words(app)
    assert "**Found.** With 1 valid token, 93%" in words(app)
    assert row(app)["finished"] == "mask"
    assert link(app) == {"lesson": "4", "guess": "c", "at": "1"}


@pytest.mark.parametrize("lesson", [1, 4, 7, 9])
def test_the_verdict_is_of_the_asked_value_and_all_else_of_the_present_one(lesson, opened):
    one = LESSONS[lesson - 1]
    at = {1: 0.5, 4: 5, 7: 2, 9: 1.2}[lesson]
    asked, seen = (figures(one, value) for value in (one.asked, at))
    wrong = next(name for name in one.choices if name != one.answer(asked))
    app = opened("lessons", lesson=str(lesson), guess=wrong, at=str(at))
    assert not app.exception
    told = words(app).replace("−", "-")
    assert one.reason.format(**asked) in told
    assert one.choices[one.answer(asked)] in told
    assert one.now.format(**seen) in told
    assert one.missed.format(**seen) in told
    for sentence in (one.now, one.missed):
        assert sentence.format(**asked) not in told
    assert one.reason.format(**seen) not in told


def figures(lesson, value):
    request = lesson.request(value, Catalogue())
    task = {"anatomy": anatomy, "positions": positions}[request.task]
    return lesson.measured(task.perform(request, NoContext()), value)


class NoContext:
    def report(self, fraction, note="", facts=None):
        """As a task's context."""

    def stopped(self):
        return False


def test_an_answer_that_no_lesson_offers_is_left_out(opened):
    app = opened("lessons", lesson="4", guess="q")
    assert "guess=‘q’: need one of a, b, c, so it is left out" in words(app)
    assert app.radio("lessons-mask-guess").value is None


def test_next_and_previous_open_a_lesson_as_it_was_left(opened):
    app = opened("lessons", lesson="1", guess="b", at="-1")
    assert app.button("lessons-previous").disabled
    assert row(app)["finished"] == "cues"
    app.button("lessons-next").click().run()
    assert (link(app), row(app)["current"], row(app)["finished"]) == ({"lesson": "2"}, 2, "")
    assert app.radio("lessons-kernel-guess").value is None
    app.button("lessons-previous").click().run()
    assert link(app) == {"guess": "b", "at": "-1"}
    assert app.radio("lessons-cues-guess").value == "b"
    assert app.slider("lessons-cues-at").value == -1
    app.button("lessons-again").click().run()
    app.button("lessons-next").click().run()
    app.button("lessons-previous").click().run()
    assert link(app) == {}


def test_a_lesson_that_is_done_says_so_and_offers_the_next_one(opened):
    app = opened("lessons", lesson="4", guess="c")
    assert "is done" not in words(app)
    app.slider("lessons-mask-at").set_value(1).run()
    assert "**Lesson 4 is done.**" in words(app)
    assert app.button("lessons-go-on").label == "Go on with lesson 5: Bahdanau attention"
    app.button("lessons-go-on").click().run()
    assert link(app) == {"lesson": "5"}
    assert "is done" not in words(app)


def test_a_lesson_can_be_asked_again(opened):
    app = opened("lessons", lesson="9", guess="a", at="1.6")
    assert "3 keys share all the weight" in words(app)
    app.button("lessons-again").click().run()
    assert link(app) == {"lesson": "9"}
    assert "Found" not in words(app)


def test_minus_signs_are_signs(opened):
    assert "The query −1 is near" in words(opened("lessons", guess="b", at="-1"))


def test_a_lesson_without_its_model_says_so_and_can_be_left(opened):
    app = opened("lessons", lesson="5")
    assert not app.exception
    assert "needs a trained model that ships with the workbench" in words(app)
    app.button("lessons-next").click().run()
    assert not app.exception
    assert link(app) == {"lesson": "6"}


@pytest.mark.usefixtures("chinese")
def test_a_lesson_is_told_in_chinese(opened):
    app = opened("lessons", lesson="4", guess="c", at="1")
    assert not app.exception
    assert "**找到了**。只有 1 个有效词元时，93% 的权重落在填充上" in words(app)
    assert "《动手学深度学习》" in words(app)
    assert app.radio("lessons-mask-guess").options[0] == "没有：0 就是零"
    told = row(app)
    assert told["words"]["reset"] == "重新开始"
    assert told["lessons"][3]["finished"] == "4. 掩蔽 softmax，已完成"
    assert told["lessons"][4]["link"] == "?lesson=5&lang=zh"


@pytest.mark.usefixtures("chinese")
def test_the_words_of_a_formula_are_told_in_chinese(opened):
    app = opened("lessons", lesson="10")
    (formula,) = (one.value for one in app.latex)
    assert r"\text{效应}=" in formula
    assert r"\text{ 关掉该头}" in formula


def test_what_to_try_is_linked_once_the_question_is_answered(opened):
    app = opened("lessons", lesson="4", guess="a")
    found = [(one.proto.page, one.proto.query_string) for one in app.get("page_link")]
    assert found == [("anatomy", "part=mask&per_row=1%2C4"), ("anatomy", "example=self")]


def test_terms_and_sources_stand_beside_the_lesson(opened):
    app = opened("lessons", lesson="3")
    assert "**softmax**: Makes positive numbers" in words(app)
    assert (
        "Learning* 0.17, section 10.3, Attention scoring functions ([read it online as 11.3]"
        "(https://d2l.ai/chapter_attention-mechanisms-and-transformers/"
        "attention-scoring-functions.html)); "
    ) in words(app)


def test_every_section_is_read_online_in_both_languages():
    sections = {lesson.section for lesson in LESSONS} - {""}
    assert sections == {f"10.{number}" for number in range(1, 8)}
    for spoken, book in (("en", "https://d2l.ai/"), ("zh", "https://zh.d2l.ai/")):
        pages = [view.address(section, spoken) for section in sorted(sections)]
        assert all(page.startswith(book) and page.endswith(".html") for page in pages)
        assert len({*pages}) == 7
    assert view.address("10.2", "zh").endswith(
        "/chapter_attention-mechanisms/nadaraya-waston.html"
    )


def test_the_first_lesson_walks_a_sentence_once_its_question_is_answered(opened, backend):
    app = opened("lessons", lesson="1")
    assert "From words to the output" not in words(app)
    assert len(app.get("vega_lite_chart")) == 1
    app.radio("lessons-cues-guess").set_value("a").run()
    assert not app.exception
    assert "**From words to the output.**" in words(app)
    assert "Output (fish, 1): 0.24·3 + 0.09·1 + 0.67·4 = 3.49." in chart_words(app)[-1]
    assert "0.12·2 + 0.88·4 = 3.76" in words(app)
    other = opened("lessons", lesson="2", guess="b")
    assert "From words to the output" not in words(other)


def test_no_figure_is_a_0_below_0():
    said = page._said(
        "{a:+.2f}, {b:.2f}, {c:+.2f}, {d}", {"a": -0.001, "b": -0.05, "c": -1, "d": -0.0}
    )
    assert said == "0.00, −0.05, −1.00, 0.0"


def test_starting_over_forgets_every_answer(monkeypatch):
    monkeypatch.setattr(page.st, "session_state", {})
    seen = SimpleNamespace(view=view.Course(lesson=1, guess="b", at=-1.0))
    seen.change = lambda now: setattr(seen, "view", now)
    page.go(seen, 2)
    seen.view = view.Course(lesson=2, guess="a", at=3.0)
    page.go(seen, 0)
    assert seen.view == view.begun(2)
    page.go(seen, 1)
    assert seen.view == view.begun(1)

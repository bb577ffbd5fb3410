"""A lesson asks first, says what a result says, and knows when its goal is reached."""

import json

import pytest

from dashboard.features.lessons.course import LESSONS


def words(app):
    kinds = (app.text, app.caption, app.markdown)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def row(app):
    """What the row of lessons is told."""
    (component,) = (
        one.proto for one in app.get("bidi_component") if "lessons" in one.proto.component_name
    )
    return json.loads(component.json)


def link(app):
    return {name: values[-1] for name, values in app.query_params.items()}


def controls(app):
    return [*app.slider, *app.selectbox]


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
    app.slider("lessons-mask-at").set_value(1).run()
    assert "**Found.** With 1 valid token, 93%" in words(app)
    assert row(app)["finished"] == "mask"
    assert link(app) == {"lesson": "4", "guess": "c", "at": "1"}


def test_next_and_previous_open_a_lesson_with_its_question_open(opened):
    app = opened("lessons", lesson="1", guess="b", at="-1")
    assert app.button("lessons-previous").disabled
    assert row(app)["finished"] == "cues"
    app.button("lessons-next").click().run()
    assert (link(app), row(app)["current"], row(app)["finished"]) == ({"lesson": "2"}, 2, "")
    assert app.radio("lessons-kernel-guess").value is None
    app.button("lessons-previous").click().run()
    assert link(app) == {}
    assert app.radio("lessons-cues-guess").value is None


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


def test_what_to_try_is_linked_once_the_question_is_answered(opened):
    app = opened("lessons", lesson="4", guess="a")
    found = [(one.proto.page, one.proto.query_string) for one in app.get("page_link")]
    assert found == [("anatomy", "part=mask&per_row=1%2C4"), ("anatomy", "example=self")]


def test_terms_and_sources_stand_beside_the_lesson(opened):
    app = opened("lessons", lesson="3")
    assert "**softmax**: Makes positive numbers" in words(app)
    assert "Learning* 0.17, section 10.3, Attention scoring functions; " in words(app)

"""The page *Exercise*, and the question above the page that it is about."""

from __future__ import annotations

from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest

from dashboard import language, visitors
from dashboard.features.exercise import page as exercise
from dashboard.storage import exercises
from dashboard.storage.seen import Group, Text, Value
from dashboard.ui import navigation, owner
from dashboard.ui.one_file import SEEN
from dashboard.visitors import Visitor

HOSTILE = "<b>x</b> ![x](http://evil.example/x.png) :red[a]"


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKBENCH_HOME", str(tmp_path))
    return owner.run_store().exercises


@pytest.fixture
def become(monkeypatch):
    def now(who, **more):
        made = Visitor(owner=who, role="author", **more)
        monkeypatch.setattr(owner, "visitor", lambda: made)

    now("teacher")
    return now


@pytest.fixture
def norms(monkeypatch):
    entry = next(one for one in navigation.installed() if one.name == "norms")
    monkeypatch.setattr(navigation, "current", lambda: entry)


def words(app):
    shown = (*app.markdown, *app.caption, *app.text, *app.error)
    return "\n".join(str(one.value) for one in shown)


def press(app, label):
    next(one for one in app.button if one.label == label).click().run()


def made(store, **more):
    given = {"text": HOSTILE, "page": "norms", "query": {}, "kind": "number", "right": "2"}
    return store.make("teacher", **{**given, **more})


def test_it_is_made_of_a_page_and_the_token_is_shown_once(opened, store, become):
    app = opened("exercise", of="/normalisation?evil=1")
    app.text_area(key="exercise-text").input(HOSTILE)
    next(one for one in app.text_input if one.label == "Right answer").input("0,5")
    app.text_area(key="exercise-hints").input("one\ntwo")
    press(app, "Make the exercise")
    assert not app.exception
    (found,) = store.own("teacher")
    assert (found.page, found.query, found.right, found.hints) == (
        "norms", {}, "0,5", ["one", "two"],
    )  # fmt: skip
    assert f"teacher={found.token}" in "".join(one.value for one in app.code)
    assert found.token not in str(app.query_params)
    app.query_params["id"], _ = made(store)
    assert "teacher=" not in "".join(one.value for one in app.run().code), "of the other alone"
    press(app, "Your exercises")
    assert "Open any page and set it" in words(app)
    app = opened("exercise", id=found.id)
    press(app, "End the exercise")
    press(app, "Delete the exercise")
    assert found.id not in [one.id for one in store.own("teacher")]


@pytest.mark.parametrize(
    "of", ["http://evil.example/normalisation", "/nowhere", "/exercise", "//x"]
)
def test_an_address_that_leads_elsewhere_is_refused(opened, store, become, of):
    app = opened("exercise", of=of)
    app.text_area(key="exercise-text").input("?")
    next(one for one in app.text_input if one.label == "Right answer").input("1")
    press(app, "Make the exercise")
    assert "one of this server's pages" in words(app)
    assert store.own("teacher") == []


def test_a_classroom_lets_no_student_make_one(opened, store, become):
    become("student", classroom=True)
    assert "Open the link or the QR code" in words(opened("exercise"))
    app = opened("exercise", of="/normalisation")
    assert "switched off" in words(app)
    assert not app.text_area


def test_figures_are_those_that_the_page_showed(monkeypatch):
    blocks = (
        Value(kind="metric", label="Error", value="0.286"), Text(kind="latex", text="x_7"),
        Value(kind="setting", label="width", value="9"),
        Group(title="Dot product", letter="b", blocks=(
            Group(blocks=(Text(kind="markdown", text="Weights **3** of 5 · $x^{0.8}$ Off 0.2."),)),
            Text(kind="caption", text="误差为0.1。共4行"),
        )),
    )  # fmt: skip
    record = SimpleNamespace(seen=Group(blocks=blocks))
    state = {SEEN: SimpleNamespace(whole="/a?b=1", record=record)}
    monkeypatch.setattr(exercise.st, "session_state", state)
    assert exercise.figures("/a?b=2") == {}
    found = exercise.figures("/a?b=1")
    assert [*found.values()] == ["0.286", "9", "3", "5", "0.2", "0.1", "4"]
    assert [*found][2:] == [
        "3 · b: Dot product · Weights 3 of 5", "5 · b: Dot product · Weights 3 of 5",
        "0.2 · b: Dot product · Off 0.2.", "0.1 · b: Dot product · 误差为0.1。",
        "4 · b: Dot product · 共4行",
    ]  # fmt: skip


def test_a_student_answers_above_the_page_and_the_teacher_sees_it(opened, store, become, norms):
    id, _ = made(store, hints=["look", "nearer", "there"])
    become("student")
    assert not opened("exercise", id=id).dataframe
    app = opened("norms", exercise=id)
    assert HOSTILE in [one.value for one in app.text]
    for number, seen in ((1, "look"), (2, "nearer"), (3, "there")):
        assert seen not in words(app)
        press(app, f"Hint {number} of 3")
        assert seen in words(app)
    assert not [one for one in app.button if one.label.startswith("Hint")]
    for answer, said in (("many", "Need a number"), ("3", "Not right yet"), ("2", "quick")):
        app.text_input(key=f"exercise-name-{id}").input(HOSTILE[:40])
        app.text_input(key=f"exercise-answer-{id}").input(answer)
        press(app, "Hand in")
        assert said in words(app)
        assert (said in words(app.run())) == (said == "Not right yet"), "judged stays to be read"
    become("teacher")
    app = opened("exercise", id=id)
    assert app.dataframe[0].value.values.tolist() == [[HOSTILE[:40], "Not yet", "3", 1, 3]]
    assert "Right answer: 2 ± 0" in words(app)
    assert "Hint 1: look" in words(app)


def test_the_question_stays_in_the_address_until_it_is_closed(opened, store, become, norms):
    id, _ = made(store, kind="poll", choices=[HOSTILE, "b"])
    app = opened("norms", exercise=id)
    assert app.query_params["exercise"] == id
    press(app, "Close the exercise")
    assert "exercise" not in app.query_params
    assert HOSTILE not in [one.value for one in app.text]


def test_a_second_browser_teaches_by_the_token_alone(opened, store, become):
    id, token = made(store)
    become("second")
    assert "not the teacher's link" in words(opened("exercise", id=id, teacher="0" * 32))
    app = opened("exercise", id=id, teacher=token)
    assert "Who found what" in [one.value for one in app.header]
    assert "teacher" not in app.query_params


def test_a_guessed_id_says_so(opened, store, become):
    for app in (opened("exercise", id="0" * 32), opened("norms", exercise="0" * 32)):
        assert "not on this server" in words(app)


def test_a_projector_shows_no_names(opened, store, become):
    id, _ = made(store)
    store.hand_in(id, "a", "Ada", "2")
    app = opened("exercise", id=id, projector="1")
    assert not app.dataframe
    assert "Ada" not in words(app)
    assert "answered: 1" in words(app)
    assert "Right answer" not in words(app)


def test_the_page_says_the_limits_that_count(opened, store, become):
    id, _ = made(store)
    said = words(opened("exercise", id=id))
    for limit in (
        f"at most {exercises.LONGEST_NAME} characters, an answer {exercises.LONGEST_ANSWER}.",
        f"{exercises.MOST_STUDENTS} students with {exercises.MOST_ANSWERS} answers each",
        f"{exercises.HOURS_OPEN} hours after",
    ):
        assert limit in said


def test_what_was_deleted_meanwhile_says_so_above_its_page(opened, store, become, norms):
    id, _ = made(store)
    app = opened("norms", exercise=id)
    for _ in range(2):
        store.end(id)
    press(app, "Hand in")
    assert not app.exception
    assert "not on this server" in words(app)


@pytest.mark.parametrize("who", ["", "teach", "student"])
def test_only_a_teachers_browser_sees_who_found_what(opened, store, become, monkeypatch, who):
    id, _ = made(store)
    become(who)
    assert not opened("exercise", id=id).header
    runs = Visitor(owner=who, role="administrator")
    monkeypatch.setattr(owner, "visitor", lambda: runs)
    assert opened("exercise", id=id).header
    assert not exercise.PAGE.keeps, "a file of the page would hold names"


def test_a_teacher_opens_the_state_that_is_asked_about_and_the_projector(opened, store, become):
    id, _ = made(store, query={"kind": "layer"}, tolerance="0.25")
    app = opened("exercise", id=id)
    assert "Right answer: 2 ± 0.25" in words(app)
    (page,) = (parse_qs(one.proto.query_string) for one in app.get("page_link"))
    assert page == {"kind": ["layer"], "exercise": [id]}
    (projector,) = (parse_qs(urlsplit(one.proto.url).query) for one in app.get("link_button"))
    assert projector == {"id": [id], "projector": ["1"], "embed": ["true"]}


def test_a_choice_and_a_text_ask_the_teacher_for_what_they_need(opened, store, become):
    app = opened("exercise", of="/normalisation")
    app.radio[0].set_value("text").run()
    assert "exercise-choices" not in [one.key for one in app.text_area]
    app.radio[0].set_value("choice").run()
    app.text_area(key="exercise-text").input("?")
    app.text_area(key="exercise-choices").input("a\nb").run()
    app.selectbox(key="exercise-one").select("b")
    app.checkbox(key="exercise-keep").check()
    press(app, "Make the exercise")
    (found,) = store.own("teacher")
    assert (found.kind, found.right, found.keep) == ("choice", "b", True)
    assert found.choices == ["a", "b"]


@pytest.mark.parametrize(("count", "bars"), [(4, "few"), (5, "many")])
def test_up_to_four_bars_are_in_large_type(store, become, monkeypatch, count, bars):
    id, _ = made(store, kind="poll", choices=[*"abcde"[:count]])
    keys, container = [], exercise.st.container
    monkeypatch.setattr(exercise.st, "container", lambda key: keys.append(key) or container())
    exercise._board(store.find(id))
    assert keys == [f"exercise-{bars}-bars"]


def test_a_typed_formula_stays_in_an_exercise(catalogue):
    found = exercise.place("/regression?a=%3D-%7Cq+-+k%7C%5E2&evil=1", catalogue)
    assert found == ("regression", {"a": "=-|q - k|^2"})


def test_a_name_is_typed_once_for_all_exercises_of_a_lesson(opened, store, become, norms):
    first, second = made(store)[0], made(store)[0]
    app = opened("norms", exercise=first)
    app.text_input(key=f"exercise-name-{first}").input("Ada")
    app.text_input(key=f"exercise-answer-{first}").input("2")
    press(app, "Hand in")
    app.query_params["exercise"] = second
    assert app.run().text_input(key=f"exercise-name-{second}").value == "Ada"
    assert app.text_input(key=f"exercise-answer-{second}").value == ""


@pytest.mark.parametrize("who", ["student", ""])
def test_a_reload_brings_back_the_name_the_answer_and_its_verdict(
    opened, store, become, norms, who
):
    """Not for whom no browser is told apart: that could be anybody's name."""
    id, _ = made(store, hints=["look"])
    poll, _ = made(store, kind="poll", choices=["a", "b"])
    store.hand_in(id, who, "Ada", "3", 1)
    store.hand_in(poll, who, "Ada", "b")
    become(who)
    knows = bool(who)
    app = opened("norms", exercise=id)
    assert ("**Not right yet.** Your answer: 3" in words(app)) == knows
    assert ("Hint 1: look" in words(app)) == knows
    assert app.text_input(key=f"exercise-name-{id}").value == "Ada" * knows
    assert app.text_input(key=f"exercise-answer-{id}").value == "3" * knows
    app.text_input(key=f"exercise-answer-{id}").input("many")
    press(app, "Hand in")
    assert "Not right yet" not in words(app), "no verdict stands beside another answer"
    app = opened("norms", exercise=poll)
    assert app.radio(key=f"exercise-answer-{poll}").value == ("b" if knows else None)
    assert ("**Handed in.** Your answer: b" in words(app)) == knows


def test_after_the_end_nothing_invites_and_no_old_verdict_judges(opened, store, become, norms):
    id, _ = made(store, keep=True)
    become("student")
    student = opened("norms", exercise=id)
    student.text_input(key=f"exercise-name-{id}").input("Ada")
    student.text_input(key=f"exercise-answer-{id}").input("2")
    press(student, "Hand in")
    become("teacher")
    teacher, projector = (opened("exercise", id=id, projector=one) for one in ("", "1"))
    for app, invited in ((teacher, 1), (projector, 1)):
        assert len(app.get("image")) == invited
    store.end(id)
    for app in (teacher.run(), projector.run()):
        assert not app.get("image")
        assert "exercise has ended" in words(app)
        assert {one.proto.label for one in app.get("page_link")} <= {"Open the page"}
        assert f"/exercise?id={id}" not in "".join(one.value for one in app.code)
    become("student")
    student.text_input(key=f"exercise-answer-{id}").input("3")
    press(student, "Hand in")
    assert "**Right.** Your answer: 2\n" in words(student) + "\n", "the verdict is of this answer"
    assert not [one for one in student.text_input if "exercise" in one.key]


def test_a_board_at_its_end_draws_the_page_anew(store, become, monkeypatch):
    id, _ = made(store)
    found, again = store.find(id), []
    monkeypatch.setattr(exercise.st, "rerun", lambda: again.append(1))
    exercise._board(found)
    assert not again
    store.end(id)
    exercise._board(found)
    store.end(id)
    exercise._board(found)
    assert len(again) == 2


@pytest.mark.parametrize(("kind", "heading", "columns"), [
    ("number", "Who found what", 5), ("poll", "What was answered", 4),
    ("text", "What was answered", 4),
])  # fmt: skip
def test_a_board_is_headed_by_what_it_shows_and_says_who_sees_it(
    opened, store, become, kind, heading, columns
):
    id, _ = made(store, kind=kind, choices=["2", "3"])
    store.hand_in(id, "a", "Ada", "2")
    app = opened("exercise", id=id)
    assert heading in [one.value for one in app.header]
    assert app.dataframe[0].value.shape == (1, columns)
    assert "Only this exercise's teachers and administrators see what follows" in words(app)
    become("student")
    assert "see what follows" not in words(opened("exercise", id=id))


def test_what_is_wrong_in_the_form_stands_above_it(opened, store, become):
    app = opened("exercise", of="/normalisation")
    press(app, "Make the exercise")
    kinds = [getattr(one, "type", "") for one in app.main]
    assert kinds.index("error") < kinds.index("text_input")
    assert app.error[0].value.startswith("Write a question")
    app.text_area(key="exercise-text").input("?")
    next(one for one in app.text_input if one.label == "Right answer").input("1")
    app.text_area(key="exercise-hints").input("a\n\nb\nc\n\nd")
    press(app, "Make the exercise")
    assert "Write up to three hints" in words(app)
    app.text_area(key="exercise-hints").input("a\n \nb\n\nc")
    press(app, "Make the exercise")
    assert store.own("teacher")[0].hints == ["a", "b", "c"], "a blank line is no hint"


def test_a_page_without_figures_says_why_there_is_no_list(opened, store, become, monkeypatch):
    app = opened("exercise", of="/normalisation")
    assert "No figure of the page can be chosen" in words(app)
    assert not app.selectbox
    monkeypatch.setattr(exercise, "figures", lambda _: {"2 · Norm": "2"})
    app = opened("exercise", of="/normalisation")
    assert "No figure of the page can be chosen" not in words(app)
    assert app.selectbox[0].options == ["2 · Norm"]


@pytest.mark.parametrize("keep", [False, True])
def test_the_end_says_before_what_goes_and_after_it_no_untrue_figure(opened, store, become, keep):
    id, _ = made(store, keep=keep, kind="poll", choices=["2", "3"])
    store.hand_in(id, "a", "Ada", "2")
    app = opened("exercise", id=id)
    assert ("This deletes all names and answers at once" in words(app)) != keep
    assert words(app).count("Names and answers are kept after the end.") == 2 * keep
    press(app, "End the exercise")
    for page in (app, opened("exercise", id=id, projector="1")):
        assert ("Names and answers were deleted at the end." in words(page)) != keep
        assert ("answered: 1" in words(page)) == keep
        assert "answered: 0" not in words(page)
        assert len(page.get("progress")) == 2 * keep
    assert "The question, its names and its answers are deleted." in words(app)


def test_after_the_end_no_hint_is_offered(opened, store, become, norms):
    id, _ = made(store, hints=["look"])
    app = opened("norms", exercise=id)
    assert "Hint 1 of 1" in [one.label for one in app.button]
    store.end(id)
    assert "Hint 1 of 1" not in [one.label for one in app.run().button]


@pytest.mark.parametrize(("host", "local"), [
    ("127.0.0.1:8501", True), ("localhost", True), ("[::1]:8501", True),
    ("10.0.0.7:8501", False), ("attention.example", False),
])  # fmt: skip
def test_an_address_of_this_machine_alone_is_not_to_be_handed_out(
    opened, store, become, monkeypatch, host, local
):
    id, _ = made(store)
    monkeypatch.setattr(exercise.session, "address", lambda _: f"http://{host}/exercise")
    assert ("Only this machine can open" in words(opened("exercise", id=id))) == local
    monkeypatch.setattr(visitors, "everywhere", lambda: True)
    monkeypatch.setattr(visitors.net_util, "get_internal_ip", lambda: "10.0.0.9")
    for projector in ("", "1"):
        app = opened("exercise", id=id, projector=projector)
        assert "Only this machine can open" not in words(app)
        found = host.replace(urlsplit(f"//{host}").netloc.removesuffix(":8501"), "10.0.0.9")
        assert app.code[0].value == f"http://{found if local else host}/exercise?id={id}"


def test_a_student_hears_who_sees_the_answer_and_whether_it_is_kept(opened, store, become, norms):
    for keep, said in ((True, "They are kept after the end."), (False, "deleted at the end.")):
        id, _ = made(store, keep=keep)
        assert said in words(opened("norms", exercise=id))


def test_a_hint_that_was_taken_comes_back_and_is_counted(opened, store, become, norms):
    id, _ = made(store, hints=["look", "nearer"])
    become("student")
    app = opened("norms", exercise=id)
    app.text_input(key=f"exercise-name-{id}").input("Ada")
    app.text_input(key=f"exercise-answer-{id}").input("3")
    press(app, "Hand in")
    press(app, "Hint 1 of 2")
    assert [one["hints"] for one in store.board(id)] == [1]
    again = opened("norms", exercise=id)
    assert "look" in words(again)
    assert "Hint 2 of 2" in [one.label for one in again.button]


def test_a_figure_that_is_picked_fills_the_answer_and_stays(opened, store, become, monkeypatch):
    monkeypatch.setattr(exercise, "figures", lambda of: {"0.25 · Error": "0.25"} if of else {})
    app = opened("exercise", of="/normalisation")
    app.selectbox(key="exercise-figure").select("0.25 · Error").run()
    assert [app.text_input(key=f"exercise-{one}").value for one in ("right", "off")] == [
        "0.25", "0.005",
    ]  # fmt: skip
    monkeypatch.setattr(exercise, "figures", lambda of: {})
    app.text_input(key="exercise-of").input("/").run()
    assert not app.selectbox
    app.text_area(key="exercise-text").input("?")
    press(app, "Make the exercise")
    (found,) = store.own("teacher")
    assert (found.right, found.tolerance) == ("0.25", "0.005")


def test_what_stands_around_a_figure_is_whole_words():
    long = f"{'before ' * 20}0.5{' after' * 20}"
    group = Group(
        blocks=(Text(kind="markdown", text=long), Text(kind="caption", text="字" * 99 + "7"))
    )
    (first, _), (second, _) = exercise._figures(group, "").items()
    assert first.startswith("0.5 · …before before")
    assert first.endswith(" after after…")
    assert len(first) < 140
    assert second == f"7 · …{'字' * 60}7"


def test_the_list_says_how_many_answered_and_what_has_ended(opened, store, become):
    for text, keep, ends in (
        ("a" * 121, True, True), ("b", False, True), ("c\nd", False, False),
        ("e" * 120, False, False),
    ):  # fmt: skip
        id, _ = made(store, text=text, keep=keep)
        store.hand_in(id, "a", "Ada", "2")
        if ends:
            store.end(id)
    app = opened("exercise")
    links = [one.proto.label for one in app.get("page_link")]
    said = dict(zip(links[-4:], [one.value for one in app.caption][-4:], strict=True))
    assert said == {
        "a" * 120 + "…": "This exercise has ended. Students who have answered: 1",
        "b": "This exercise has ended.", "c d": "Students who have answered: 1",
        "e" * 120: "Students who have answered: 1",
    }  # fmt: skip


def test_a_file_of_answers_is_named_by_its_exercise_and_bars_read_in_chinese(
    opened, store, become, monkeypatch
):
    id, _ = made(store, kind="poll", choices=["2", "23"])
    for name, answer in (("Ada", "2"), ("-Ben", "23"), ("Cy", "23")):
        store.hand_in(id, name, name, answer)
    names, files = [], []
    monkeypatch.setattr(
        exercise.st, "download_button",
        lambda *said, **_: (files.append(said[1]), names.append(said[2])),
    )  # fmt: skip
    monkeypatch.setattr(language, "_spoken", lambda: "zh")
    app = opened("exercise", id=id)
    assert names == [f"answers-{id[:8]}.csv"]
    assert files[0].decode("utf-8-sig") != files[0].decode()
    assert {"Ada", "'-Ben"} <= {*files[0].decode("utf-8-sig").replace("\n", ",").split(",")}
    assert [one.proto.text for one in app.get("progress")] == ["2：**1**", "23：**2**"]
    assert [one.proto.value for one in app.get("progress")] == [33, 66]

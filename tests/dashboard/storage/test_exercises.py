"""Exercises of a class: what is judged, stored, refused and forgotten."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dashboard.features.exercise import page
from dashboard.records.beside import beside
from dashboard.storage import exercises

NUMBER = {"text": "How many?", "page": "regression", "query": {}, "kind": "number"}
POLL = {**NUMBER, "kind": "poll", "choices": ["dot", "additive"]}


class Clock:
    now = 1e9

    def time(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(exercises, "time", made)
    return made


@pytest.fixture
def store(runs, clock):
    """On SQLite and, where its programs are installed, on PostgreSQL."""
    return runs.exercises


def made(store, owner="teacher", keep=False, **more):
    given = {**NUMBER, "right": "0.3", "tolerance": "0,1", **more}
    return store.make(owner, keep=keep, **given)[0]


@pytest.mark.parametrize(("answer", "right"), [
    ("0.3", True), ("0,2", True), (" 0.4 ", True), ("0.41", False), ("−0.3", False),
    ("０．３", True), ("0，3", True), ("－0.3", False),
])  # fmt: skip
def test_a_number_within_its_tolerance_is_right(store, answer, right):
    id = made(store)
    assert store.hand_in(id, "a", "Ada", answer) is right
    state = "now" if right else "never"
    assert [(one["name"], one["found"]) for one in store.board(id)] == [("Ada", state)]


@pytest.mark.parametrize("answer", ["nan", "inf", "many", "<b>1</b>"])
def test_what_is_no_number_is_refused_and_not_counted(store, answer):
    id = made(store)
    with pytest.raises(ValueError, match="Need a number"):
        store.hand_in(id, "a", "Ada", answer)
    assert store.board(id) == []


def test_a_poll_judges_nothing_and_a_choice_does(store, clock):
    poll = made(store, **POLL)
    assert store.hand_in(poll, "a", "Ada", "dot") is None
    choice = made(store, **{**POLL, "kind": "choice", "right": "dot"})
    assert store.hand_in(choice, "a", "Ada", "additive") is False
    with pytest.raises(ValueError, match="Choose"):
        store.hand_in(choice, "b", "Bob", "cosine")


QUESTION = "Write a question. It may have up to 1,000 characters."
ANSWERS = (
    "Write two to eight answers, one a line and each once. "
    "An answer may have up to 120 characters."
)
HINTS = "Write up to three hints, one a line. A hint may have up to 300 characters."


@pytest.mark.parametrize(("wrong", "said"), [
    ({"text": ""}, QUESTION), ({"text": "a" * 1001}, QUESTION),
    ({"tolerance": "much"}, "Write the tolerance as a number"),
    ({"right": ""}, "Write the right answer as a number"), ({"kind": "essay"}, "at kind"),
    ({**POLL, "choices": ["a"]}, ANSWERS), ({**POLL, "choices": ["a", "a"]}, ANSWERS),
    ({**POLL, "choices": [*"abcdefghi"]}, ANSWERS), ({**POLL, "choices": ["a", ""]}, ANSWERS),
    ({**POLL, "choices": ["a", "b" * 121]}, ANSWERS),
    ({"hints": ["a"] * 4}, HINTS), ({"hints": ["a" * 301]}, HINTS),
    ({"kind": "choice", "choices": ["a", "b"], "right": "c"}, "Choose"),
])  # fmt: skip
def test_a_wrong_question_is_refused_in_a_sentence(store, wrong, said):
    with pytest.raises(ValueError, match=said):
        made(store, **wrong)


def test_as_much_as_the_sentences_allow_is_taken(store):
    choices = [letter * 120 for letter in "abcdefgh"]
    made(store, **{**POLL, "text": "a" * 1000, "choices": choices, "hints": ["a" * 300] * 3})


def test_a_list_of_exercises_counts_students_not_answers(store, clock):
    first, second = made(store), made(store)
    for name in ("Ada", "Bob"):
        for answer in "12":
            store.hand_in(first, name, name, answer)
            clock.now += 2
    made(store, owner="another")
    assert {one.id: one.students for one in store.own("teacher")} == {first: 2, second: 0}


def test_exercises_are_listed_last_used_first(store, clock):
    first, second = made(store), made(store)
    for used in (second, first):
        clock.now += 2
        store.hand_in(used, "a", "Ada", "1")
        assert store.own("teacher")[0].id == used


def test_without_a_tolerance_the_number_itself_is_right(store):
    for tolerance, right in (("", False), ("0.1", True)):
        id = made(store, tolerance=tolerance)
        assert store.hand_in(id, "a", "Ada", "0.2") is right
        assert store.hand_in(id, "b", "Bob", "0.3") is True


def test_a_board_is_in_the_order_of_first_answers(store, clock):
    id = made(store)
    for name in ("Zoe", "Ada", "Mia", "Zoe"):
        store.hand_in(id, name, name, f"{clock.now}")
        clock.now += 2
    assert [one["name"] for one in store.board(id)] == ["Zoe", "Ada", "Mia"]


def test_who_returns_to_an_earlier_answer_gave_another(store, clock):
    id = made(store)
    for answer in ("0.3", "7", "0.3"):
        store.hand_in(id, "a", "Ada", answer)
        clock.now += 2
    (row,) = store.board(id)
    assert (row["found"], row["last"], row["answers"]) == ("now", "0.3", 3)


def test_a_hint_is_noted_of_the_student_who_saw_it(store, clock):
    id, other = made(store), made(store)
    for name in ("Ada", "Bob"):  # at one browser
        for each in (id, other):
            store.hand_in(each, "a", name, "1")
        clock.now += 2
    store.took_hint(id, "a", "Bob", 2)
    assert [one["hints"] for one in store.board(id)] == [0, 2]
    assert [one["hints"] for one in store.board(other)] == [0, 0]


def test_two_of_one_name_are_two_and_one_who_repeats_is_one(store, clock):
    id = made(store)
    store.hand_in(id, "a", "Ada", "1", 2)
    store.hand_in(id, "a", "Ada", "1")
    store.hand_in(id, "b", "Ada", "0.3")
    clock.now += 2
    store.hand_in(id, "a", "Ada", "0.3")
    clock.now += 2
    store.hand_in(id, "a", "Ada", "7")
    assert [tuple(one.values()) for one in store.board(id)] == [
        ("Ada", "before", "7", 3, 2), ("Ada (2)", "now", "0.3", 1, 0),
    ]  # fmt: skip
    assert store.last(id, "a") == ("Ada", "7", False, 0)
    assert store.last(id, "c") == ("", "", None, 0)
    store.took_hint(id, "a", "Ada", 3)
    assert [one["hints"] for one in store.board(id)] == [3, 0]
    assert store.last(id, "a") == ("Ada", "7", False, 3)


def test_a_name_is_typed_once_for_all_exercises_of_a_browser(store, clock):
    first, second = made(store), made(store)
    for owner in ("a", ""):
        store.hand_in(first, owner, "Ada", "1")
    assert store.last(second, "a") == ("Ada", "", None, 0)
    clock.now += 2
    store.hand_in(second, "a", "Bea", "0.3")
    assert store.last(first, "a") == ("Ada", "1", False, 0)
    assert store.last(made(store), "a") == ("Bea", "", None, 0)
    assert store.last(second, "") == store.last(second, "b") == ("", "", None, 0)


def test_a_flood_of_one_costs_that_one(store, clock, monkeypatch):
    id = made(store)
    store.hand_in(id, "a", "Ada", "0")
    with pytest.raises(ValueError, match="quick"):
        store.hand_in(id, "a", "Eve", "1")
    store.hand_in(id, "b", "Bob", "1")
    for answer in range(1, 20):
        clock.now += 1
        store.hand_in(id, "a", "Ada", str(answer))
    clock.now += 1
    with pytest.raises(ValueError, match="a student gives 20"):
        store.hand_in(id, "a", "Ada", "20")
    for name in "wxyz":
        store.hand_in(id, "a", name, "1")
        clock.now += 1
    with pytest.raises(ValueError, match="has 5 names"):
        store.hand_in(id, "a", "v", "1")
    monkeypatch.setattr(exercises, "MOST_STUDENTS", 6)
    with pytest.raises(ValueError, match="takes 6 students"):
        store.hand_in(id, "c", "Cy", "1")


@pytest.mark.parametrize(("name", "answer"), [("A" * 41, "1"), ("Ada", "1" * 10**6), ("", "1"),
                                              ("Ada", " "), ("\0", "1")])  # fmt: skip
def test_what_is_too_long_or_empty_is_refused(store, name, answer):
    id = made(store, kind="text")
    said = (
        "characters" if len(name + answer) > 9 else "Give an answer" if answer == " " else "Type"
    )
    with pytest.raises(ValueError, match=said):
        store.hand_in(id, "a", name, answer)


def test_the_longest_name_and_answer_are_taken(store):
    id = made(store, kind="text")
    store.hand_in(id, "a", "A" * 40, "1" * 500)
    for name, answer in (("A" * 41, "1"), ("A", "1" * 501)):
        with pytest.raises(ValueError, match="at most 40 and an answer of at most 500"):
            store.hand_in(id, "b", name, answer)
    assert [(one["name"], one["last"]) for one in store.board(id)] == [("A" * 40, "1" * 500)]


def test_the_limits_are_those_that_teachers_and_hosts_are_told():
    said = beside(page.__file__, "words.toml")["page"]["limits"]
    hosting = (Path(__file__).parents[3] / ".github/docs/hosting.md").read_text("utf-8")
    days, most = exercises.DAYS_KEPT, exercises.MOST_EXERCISES
    assert [int(number) for number in re.findall(r"\d+", said)] == [
        exercises.LONGEST_NAME, exercises.LONGEST_ANSWER, exercises.MOST_STUDENTS,
        exercises.MOST_ANSWERS, exercises.HOURS_OPEN,
    ]  # fmt: skip
    assert f"forgotten after {days} days; an owner has at most {most}." in hosting


def test_the_end_forgets_unless_the_teacher_said_keep(store):
    for keep in (False, True):
        id = made(store, keep=keep)
        store.hand_in(id, "a", "Ada", "1")
        store.end(id)
        assert len(store.board(id)) == keep
        with pytest.raises(ValueError, match="ended"):
            store.hand_in(id, "b", "Bob", "1")
        store.end(id)
        assert store.board(id) == []
        with pytest.raises(KeyError):
            store.find(id)


def test_it_ends_by_itself_twelve_hours_after_the_last_answer(store, clock):
    unused, used = made(store), made(store)
    store.hand_in(used, "a", "Ada", "1")
    clock.now += 11 * 3600
    assert not store.find(used).ended
    clock.now += 2 * 3600
    assert store.find(used).ended
    assert store.board(used) == []
    assert not store.find(unused).ended
    clock.now += 89 * 86_400
    assert not store.find(unused).ended
    clock.now += 86_400
    with pytest.raises(KeyError):
        store.find(unused)


def test_an_answer_keeps_it_open_for_twelve_hours_more(store, clock):
    id = made(store)
    for name in ("Ada", "Bob", "Cy"):
        store.hand_in(id, name, name, "1")
        clock.now += 11 * 3600
    assert not store.find(id).ended
    assert len(store.board(id)) == 3


def test_what_the_teacher_keeps_is_there_after_years(store, clock):
    id = made(store, keep=True)
    store.hand_in(id, "a", "Ada", "1")
    clock.now += 3 * 365 * 86_400
    assert store.find(id).ended
    assert [one["name"] for one in store.board(id)] == ["Ada"]


@pytest.mark.parametrize("id", ["", "0" * 32, "' OR 1=1 --", "é", "\0"])
def test_a_guessed_id_leads_nowhere(store, id):
    for ask in (store.find, lambda id: store.hand_in(id, "a", "Ada", "1")):
        with pytest.raises(KeyError):
            ask(id)


def test_the_token_makes_another_browser_a_teachers(store):
    id, token = store.make("teacher", **NUMBER, right="1")
    assert not store.join(id, "é" * 32, "eve")
    assert store.join(id, token, "second")
    assert store.join(id, token, "second")
    assert store.find(id).teachers == "teacher second"
    assert [one.id for one in store.own("teacher")] == [id]


def test_one_owner_makes_a_hundred_at_most(store, monkeypatch):
    monkeypatch.setattr(exercises, "MOST_EXERCISES", 1)
    made(store)
    with pytest.raises(ValueError, match="fewer than 1"):
        made(store)
    made(store, owner="another")


def test_whom_nobody_tells_apart_is_known_by_the_name(store, clock):
    id = made(store)
    store.hand_in(id, "a", "Ada", "1")
    for name in ("Ada", "Bob", "Ada"):
        store.hand_in(id, "", name, "1")
    assert [one["name"] for one in store.board(id)] == ["Ada", "Ada (2)", "Bob"]


def test_a_class_that_hands_in_at_once_loses_nothing_and_doubles_nothing(store, opened_runs):
    """From two servers, and each answer twice, as after a broken connection."""
    id, both = made(store), (store, opened_runs().exercises)

    def student(number):
        return [
            one.hand_in(id, f"owner {number}", f"name {number}", "0.3") for one in (*both, *both)
        ]

    with ThreadPoolExecutor(7) as threads:
        assert [*threads.map(student, range(23))] == [[True] * 4] * 23
    board = store.board(id)
    assert {one["name"] for one in board} == {f"name {number}" for number in range(23)}
    assert {(one["answers"], one["found"]) for one in board} == {(1, "now")}

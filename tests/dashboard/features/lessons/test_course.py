"""The ten lessons: their words, and what real results say of their questions and goals."""

from __future__ import annotations

import re
from string import Formatter

import numpy as np
import pyarrow as pa
import pytest
from support.pages import maps

from dashboard.features.anatomy import task as anatomy
from dashboard.features.heads import task as heads
from dashboard.features.lessons.course import LESSONS, architectures, basics
from dashboard.features.lessons.view import SECTIONS
from dashboard.features.positions import task as positions
from dashboard.features.regression import task as regression
from dashboard.features.translation import task as translation
from dashboard.records.catalogue import Catalogue, Checkpoint
from dashboard.records.request import Result
from dashboard.ui.frame import TERMS

TASKS = {
    "anatomy": anatomy, "heads": heads, "positions": positions, "regression": regression,
    "translation": translation,
}  # fmt: skip
TRAINED = ("bahdanau_additive_phrasebook", "transformer_scaled_dot_phrasebook")
SLOW = {"scoring", "bahdanau", "heads", "transformer", "explaining"}  # models, millions of numbers
# What the question of each lesson has for its answer today.
ANSWERS = {
    "cues": "b", "kernel": "b", "scoring": "c", "mask": "c", "bahdanau": "b", "heads": "b",
    "positions": "c", "transformer": "b", "literature": "b", "explaining": "c",
}  # fmt: skip


class Context:
    def report(self, fraction, note="", facts=None):
        """As a task's context."""

    def stopped(self):
        return False


@pytest.fixture(scope="module")
def shipped():
    """A catalogue of the trained models that lessons use, and of nothing else."""
    found = {
        name: Checkpoint(name=name, title="", model="", scoring="", corpus="phrasebook")
        for name in TRAINED
    }
    return Catalogue(checkpoints=found)


def values(control):
    """All that a control can be moved to."""
    if control.choices:
        return [*control.choices]
    count = round((control.high - control.low) / control.step)
    kind = type(control.default)
    return [kind(round(control.low + i * control.step, 6)) for i in range(count + 1)]


def words(lesson):
    """Everything that the lesson says."""
    return "\n".join(
        [lesson.title, lesson.idea, lesson.question, *lesson.choices.values(), lesson.reason,
         lesson.now, lesson.goal, lesson.conclusion, *(TERMS[term] for term in lesson.terms)]
    )  # fmt: skip


def mentions(text, term):
    return re.search(rf"\b{re.escape(term)}s?\b", text, re.IGNORECASE)


def test_there_are_ten_lessons_of_ten_names():
    assert len({lesson.name for lesson in LESSONS}) == len({one.title for one in LESSONS}) == 10
    assert [lesson.section for lesson in LESSONS] == [
        "10.1", "10.2", "10.3", "10.3", "10.4", "10.5", "10.6", "10.7", "", "",
    ]  # fmt: skip
    assert {lesson.section for lesson in LESSONS} - {""} <= SECTIONS.keys()
    assert all(lesson.section or lesson.papers for lesson in LESSONS)


def test_each_term_of_the_glossary_is_explained_where_it_first_stands():
    introduced = [term for lesson in LESSONS for term in lesson.terms]
    assert len(introduced) == len({*introduced})
    assert {*introduced} <= {*TERMS}
    early = [
        f"{lesson.name} uses {term}, which {later.name} explains"
        for number, lesson in enumerate(LESSONS, 1)
        for later in LESSONS[number:]
        for term in later.terms
        if mentions(words(lesson), term)
    ]
    assert not early


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_is_short_and_asks_something_open(lesson):
    assert len(lesson.idea.split()) <= 60
    assert len(lesson.choices) == 3
    assert ANSWERS[lesson.name] in lesson.choices
    assert lesson.control.name == "at"
    assert lesson.control.default != lesson.asked
    assert {lesson.control.default, lesson.asked} <= {*values(lesson.control)}


@pytest.mark.parametrize(
    "lesson",
    [pytest.param(one, marks=[pytest.mark.slow] * (one.name in SLOW)) for one in LESSONS],
    ids=lambda lesson: lesson.name,
)
def test_real_results_answer_the_question_and_the_goal_can_be_reached(lesson, shipped):
    kept = {}

    def figures(value):
        request = lesson.request(value, shipped)
        assert request
        if request not in kept:
            kept[request] = TASKS[request.task].perform(request, Context())
        return lesson.measured(kept[request], value)

    seen = figures(lesson.asked)
    assert lesson.answer(seen) == ANSWERS[lesson.name]
    assert not lesson.reached(seen)
    given = figures(lesson.control.default)
    assert not lesson.reached(given), "else it is over before anything is moved"
    assert seen.get("sharpest", lesson.asked) == lesson.asked or "sharpest" not in lesson.question
    found = [value for value in values(lesson.control) if lesson.reached(figures(value))]
    assert 0 < len(found) < len(values(lesson.control)) / 2
    for sentence in (lesson.reason, lesson.now, lesson.missed):
        assert any(name for _, name, *_ in Formatter().parse(sentence))
    for sentence in (lesson.reason, lesson.now, lesson.missed, lesson.conclusion):
        assert not re.search(r"nan|inf\b|\{", sentence.format(**figures(found[0])))


# By lesson: figures that answer its question, and how; figures that miss its goal, and reach it.
JUDGED = {
    "cues": (
        [({"best": 0}, "a"), ({"best": 2}, "b"), ({"best": 1}, "c")],
        [{"output": 2.5}, {"output": 8.0}], [{"output": 2.49}],
    ),
    "kernel": (
        [({"spread": 0.14, "neighbours": 1.0}, "b"), ({"spread": 0.15, "neighbours": 1.99}, "a"),
         ({"spread": 0.15, "neighbours": 2.0}, "c")],
        [{"error": 0.12}, {"error": 1.0}], [{"error": 0.119}],
    ),
    "scoring": (
        [({"before": 0.4, "dot": dot}, name)
         for dot, name in ((0.29, "a"), (0.31, "b"), (0.49, "b"), (0.51, "c"))],
        [{"dot": 0.9, "half": 0.5}, {"dot": 0.99, "half": 0.91}, {"dot": 0.5, "half": 0.91}],
        [{"dot": 0.91, "half": 0.9}, {"dot": 0.99, "half": 0.0}],
    ),
    "mask": (
        [({"leak": 0.0}, "a"), ({"leak": 0.49}, "b"), ({"leak": 0.5}, "c")],
        [{"leak": 0.9}, {"leak": 0.1}], [{"leak": 0.91}],
    ),
    "bahdanau": (
        [({"looks": "car"}, "a"), ({"looks": "red"}, "b"), ({"looks": "<eos>"}, "c")],
        [{"looks": "red"}, {"looks": "a"}], [{"looks": "car"}],
    ),
    "heads": (
        [({"same": 8, "words": 8}, "a"), ({"same": 7, "words": 8}, "b"),
         ({"same": 1, "words": 8}, "b"), ({"same": 0, "words": 8}, "c")],
        [{"head": 2, "sharpest": 3}, {"head": 4, "sharpest": 3}], [{"head": 3, "sharpest": 3}],
    ),
    "positions": (
        [({"none": 16.0, "product": product}, name)
         for product, name in ((16.6, "a"), (16.4, "b"), (15.6, "b"), (15.4, "c"))],
        [{"product": 3.0, "before": 3.0}, {"product": 2.9, "before": 3.0}],
        [{"product": 3.01, "before": 3.0}],
    ),
    "transformer": (
        [({"later": 0.0, "earlier": 1.0}, "b"), ({"later": 0.1, "earlier": 1.0}, "a"),
         ({"later": 0.1, "earlier": 0.0}, "c")],
        [{"crosses": False}], [{"crosses": True}],
    ),
    "literature": (
        [({"zeros": 0, "left": 6}, "a"), ({"zeros": 1, "left": 5}, "b"),
         ({"zeros": 4, "left": 2}, "b"), ({"zeros": 5, "left": 1}, "c")],
        [{"left": 2}, {"left": 4}, {"left": 6}], [{"left": 3}],
    ),
    "explaining": (
        [({"worse": 0, "effect": -0.1}, "a"), ({"worse": 1, "effect": -0.1}, "b"),
         ({"worse": 3, "effect": 0.0}, "c"), ({"worse": 7, "effect": 0.1}, "c")],
        [{"head": 2, "needed": 3}, {"head": 4, "needed": 3}], [{"head": 3, "needed": 3}],
    ),
}  # fmt: skip


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_answers_and_goals_are_told_from_what_just_misses_them(lesson):
    answers, missed, reached = JUDGED[lesson.name]
    assert [lesson.answer(figures) for figures, _ in answers] == [name for _, name in answers]
    assert {name for _, name in answers} == lesson.choices.keys()
    assert not any(lesson.reached(figures) for figures in missed)
    assert all(lesson.reached(figures) for figures in reached)


SHARP = np.array([[0, 0, 1], [0, 1, 0]])  # of two words written, three read
EVEN = np.full((2, 3), 1 / 3)
HALF = np.array([[0.5, 0.5, 0], [0.25, 0.75, 0]])


def measured(name, value, result):
    (lesson,) = (one for one in LESSONS if one.name == name)
    return lesson.measured(result, value)


def test_the_figures_of_each_value_are_its_own():
    """Of lessons whose models and numbers only slow tests compute."""
    rows = [{"d": d, "scoring": name, "largest": value}
            for d, dot, scaled in ((2, 0.1, 0.2), (4, 0.3, 0.21), (8, 0.6, 0.22), (16, 0.9, 0.23))
            for name, value in (("dot", dot), ("scaled_dot", scaled))]  # fmt: skip
    spread = Result(tables={"spread": pa.Table.from_pylist(rows)})
    assert measured("scoring", "16", spread) == {
        "d": 16, "dot": 0.9, "scaled": 0.23, "before": 0.3, "half": 0.6
    }  # fmt: skip
    assert measured("scoring", "4", spread)["half"] == 0.1
    words = {"queries": ["une", "auto"], "keys": ["a", "red", "car"]}
    one = Result(tables={"maps": maps("cross", SHARP, **words)})
    assert measured("bahdanau", 1, one) == {"word": "une", "looks": "car", "weight": 1.0}
    assert measured("bahdanau", 7, one)["looks"] == "red"
    three = Result(tables={"maps": maps("cross", np.stack([HALF, EVEN, SHARP]), **words)})
    found = [measured("heads", head, three) for head in (1, 2, 3)]
    assert [figures["rank"] for figures in found] == [2, 3, 1]
    assert [figures["same"] for figures in found] == [2, 1, 1]
    assert {figures["sharpest"] for figures in found} == {3}
    quarter = -0.25 * np.log2(0.25) - 0.75 * np.log2(0.75)
    bits = [(1 + quarter) / 2, np.log2(3), 0]
    assert [figures["bits"] for figures in found] == pytest.approx(bits, abs=1e-6)


def stages(**tensors):
    """The tensors of an attention step by name, as a worker gives them."""
    named = {name: np.atleast_1d(np.asarray(tensor, float)) for name, tensor in tensors.items()}
    return pa.table({
        "name": [*named], "values": [each.ravel().tolist() for each in named.values()],
        "shape": [[*each.shape] for each in named.values()],
    })  # fmt: skip


def test_the_figures_of_each_result_are_its_own():
    """Of numbers in which no column, row or count can stand for another."""
    tables = {"points": pa.table({"x0": [0.0, 3.0, 10.0], "y": [1.0, 5.0, 3.0]}),
              "curve": pa.table({"x0": [0.0, 7.0], "prediction": [2.0, 4.0]})}  # fmt: skip
    metrics = {"truth_mse": 0.25, "effective_neighbours": 2.5}
    curve = Result(tables=tables, facts={"metrics": metrics})
    assert measured("kernel", 3.0, curve) == {
        "width": 3.0, "error": 0.25, "neighbours": 2.5, "spread": 0.5, "points": 3
    }  # fmt: skip
    step = {"weights": [[0.125, 0.25, 0.0, 0.5, 0.125]], "pooled": [[2.375]]}
    one = Result(tables={"stages": stages(**step)})
    said = "0.125·5 + 0.250·1 + 0·8 + 0.500·2 + 0.125·4 = 2.375"
    assert measured("cues", 0.5, one) == {
        "query": 0.5, "best": 1, "weight": 0.5, "output": 2.375, "sum": said
    }  # fmt: skip
    assert measured("literature", 2.0, one) == {"alpha": 2.0, "zeros": 1, "left": 4, "count": 5}
    padded = Result(
        tables={"stages": stages(weights=[0.5, 0.25, 0.125, 0.125, 0, 0])}, facts={"leak": [0.75]}
    )
    for length, right in ((2, 0.25), (3, 0.125), (4, 0.0)):
        figures = {"length": length, "count": 6, "leak": 0.75, "right": right}
        assert measured("mask", length, padded) == figures
    found = [16.0, 12.0, 9.0, 11.0]
    table = pa.table({"value": found})
    waves = Result(tables={"by_distance": table}, facts={"similarity_spread": 1e-6})
    assert [measured("positions", at, waves) for at in (0, 3)] == [
        {"distance": at, "product": found[at], "none": 16.0, "before": before, "spread": 1e-6}
        for at, before in ((0, 16.0), (3, 9.0))
    ]


def test_the_kinds_of_attention_are_told_by_their_words_and_their_diagonals():
    source, target = ["I", "go", "."], ["<bos>", "je", "vais"]
    whole, causal = np.full((3, 3), 1 / 3), np.tril(np.ones((3, 3))) / [[1], [2], [3]]
    tables = [maps("encoder", whole[None], source, source),
              maps("decoder", causal[None], ["je", "vais", "."], target),
              maps("cross", whole[None], ["je", "vais", "."], source)]  # fmt: skip
    facts = {"tokens": ["je", "vais", "."], "source_tokens": source}
    result = Result(tables={"maps": pa.concat_tables(tables)}, facts=facts)
    found = {kind: measured("transformer", kind, result)
             for kind in ("encoder", "decoder", "cross")}  # fmt: skip
    assert [figures["crosses"] for figures in found.values()] == [False, False, True]
    assert [figures["later"] for figures in found.values()] == pytest.approx([1, 0, 1])
    assert found["decoder"]["earlier"] == pytest.approx(1 / 2 + 2 / 3)


def test_heads_are_ranked_by_what_is_lost_without_them():
    rows = [{"kind": kind, "layer": layer, "head": head, "entropy": entropy / 10,
             "leave_one_out": effect}
            for kind, layer, heads in (("cross", 1, [(5, -0.2), (1, 0.1), (3, -0.7)]),
                                       ("cross", 0, [(0, -9.0)]), ("decoder", 1, [(0, -9.0)]))
            for head, (entropy, effect) in enumerate(heads)]  # fmt: skip
    result = Result(tables={"heads": pa.Table.from_pylist(rows)})
    found = [measured("explaining", head, result) for head in (1, 2, 3)]
    assert [figures["effect"] for figures in found] == [-0.2, 0.1, -0.7]
    assert [(figures["worse"], figures["rank"]) for figures in found] == [(1, 2), (2, 3), (0, 1)]
    assert {(one["needed"], one["sharpest"], one["count"], one["others"]) for one in found} == {
        (3, 2, 3, 2)
    }


def test_each_picture_shows_the_map_that_was_asked_for(monkeypatch):
    """The head, the kind, the words so far: of maps that differ in every cell."""
    drawn = []
    monkeypatch.setattr(
        architectures.lesson, "weights", lambda alt, frame, values, queries=(): drawn.append(
            (alt, frame.kind, values.tolist(), list(queries))
        ),
    )  # fmt: skip
    pictures = {one.name: one.figure for one in LESSONS}
    words = {"queries": ["une", "auto"], "keys": ["a", "red", "car"]}
    cross, encoder = np.stack([HALF, EVEN, SHARP]), np.stack([EVEN, SHARP])
    tables = [maps("encoder", encoder, **words), maps("cross", cross, **words)]
    result = Result(tables={"maps": pa.concat_tables(tables)})
    pictures["heads"](result, 3)
    pictures["transformer"](result, "encoder")
    pictures["bahdanau"](result, 1)
    assert [each[:2] for each in drawn] == [
        ("Cross-attention, layer 1, head 3", "cross"),
        ("Layer 1, encoder: the mean of its heads", "encoder"),
        ("Where the model looked while it wrote the first word", "cross"),
    ]
    assert drawn[0][2] == SHARP.tolist()
    np.testing.assert_allclose(drawn[1][2], encoder.mean(0), rtol=1e-6)
    (first, second), labels = drawn[2][2:]
    assert (first, labels) == (HALF[0].tolist(), ["une", "…"])
    assert np.isnan(second).all()
    pictures["bahdanau"](result, 2)
    assert drawn[3][2:] == (HALF.tolist(), ["une", "auto"])
    assert drawn[3][0].endswith("the first 2 words")


def test_nothing_smaller_than_what_is_given_shows_how_the_largest_weight_grows(monkeypatch):
    drawn = {}
    monkeypatch.setattr(
        basics,
        "lines",
        lambda alt, series, marked, titles, ticks: drawn.update(
            series=series, marked=marked, ticks=ticks
        ),
    )
    rows = [{"d": d, "scoring": name, "largest": d / 10} for d in (1, 2, 4, 8)
            for name in ("dot", "scaled_dot")]  # fmt: skip
    result = Result(tables={"spread": pa.Table.from_pylist(rows)})
    basics.SCORING.figure(result, "4")
    assert drawn["series"] == drawn["marked"]
    assert [*drawn["series"].values()] == [[(4, 0.4)]] * 2
    basics.SCORING.figure(result, "8")
    assert [*drawn["series"].values()] == [[(4, 0.4), (8, 0.8)]] * 2
    assert drawn["ticks"] == [4, 8]


@pytest.mark.slow
def test_the_translations_that_lessons_quote_are_the_models(shipped):
    by_name = {lesson.name: lesson for lesson in LESSONS}

    def said(name):
        request = by_name[name].request(1, shipped)
        assert request
        return TASKS[request.task].perform(request, Context()).facts["tokens"]

    assert said("bahdanau") == ["j'", "ai", "une", "voiture", "rouge", ".", "<eos>"]
    assert said("heads") == ["j'", "ai", "vu", "une", "voiture", "rouge", ".", "<eos>"]
    for name, wording in (("bahdanau", "j'ai une voiture rouge."), ("heads", "j'ai vu une")):
        assert wording in by_name[name].question


def test_no_lesson_leads_to_a_measurement():
    """A class that follows it would measure one after the other."""
    links = [to for lesson in LESSONS for to in lesson.tries if to.startswith("complexity")]
    assert links == ["complexity"]

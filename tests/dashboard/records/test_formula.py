"""Formulas as pages know them, of what the worker's task says."""

from __future__ import annotations

import pytest

from dashboard.jobs import task_formula
from dashboard.records.catalogue import Formula, Problem, formula_request, package_request


def formula(text):
    return Formula.of(task_formula.perform(formula_request(text), None).facts)


def test_a_formula_is_an_entry_like_that_of_an_installed_scoring(catalogue):
    read = formula("-|q - k|^2 / (2 w^2)")
    assert read.problem is None
    assert read.entry.name == "=-norm(q - k)^2 / (2 * w^2)"
    (width,) = read.entry.parameters
    assert (width.name, width.low, width.high, width.learnable) == ("w", 0.01, 10.0, True)
    assert read.entry.learns
    assert not formula("q.k").entry.learns
    assert read.slug.startswith("formula_")
    assert f"src/{read.slug}.py" in read.files
    named = task_formula.perform(package_request("q.k", "mine"), None).facts
    assert Formula.of(named).slug == "mine"


def test_a_catalogue_with_formulas_knows_but_does_not_offer_them(catalogue):
    read = formula("q.k")
    more = catalogue.with_formulas({"q.k": read, "q.": formula("q.")})
    assert more.scorings["=dot(q, k)"] is read.entry
    assert more.formulas["dot(q, k)"] is more.formulas["q.k"] is read
    assert more.formulas["q."].problem
    assert [*more.scorings_for("regression")] == [*catalogue.scorings_for("regression")]
    assert "=dot(q, k)" not in catalogue.scorings


def test_a_problem_is_marked_by_a_caret_under_its_character():
    text = "q.k / sqr(d)"
    problem = formula(text).problem
    line, carets = problem.marked(text).split("\n")
    assert line == text
    assert line[carets.index("^") : len(carets)] == "sqr"
    assert problem.suggestion == "sqrt"


@pytest.mark.parametrize("start", [0, 5, 40, 99, 100])
def test_of_a_long_formula_the_part_around_the_problem_is_shown(start):
    text = "".join(chr(ord("a") + i % 26) for i in range(100))
    problem = Problem(sentence="odd", start=start, end=start + 1)
    line, carets = problem.marked(text).split("\n")
    assert len(line) < 40
    assert carets.count("^") == 1
    assert line[len(carets) - 1 :][:1] == text[start:][:1]


def test_what_was_cut_off_a_formula_is_a_sign_on_that_side_alone():
    text = "".join(chr(ord("a") + i % 26) for i in range(40))
    assert Problem(sentence="", start=16, end=17).marked(text)[:1] == "a"
    assert Problem(sentence="", start=17, end=18).marked(text)[:2] == "…b"
    assert Problem(sentence="", start=23, end=24).marked(text).split("\n")[0][-1] == text[-1]
    assert Problem(sentence="", start=22, end=23).marked(text).split("\n")[0][-1] == "…"


def test_of_a_long_problem_only_its_beginning_is_marked():
    assert Problem(sentence="", start=0, end=90).marked("x" * 99).count("^") == 16


def test_a_formulas_shape_is_that_of_its_scores_and_few_completions_are_kept():
    facts = task_formula.perform(formula_request("q.k"), None).facts
    words = [{"word": f"w{n}", "insert": "", "help": ""} for n in range(9)]
    shapes = [("q", "(d)"), ("q . k", "(queries, keys)")]
    read = Formula.of({**facts, "shapes": shapes, "completions": words})
    assert read.shape == "(queries, keys)"
    assert [one.word for one in read.completions] == ["w0", "w1", "w2", "w3", "w4", "w5"]


def test_formulas_stand_beside_the_installed_scorings(catalogue):
    more = catalogue.with_formulas({"q.k": formula("q.k")})
    assert [*more.scorings] == [*catalogue.scorings, "=dot(q, k)"]

"""Formulas as pages know them, of what the worker's task says."""

from __future__ import annotations

import pytest

from dashboard.jobs import task_formula
from dashboard.records.catalogue import Formula, Problem, formula_request


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

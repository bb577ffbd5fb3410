"""What the page of kernel regression shows before anything is chosen; formulas in its links."""

from dataclasses import replace

import pytest
from support.documents import DOCUMENTS

from attention_plugins import fitting, regression
from attention_plugins.fitting import grid
from attention_plugins.models import nadaraya_watson
from attention_plugins.registry import installed
from dashboard.features.regression.view import LINK, formulas, requests, usual_panels
from dashboard.jobs import task_formula
from dashboard.jobs.pool import PoolOptions
from dashboard.links import fits
from dashboard.links.fits import fit_work
from dashboard.records.catalogue import Formula, formula_request
from dashboard.records.request import Request


def test_the_usual_panels_are_the_baseline_one_kernel_twice_and_another(catalogue):
    """A width that is given beside one that is learned; average pooling as the baseline."""
    panels = usual_panels(catalogue)
    assert [(panel.scoring, panel.learn) for panel in panels] == [
        ("uniform", False), ("gaussian", False), ("gaussian", True), ("laplacian", False),
    ]  # fmt: skip


def test_letters_stay_where_the_link_says_so(catalogue):
    link = {"b": "gaussian", "d": "uniform", "panels": "bd"}
    view, problems = LINK.parse(link, catalogue)
    assert not problems
    assert list(view.by_letter) == ["b", "d"]
    assert [*requests(view, catalogue)] == ["b", "d"]
    assert LINK.format(view, catalogue) == link
    without, _ = LINK.parse({"b": "gaussian", "d": "uniform"}, catalogue)
    assert LINK.format(without, catalogue) == {"a": "gaussian", "b": "uniform"}


@pytest.mark.parametrize("given", ["ab", "db", "bdx", ""])
def test_letters_that_are_not_the_panels_are_refused(catalogue, given):
    view, (problem,) = LINK.parse({"b": "gaussian", "d": "uniform", "panels": given}, catalogue)
    assert "the letters of the panels" in problem
    assert list(view.by_letter) == ["a", "b"]


def test_panels_of_the_first_letters_need_not_name_them(catalogue):
    view, problems = LINK.parse({"a": "gaussian", "b": "uniform", "panels": "ab"}, catalogue)
    assert not problems
    assert LINK.format(view, catalogue) == {"a": "gaussian", "b": "uniform"}


def test_the_usual_panels_keep_other_letters_where_fewer_scorings_are_installed(catalogue):
    kept = {name: catalogue.scorings[name] for name in ("uniform", "gaussian")}
    few = replace(catalogue, scorings=kept)
    view = replace(LINK.parse({}, few)[0], letters="bcd")
    link = LINK.format(view, few)
    assert (link["b"], link["d.learn"], link["panels"]) == ("uniform", "1", "bcd")
    assert LINK.parse(link, few) == (view, [])


GAUSSIAN = "=-norm(q - k)^2 / (2 * w^2)"


@pytest.fixture
def typed(catalogue):
    """The catalogue of a page that has read some formulas."""

    def of(*texts):
        facts = (task_formula.perform(formula_request(text), None).facts for text in texts)
        return catalogue.with_formulas(dict(zip(texts, map(Formula.of, facts), strict=True)))

    return of


def test_a_formula_and_its_parameters_come_back_from_their_link(typed):
    known = typed(GAUSSIAN[1:], "q.k")
    link = {"a": GAUSSIAN, "a.w": "0.5", "a.learn": "1", "b": "=dot(q, k)"}
    view, problems = LINK.parse(link, known)
    assert not problems
    assert [panel.scoring for panel in view.panels] == [GAUSSIAN, "=dot(q, k)"]
    assert dict(view.panels[0].parameters)["w"] == 0.5
    assert view.panels[0].learn
    assert LINK.format(view, known) == link


def test_any_spelling_in_a_link_becomes_the_one_spelling(typed):
    known = typed("qᵀk / √d")
    view, problems = LINK.parse({"a": "=qᵀk / √d"}, known)
    assert not problems
    assert LINK.format(view, known) == {"a": "=dot(q, k) / sqrt(d)"}


def test_a_model_stands_before_a_formula(typed, catalogue):
    known = typed("q.k")
    models = catalogue.models | {"local": replace(catalogue.models["nadaraya_watson"])}
    known = replace(known, models=models)
    view, problems = LINK.parse({"a": "local.=q.k"}, known)
    assert not problems
    assert (view.panels[0].model, view.panels[0].scoring) == ("local", "=dot(q, k)")
    assert LINK.format(view, known) == {"a": "local.=dot(q, k)"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("q.k / sqr(d)", 'character 7: nothing is called "sqr"; parameters are single'),
        ("q + k", "a score is one number"),
        ("q.k" + " + q.k" * 50, "a formula of 303 characters, need at most 300"),
        ("", "is not a scoring's name"),
        ("q.k\n", "is not a scoring's name"),
    ],
)
def test_a_formula_that_cannot_be_used_is_refused_with_a_sentence(typed, text, sentence):
    known = typed(*[text] * bool(text))
    view, (problem,) = LINK.parse({"a": f"={text}"}, known)
    assert problem.startswith("a=‘=")
    assert sentence in problem
    assert ("did you mean ‘sqrt’" in problem) == ("sqr(" in text)
    assert problem.endswith("; gaussian is used")
    assert [panel.scoring for panel in view.panels] == ["gaussian"]


def test_a_value_out_of_bounds_is_moved_and_said(typed):
    view, (problem,) = LINK.parse({"a": GAUSSIAN, "a.w": "99"}, typed(GAUSSIAN[1:]))
    assert dict(view.panels[0].parameters)["w"] == 10.0
    assert "a.w" in problem


def test_a_formula_that_nobody_has_read_stays_with_its_parameters(catalogue):
    link = {"a": GAUSSIAN, "a.w": "0.5"}
    view, problems = LINK.parse(link, catalogue)
    assert not problems
    assert LINK.format(view, catalogue) == link


def test_the_formulas_of_a_link_and_of_a_view_are_named(typed):
    view, _ = LINK.parse({"a": "=q.k", "b": "uniform"}, typed("q.k"))
    query = {"b": ["gaussian", "=k.q"], "c": "nadaraya_watson.=q . k", "d": "", "seed": "=1"}
    assert sorted(formulas(query, view)) == ["dot(q, k)", "k.q", "q . k"]
    assert not [*formulas({"a": "gaussian"}, None)]


def test_a_large_table_costs_what_an_evaluation_may():
    asked = Request.make("regression", data="upload:" + "0" * 64)
    pairs = regression.MOST_WORK / nadaraya_watson._WORK_BY_SCORES
    assert (pairs, regression.FEWEST_ROWS) == (fits._MOST_PAIRS, fits._FEWEST_ROWS)
    assert (fits._MOST_LEARNED_PAIRS, fits._FEWEST_ROWS) == (fitting._EACH_STEP, fitting._FEWEST)
    for work in (1.0, nadaraya_watson._WORK_BY_SCORES, regression._WORK_BY_MASK):
        assert f"{regression.MOST_WORK / work:,.0f}" in DOCUMENTS["using.md"]
    works = [fit_work(asked, rows) for rows in (1_000, 4_790, 20_000, 100_000, 1_000_000)]
    assert works == sorted(works)
    assert works[1] < 1 < works[2] < 6 < works[4] < 60


def test_learning_from_a_large_table_takes_no_longer_than_a_computation_may():
    asked = Request.make("regression", scoring="gaussian", data="upload:" + "0" * 64,
                         options={"learn": True})  # fmt: skip
    works = [fit_work(asked, rows) for rows in (2_048, 8_388, 100_000, 500_000)]
    assert works == sorted(works)
    assert works[-1] < PoolOptions().time_limit


def test_folds_learn_once_each_and_tune_by_their_own_folds():
    def work(folds=1, tune=False, **options):
        plan = {"validation.folds": folds, "validation.tune": tune}
        return fit_work(Request.make("regression", scoring="gaussian", options=plan | options))

    once, learned = work(), work(learn=True) - work()
    assert work(7) == once, "a row is predicted once"
    assert work(7, learn=True) - once == pytest.approx(7 * learned)
    tried = len(grid(installed().scoring("gaussian").parameters))
    assert work(7, tune=True) - fits._SECONDS == pytest.approx(7 * tried * (once - fits._SECONDS))


def test_a_formula_of_many_operations_costs_more_than_a_scoring_that_is_installed():
    def work(scoring, **options):
        return fit_work(Request.make("regression", scoring=scoring, options=options))

    def epoch(scoring):
        return work(scoring, learn=True, epochs=10) - work(scoring, learn=True, epochs=9)

    for cost in (work, epoch):
        assert cost("gaussian") == cost("=dot(q, k)") < cost("=" + "tanh(dot(q, k)) + " * 15)


def test_a_fit_costs_more_with_more_queries_points_or_epochs():
    def work(rows=0, **options):
        return fit_work(Request.make("regression", scoring="gaussian", options=options), rows)

    usual = work()
    assert work(**{"data.queries": 50, "data.points": 50}) == usual
    # Of points squared and points times queries: 50 * 50 + 50 * n.
    more = [work(**{"data.queries": n}) - usual for n in (100, 200)]
    assert more[1] == pytest.approx(3 * more[0])
    assert work(**{"data.points": 100}) - usual == pytest.approx(4 * more[0])
    assert work(rows=100) == work(**{"data.points": 100})
    assert work(epochs=9) == usual < work(learn=True, epochs=9) < work(learn=True, epochs=10)

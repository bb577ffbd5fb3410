"""Scorings in links: their names, and formulas that were typed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from attention_plugins.formula import described
from dashboard.links.attending import Names, ScoringChoice, given, resolved, short_name, split
from dashboard.links.link import Link
from dashboard.records.catalogue import Formula

LARGEST = "=-max(abs(q - k), 3)"


@dataclass(frozen=True, kw_only=True)
class View:
    scoring: str = "gaussian"
    scorings: tuple[str, ...] = ()


LINK: Link[View] = Link(
    default=lambda _: View(),
    fields=(
        ScoringChoice(
            name="scoring", title="Scoring",
            options=lambda _, catalogue: tuple(catalogue.scorings_for()),
            default=lambda *_: "gaussian",
        ),
        Names(name="scorings", default=lambda _: ("gaussian",), most=3),
    ),
)  # fmt: skip


def known(catalogue, *texts):
    """The catalogue once a worker has read these formulas."""
    more = {"slug": "x", "files": {}, "completions": []}
    facts = {text: {**more, **described(text)} for text in texts}
    return catalogue.with_formulas({text: Formula.of(each) for text, each in facts.items()})


def test_a_list_is_split_at_commas_outside_brackets():
    assert split("additive,=max(a, min(b,c)) - w,gaussian") == [
        "additive", "=max(a, min(b,c)) - w", "gaussian",
    ]  # fmt: skip
    assert split("=max(a,b") == ["=max(a,b"]  # a worker says what is wrong with it
    assert split("=a),gaussian") == ["=a)", "gaussian"]


def test_a_formula_of_a_link_gets_its_one_spelling(catalogue):
    catalogue = known(catalogue, "q·k/√d", "-|q - k|")
    query = {"scoring": "=q·k/√d", "scorings": "laplacian,=-|q - k|,not_here"}
    view, problems = LINK.parse(query, catalogue)
    assert problems == []
    assert view.scoring == "=dot(q, k) / sqrt(d)"
    assert view.scorings == ("laplacian", "=-norm(q - k)", "not_here")
    written = LINK.format(view, catalogue)
    assert written == {
        "scoring": "=dot(q, k) / sqrt(d)", "scorings": "laplacian,=-norm(q - k),not_here",
    }  # fmt: skip
    again = known(catalogue, "dot(q, k) / sqrt(d)", "-norm(q - k)")
    assert LINK.parse(written, again) == (view, [])


def test_two_spellings_of_one_formula_are_one_scoring(catalogue):
    catalogue = known(catalogue, "q.k", "q @ k.T")
    view, _ = LINK.parse({"scorings": "=q.k,=q @ k.T,gaussian"}, catalogue)
    assert view.scorings == ("=dot(q, k)", "gaussian")


def test_a_formula_that_is_wrong_is_left_out_with_its_character(catalogue):
    catalogue = known(catalogue, "q.k / sqr(d)")
    view, problems = LINK.parse(
        {"scoring": "=q.k / sqr(d)", "scorings": "=q.k / sqr(d),laplacian,Not a name"}, catalogue
    )
    assert (view.scoring, view.scorings) == ("gaussian", ("laplacian",))
    assert len(problems) == 3
    assert all("character 7" in one and "did you mean" in one for one in problems[:2])
    assert problems[0].endswith("; gaussian is used")
    assert problems[1].endswith("; it is left out")


def test_a_formula_that_nobody_has_read_stays(catalogue):
    assert resolved("=q.k", catalogue) == ("=q.k", "")
    assert resolved("=" + "q" * 300, catalogue)[1] == ""
    name, wrong = resolved("=" + "q" * 301, catalogue)
    assert wrong == "a formula of 301 characters, need at most 300"
    assert name == "=" + "q" * 301


def test_a_formula_has_a_short_name_that_may_stand_in_a_key():
    assert short_name("gaussian") == "gaussian"
    names = {short_name(name) for name in ("=dot(q, k)", "=0.5 * w", LARGEST)}
    assert len(names) == 3
    assert all(name.isidentifier() and name.startswith("formula_") for name in names)


@pytest.mark.parametrize(
    ("query", "said"), [({"a": "x"}, "x"), ({"a": ["x", "y"]}, "y"), ({}, "")]
)
def test_what_a_link_says_is_its_last_word(query, said):
    assert given(query, "a") == said

"""What a page is told of a formula while it is typed."""

from __future__ import annotations

import pytest

from attention_plugins.catalogue import plain_json
from attention_plugins.formula import completions, described


def test_a_formula_is_described_in_plain_types():
    found = described("-|q - k|²/(2σ²)")
    plain_json(found)
    assert found["error"] is None
    assert found["name"] == "=-norm(q - k)^2 / (2 * sigma^2)"
    assert found["formula"] == r"-\frac{\lVert q - k\rVert_2^{2}}{2 \, \sigma^{2}}"
    assert found["slug"].startswith("formula_norm_q_k")
    (sigma,) = found["parameters"]
    assert (sigma["name"], sigma["default"], sigma["low"], sigma["high"]) == ("sigma", 1, 0.01, 10)
    assert (sigma["title"], sigma["step"], sigma["learnable"]) == ("sigma", 0.01, True)
    assert sigma["help"] == "The formula's sigma, which training may change."
    assert (found["title"], found["same_size"]) == (found["name"][1:], True)
    alone = described("|q| + sum(k)")["shapes"][:2]
    assert alone == [["norm(q)", "(n_q, 1)"], ["sum(k)", "(1, n_k)"]]
    assert found["shapes"][:2] == [["q - k", "(n_q, n_k, d)"], ["norm(q - k)", "(n_q, n_k)"]]
    assert len(described("|q| + |q|")["shapes"]) == 2  # each operation once
    assert found["tasks"] == ["regression", "translation", "encoding"]


@pytest.mark.parametrize(
    ("text", "wrong", "suggestion"),
    [
        ("(q-k)²", "(q-k)²", "|q - k|^2"),
        ("-(q-k)^2 / (2*s^2)", "(q-k)^2", "|q - k|^2"),
        ("exp(-(q - k))", "(q - k)", "|q - k|"),
        ("s * (q*k)", "(q*k)", "dot(q, k)"),
        ("(q - k)^3", "(q - k)^3", "sum((q - k)^3)"),
        ("abs(q - k) + 1", "abs(q - k)", "sum(abs(q - k))"),
        ("1 + log(2 - (q - k)^2)", "(q - k)^2", "|q - k|^2"),
        ("sqrt(q - k)", "q - k", "|q - k|"),
        ("q / d", "q", "sum(q)"),
    ],
)
def test_a_vector_is_marked_where_it_may_become_a_number(text, wrong, suggestion):
    error = described(text)["error"]
    assert (text[error["start"] : error["end"]], error["suggestion"]) == (wrong, suggestion)
    assert described(text.replace(wrong, suggestion))["error"] is None


def test_an_error_has_its_place_and_what_was_meant():
    assert described("q.k / sqr(d)") == {
        "error": {
            "sentence": 'nothing is called "sqr"; parameters are single letters, with a number at '
            "most", "start": 6, "end": 9, "suggestion": "sqrt",
        }
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("qᵀk/√d", r"\frac{q^\top k}{\sqrt{d}}"),
        ("-max(abs(q - k))", r"-\lVert q - k\rVert_{\infty}"),
        ("sum(abs(q - k))", r"\lVert q - k\rVert_{1}"),
        ("a - (b - q.k)", r"a - \left(b - q^\top k\right)"),
        ("(a + b) q.k * 2", r"\left(a + b\right) \, q^\top k \cdot 2"),
        ("w1^2 q.k + 1e-3", r"w_{1}^{2} \, q^\top k + 0.001"),
        ("(q - 1).(k + 1)", r"\left(q - 1\right) \cdot \left(k + 1\right)"),
        ("sum(q * k)", r"\textstyle\sum\left(q \odot k\right)"),
        ("sum(q * d)", r"\textstyle\sum\left(q \, d\right)"),
        ("√d^2", r"\left(\sqrt{d}\right)^{2}"),
        ("-(q.k + b)", r"-\left(q^\top k + b\right)"),
        ("(d < i) < j", r"\left(d < i\right) < j"),
        ("1e-9|k|", r"1\cdot 10^{-9} \, \lVert k\rVert_2"),
        ("(d >= i) - (d > j)", r"\left(d \ge i\right) - \left(d > j\right)"),
        ("(d != n) + (d == pi)", r"\left(d \ne n\right) + \left(d = \pi\right)"),
        ("q.k * (a / b)", r"q^\top k \, \frac{a}{b}"),
        ("|d|^2 (e^h)^H", r"\lvert d\rvert^{2} \, \left(e^{h}\right)^{H}"),
        ("ln(d) + exp(d)", r"\ln\left(d\right) + \exp\left(d\right)"),
        ("tanh(d) + sin(d)", r"\tanh\left(d\right) + \sin\left(d\right)"),
        ("cos(d) + atan(d)", r"\cos\left(d\right) + \arctan\left(d\right)"),
        ("sigmoid(d) + relu(d)", r"\sigma\left(d\right) + \operatorname{relu}\left(d\right)"),
        ("max(d, 1) + min(d, 2)", r"\max\left(d, 1\right) + \min\left(d, 2\right)"),
        ("max(q) + min(k)", r"\max\left(q\right) + \min\left(k\right)"),
        ("(q / d).k", r"\frac{q}{d} \cdot k"),
        ("cos(q, k)", r"\cos\left(q, k\right)"),
        ("where(i<=j, 0, -inf)", r"\begin{cases}0 & i \le j\\-\infty & \text{else}\end{cases}"),
    ],
)
def test_it_is_drawn_as_in_a_paper(text, drawn):
    assert described(text)["formula"] == drawn


def test_words_are_completed_by_what_may_stand_there():
    def words(text):
        return [(each["word"], each["insert"]) for each in completions(text, len(text))]

    assert words("q.k / sq") == [("sqrt", "rt("), ("square", "uare(")]
    assert words("-no") == [("norm", "rm(")]
    assert ("pi", "i") in words("p")
    assert ("inf", "inf") in words("q + ")
    assert ("inf", "inf") not in words("(q - k).")
    assert ("sum", "um(") in words("(q - k).s")
    assert completions("sqrt(d)", 2) == completions("sq", 2)
    assert ("sum", "um(") in words("|q - k|.s")
    assert ("inf", "inf") not in [*words("|q - k|."), *words("q."), *words("(q - k) .")]
    assert "w" in {each["word"] for each in completions("w", 0)}
    said = {each["word"]: each for each in completions("s + sigma", 1)}
    assert said["sigma"]["insert"] == "igma"
    assert said["sigma"]["help"] == "a parameter of this formula"
    assert "s" not in said
    assert all(each["help"] for each in completions("", 0))

"""What is read, what is refused and where, whatever is typed."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from support.formulas import MIXED, RANDOM, survives

from attention_plugins.formula import described, lexer
from attention_plugins.formula.kinds import resolve
from attention_plugins.formula.lexer import FormulaError
from attention_plugins.formula.names import GREEK
from attention_plugins.formula.parser import parse
from attention_plugins.formula.tree import Call, Name, spelled

ALIKE = [
    ("dot(q, k)", "q.k", "q·k", "q ⋅ k", "q @ k", "q @ k.T", "q @ k.mT", "qᵀk", "q^T k",
     "q.dot(k)", "(q).(k)", "=q.k", "q.T @ k", "  q\u00a0@\nk ", "q\u2009.\tk\r"),
    ("dot(q, k) / sqrt(d)", "q @ k.T / sqrt(d)", "qᵀk/√d", "q·k ÷ √(d)", "q.k / torch.sqrt(d)",
     "q.k / np.sqrt(d)", "q.k / math.sqrt(d)"),
    ("norm(q - k)^2", "|q - k|^2", "|q−k|²", "‖q - k‖**2", "||q - k||^2",
     "(q-k).norm(dim=-1).pow(2)"),
    ("-max(abs(q - k))", "-(q - k).abs().max(-1)", "-(q-k).abs().amax(dim=-1)"),
    ("-norm(q - k)^2 / (2 * w^2)", "-|q - k|²/(2 w²)", "-|q-k|^2/(2w^2)",
     "-norm(q-k).square()/(2*w**2)"),
    ("dot(2 * q, k)", "(2 q^T) k", "(2\u202fqᵀ) k"),
    ("dot(q / 2, k)", "(q^T / 2) k"),
    ("dot(q * d, k)", "(q^T d) k"),
    ("dot(-q, k)", "(-q^T) k"),
    ("abs(norm(q) - 1)", "| |q| - 1|"),
    ("-dot(q, k)", "-q^T k"),
    ("0.123456789 * dot(q, k)", "0.123456789 q.k"),
    ("w1 * dot(q, k)", "w₁ q.k", "w_1 (q·k)", "w1*(q@k)"),
    ("sigma * dot(q, k)", "σ (q·k)", "sigma*q.k"),
    ("sigma12 * dot(q, k)", "σ₁₂ q.k", "σ_12 q.k", "σ12 q.k", "sigma_12 q.k"),
    ("0.5 * dot(q, k)", ".5 q.k", "5e-1 q.k"),
    ("2 * dot(q, k)", "2. q.k", "2.0 q.k"),
    ("abs(2)", "2.abs()"),
    ("norm(q)^-12", "|q|⁻¹²"),
    ("log(norm(q)) + atan(norm(k))", "ln(|q|) + arctan(|k|)"),
    ("max(dot(q, k), -1)", "maximum(q.k, -1)"),
    ("min(q * k)", "(q * k).amin()", "min(q * k, dim=-1)"),
    ("abs(max(2 * norm(k), 1))", "|max(2|k|, 1)|"),
    ("norm(q) * norm(k)", "|q||k|", "|q| |k|", "‖q‖‖k‖", "|q|*|k|"),
    ("2 * norm(q) * dot(q, k)", "2|q| q.k", "2 |q|(q.k)"),
    ("max(min(dot(q, k), 1), 0)", "max(minimum(q.k, 1), 0)"),
    ("min(max(dot(q, k), 0), 1)", "clamp(q.k, 0, 1)", "(q.k).clamp(min=0, max=1)"),
    ("cosine(q, k)", "cos(q, k)", "cosine_similarity(q, k)"),
    ("2^-w^2 * norm(k)", "2**-w**2 * |k|"),
    ("norm(q) - norm(k) - 1", "(|q| - |k|) - 1"),
    ("norm(q) - (norm(k) - 1)", "|q| - (|k| - 1)"),
    ("-a / b * dot(q, k)", "-(a/b*(q.k))"),
    ("where(norm(q) <= inf, 0, -inf)", "where(|q| ≤ ∞, 0, -∞)"),
    ("norm(q) >= norm(k)", "|q| ≥ |k|", "∥q∥ ≥ ∥k∥"),
    ("norm(q) != norm(k)", "|q| ≠ |k|"),
    ("norm(q) / 2", "|q| ÷ 2", "|q| ∕ 2", "|q| ⁄ 2"),
    ("sum(q * k)", "sum(q × k)", "sum(q ⊙ k)", "sum(q*k, axis=-1)"),
    ("dot(q, k) - 1", "q ∙ k – 1", "q • k − 1", "q⊤k - 1"),
]  # fmt: skip


@pytest.mark.parametrize(("canonical", "typed"), [(c, t) for c, *ts in ALIKE for t in (c, *ts)])
def test_one_tree_has_one_spelling(canonical, typed):
    assert spelled(resolve(parse(typed))) == canonical


def test_each_sign_of_mathematics_has_an_example_and_digits_and_letters_are_themselves():
    typed = "".join(text for _, *texts in ALIKE for text in texts)
    assert [sign for sign in lexer._SIGNS if sign not in typed] == []
    for digit, below, above in zip("0123456789", "₀₁₂₃₄₅₆₇₈₉", "⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True):
        assert parse(f"w{below} |q|{above}") == parse(f"w{digit} |q|^{digit}")
    assert "".join(GREEK) == "αβγδεηθκλμνρστφψωπµϕ"
    for letter, name in GREEK.items():
        words = unicodedata.name(letter).replace("LAMDA", "LAMBDA").replace("MICRO", "MU").split()
        assert name.upper() in words


OPERATORS = ("<", "<=", ">", ">=", "==", "!=", "+", "-", "*", "/", "^")


@pytest.mark.parametrize("outer", OPERATORS)
@pytest.mark.parametrize("inner", [*OPERATORS, "neg"])
def test_a_tree_is_read_again_as_it_was_however_its_operators_meet(outer, inner):
    a, b, c = (Name(0, 0, name) for name in "abc")
    part = Call(0, 0, inner, (a,) if inner == "neg" else (a, b))
    trees = [
        Call(0, 0, outer, (part, c)),
        Call(0, 0, outer, (c, part)),
        Call(0, 0, "neg", (part,)),
    ]
    assert [resolve(parse(spelled(tree))) for tree in trees] == trees


REFUSED = {
    "": (0, 0, "type a score"),
    "=": (1, 1, "type a score"),
    "q.": (2, 2, "method"),
    "(q.k": (0, 1, "is not closed"),
    "|q.k": (0, 1, "is not closed"),
    "q.k)": (3, 4, "cannot stand here"),
    "q.k 2": (4, 5, "before this number"),
    "q.k +": (5, 5, "ends too early"),
    "1 < q.k < 2": (8, 9, "not chained"),
    "w = q.k": (2, 3, 'did you mean "=="'),
    "q.k / sqr(d)": (6, 9, "sqrt"),
    "qk": (0, 2, "q * k"),
    "qkdw": (0, 4, '"q * k * d * w"'),
    "coss(d)": (0, 4, 'did you mean "cos"'),
    "SQRT(d)": (0, 4, 'did you mean "sqrt"'),
    "arctn(d)": (0, 5, 'did you mean "arctan"'),
    "q.k + sigmod": (6, 12, 'did you mean "sigmoid"'),
    "w123 q.k": (0, 4, "nothing is called"),
    "a" * 41: (0, 41, f'nothing is called "{"a" * 40}"'),
    "(q.k 2)": (5, 6, 'need an operator or ")" here, got "2"'),
    "q.abs": (2, 5, 'did you mean ".abs()"'),
    "q.abs(k)": (2, 8, "abs takes 1 argument, got 2"),
    "q.abs(dim=-1)": (10, 12, "abs takes no named argument"),
    "where(1, 2)": (0, 11, "where takes 3 arguments, got 2"),
    "max(1, 2, 3, 4, 5)": (0, 18, "max takes 1 to 4 arguments, got 5"),
    "norm(q, max=2)": (12, 13, "norm takes dim=-1 and no other name"),
    "clamp(d, 1, dim=2)": (0, 18, "write clamp"),
    "softmax(q.k)": (0, 7, "the normaliser beside it makes weights of them"),
    "mask(q)": (0, 4, "models mask them"),
    **{f"{name}(q)": (0, len(name), "at random") for name in ("dropout", "rand", "randn")},
    **{f"{sign}q.k": (0, 1, "there is no text in a formula") for sign in ("'", '"')},
    "{q.k}": (0, 1, "write brackets as ( and )"),
    "q.k" + " " * 400: (300, 403, "need at most 300 characters, got 403"),
    "1e99 + q.k": (0, 4, "at most 1e+30"),
    "\x00": (0, 1, "U+0000 has no meaning"),
    "q.__class__": (2, 11, "__class__"),
    "q[0].k": (1, 2, "no indices"),
    "q.k # no": (4, 5, "no meaning"),
    "sum(q * k, 0)": (11, 12, 'did you mean "-1"'),
    "(q * k).sum(dim=1)": (16, 17, "-1"),
    "max(q, k, dim=-1)": (0, 3, "takes one vector"),
    "sum(q, dim=-1, dim=-1)": (15, 18, "each once"),
    "abs(q, k).sum()": (0, 9, "takes 1 argument"),
    "exp q.k": (0, 3, 'did you mean "exp(q - k)"'),
    "q.k + 1e99": (6, 10, "at most 1e+30"),
    "T.k": (0, 1, "nothing is called"),
    "k1.q": (0, 2, "nothing is called"),
    "clamp(q.k)": (0, 10, "clamp"),
    "\ud800": (0, 1, "U+D800"),
    "\\frac{q.k}{2}": (0, 1, f"write a formula as {(EXAMPLE := '-|q - k|^2 / w')} or"),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.items())
def test_what_is_no_formula_is_refused_at_its_place(text, expected):
    start, end, words = expected
    with pytest.raises(FormulaError, match=f"character {start + 1}:") as caught:
        parse(text)
    error = caught.value
    assert (error.start, error.end) == (start, end)
    assert words in str(error)


def test_what_is_advised_is_a_formula():
    assert parse(EXAMPLE)


def test_sizes_and_depths_have_bounds():
    for text, words in (
        ("q.k" + " " * 400, "300 characters"),
        ("(" * 31 + "q.k" + ")" * 31, "within each other"),
        ("-" * 40 + "q.k", "within each other"),
        ("q.k" + "^2" * 31, "within each other"),
        ("√" * 60 + "d", "within each other"),
        ("+".join("d" * 61), "at most 120"),
        ("+".join("d" * 50), "more than 40 deep"),
        ("q.k" + ".abs()" * 45, "more than 40 deep"),
    ):
        with pytest.raises(FormulaError, match=words):
            parse(text)


def test_what_is_as_large_as_allowed_is_read():
    for most, more in (
        ("q.k" + " " * 297, "q.k" + " " * 298),
        ("(" * 30 + "q.k" + ")" * 30, "(" * 31 + "q.k" + ")" * 31),
        ("-" + (bushy := "*".join([f"({'+'.join('d' * 10)})"] * 6)), f"{bushy}+d"),
        ("d" + ".abs()" * 39, "d" + ".abs()" * 40),
        ("q.k + 1e30", "q.k + 1.01e30"),
        ("|q|²²²", "|q|²²²²"),
    ):
        parse(most)
        with pytest.raises(FormulaError):
            parse(more)


def test_a_package_prefix_reaches_functions_alone():
    for text in ("torch.load(q)", "torch.q", "np.pi", "math.__dict__", "torch.torch.exp(q)"):
        with pytest.raises(FormulaError):
            parse(text)


@pytest.mark.slow
@given(RANDOM)
@settings(max_examples=500, deadline=None)
def test_random_text_is_computed_or_refused(text):
    survives(text)


@given(MIXED)
@settings(max_examples=300, deadline=None)
def test_hostile_text_is_computed_or_refused(text):
    survives(text)


@pytest.mark.slow
@given(MIXED)
@settings(max_examples=1_000, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_thousand_hostile_texts(text):
    survives(text)


def test_reading_runs_no_code_of_the_text():
    """Nothing is compiled, imported or looked up by a name from the text."""
    seen = []
    sys.addaudithook(lambda event, _: seen.append(event) if watching else None)
    watching = True
    for text in ("__import__('os')", "q.__class__", "eval(q)", "torch.load(q)", "q.k / sqrt(d)"):
        described(text)
    watching = False
    assert {"compile", "exec", "import", "open"}.isdisjoint(seen)

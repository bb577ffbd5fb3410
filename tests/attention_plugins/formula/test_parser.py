"""What is read, what is refused and where, whatever is typed."""

from __future__ import annotations

import sys
import time

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attention_plugins import Sizes
from attention_plugins.attention import needs_of
from attention_plugins.checking.records import formula_problem
from attention_plugins.formula import described, package_of, spec_of
from attention_plugins.formula.errors import FormulaError
from attention_plugins.formula.kinds import resolve
from attention_plugins.formula.names import FUNCTIONS
from attention_plugins.formula.parser import parse
from attention_plugins.formula.spelling import spelled

ALIKE = [
    ("dot(q, k)", "q.k", "q·k", "q ⋅ k", "q @ k", "q @ k.T", "q @ k.mT", "qᵀk", "q^T k",
     "q.dot(k)", "(q).(k)", "=q.k", "q.T @ k", "  q\u00a0@\nk "),
    ("dot(q, k) / sqrt(d)", "q @ k.T / sqrt(d)", "qᵀk/√d", "q·k ÷ √(d)", "q.k / torch.sqrt(d)"),
    ("norm(q - k)^2", "|q - k|^2", "|q−k|²", "‖q - k‖**2", "||q - k||^2",
     "(q-k).norm(dim=-1).pow(2)"),
    ("-max(abs(q - k))", "-(q - k).abs().max(-1)", "-(q-k).abs().amax(dim=-1)"),
    ("-norm(q - k)^2 / (2 * w^2)", "-|q - k|²/(2 w²)", "-|q-k|^2/(2w^2)",
     "-norm(q-k).square()/(2*w**2)"),
    ("w1 * dot(q, k)", "w₁ q.k", "w_1 (q·k)", "w1*(q@k)"),
    ("sigma * dot(q, k)", "σ (q·k)", "sigma*q.k"),
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
]  # fmt: skip


@pytest.mark.parametrize(("canonical", "typed"), [(c, t) for c, *ts in ALIKE for t in (c, *ts)])
def test_one_tree_has_one_spelling(canonical, typed):
    assert spelled(resolve(parse(typed))) == canonical


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
    "w = q.k": (2, 3, "=="),
    "q.k / sqr(d)": (6, 9, "sqrt"),
    "qk": (0, 2, "q * k"),
    "softmax(q.k)": (0, 7, "normaliser"),
    "q.__class__": (2, 11, "__class__"),
    "q[0].k": (1, 2, "no indices"),
    "q.k # no": (4, 5, "no meaning"),
    "sum(q * k, 0)": (11, 12, "-1"),
    "(q * k).sum(dim=1)": (16, 17, "-1"),
    "abs(q, k).sum()": (0, 9, "takes 1 argument"),
    "exp q.k": (0, 3, "brackets"),
    "q.k + 1e99": (6, 10, "at most 1e+30"),
    "T.k": (0, 1, "nothing is called"),
    "k1.q": (0, 2, "nothing is called"),
    "clamp(q.k)": (0, 10, "clamp"),
    "\ud800": (0, 1, "U+D800"),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.items())
def test_what_is_no_formula_is_refused_at_its_place(text, expected):
    start, end, words = expected
    with pytest.raises(FormulaError, match=f"character {start + 1}:") as caught:
        parse(text)
    error = caught.value
    assert (error.start, error.end) == (start, end)
    assert words in str(error)


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


def test_a_package_prefix_reaches_functions_alone():
    for text in ("torch.load(q)", "torch.q", "np.pi", "math.__dict__", "torch.torch.exp(q)"):
        with pytest.raises(FormulaError):
            parse(text)


_WORDS = st.sampled_from(
    "q k d i j h H n e pi inf w w1 σ ( ) | ‖ . , + - * / ^ ** @ · < <= == = ² ᵀ √ 2 0.5 1e9 9999 "
    "sum max norm abs exp log where cos clamp dim=-1 .sum(-1) .T __class__ __import__ lambda eval "
    "import ; : ' \" [ ] { } \\ % & ~ ` $ # \n \x00 \u202e \ud800 é 中 ①".split(" ")
)
_HOSTILE = st.one_of(
    st.sampled_from([
        "().__class__.__bases__[0].__subclasses__()", "__import__('os').system('id')",
        "q.__init__.__globals__", "eval('1')", "exec('1')", "open('/etc/passwd')", "lambda: q",
        "9**9**9**9**9", "9^9^9^9^9", "q" * 10**6, "(" * 10**5, "-" * 10**5, "^2" * 10**5,
        "q.k" + "+q.k" * 10**5, "1e309", "9" * 300, "[q for q in k]", "{q: k}", "q if k else d",
        "ᵀ" * 300, "|" * 300, "‖" * 299, "√" * 300, "²" * 300, "where(" * 60, "max(" * 60 + "q",
        "q.k" + "ᵀ" * 290, "\x00", "\ud800" * 200, "٣ * q.k", "𝐪.𝐤", "q\u200b.k",
        "getattr(q, 'T')", "f'{q}'", "q.numpy()", "q.data", "q.cpu()", "q.to(k)", "q.backward()",
        "torch.load(q)",
    ]),
    st.text(max_size=400),
)  # fmt: skip


# What is mostly a formula.
_FORMULAS = st.recursive(
    st.sampled_from("q k d i j h H n e pi inf w σ w1 0 2 0.5 1e9 1e-9 q.k |q-k| (q-k)".split()),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "^", "<", "==", "@", "."]), inner)
        .map(lambda each: f"({' '.join(each)})"),
        st.tuples(st.sampled_from([*FUNCTIONS, "-", "√"]), inner)
        .map(lambda each: f"{each[0]}({each[1]})"),
        st.tuples(inner, st.sampled_from([".sum(-1)", ".T", "^2", "²", ".max(dim=-1)", ".abs()"]))
        .map("".join),
        st.tuples(inner, inner, inner).map(lambda each: f"where({', '.join(each)})"),
        inner.map(lambda each: f"|{each}|"),
    ),
    max_leaves=12,
)  # fmt: skip


def survives(text):
    """It is read or refused at its place, in no time.

    What was read is spelled and read again, drawn, and computed, here and as a package, alike.
    """
    began = time.perf_counter()
    try:
        spec = spec_of(text)
    except FormulaError as error:
        assert 0 <= error.start <= error.end <= len(text)  # noqa: PT017
        assert len(str(error)) < 400  # noqa: PT017
    else:
        assert spec_of(spec.name).name == spec.name
        assert not formula_problem(spec.formula)
        queries, keys = torch.ones(2, 3, 5), torch.ones(2, 4, 5)
        made = spec.create(Sizes(5, 5, 7))
        assert made(queries, keys, **needs_of(made, 3, keys)).shape == (2, 3, 4)
        compile(package_of(text, "typed-formula")["typed_formula.py"], "typed", "exec")
    assert time.perf_counter() - began < 1.0


@given(st.lists(_WORDS, max_size=25).map("".join) | st.lists(_WORDS, max_size=25).map(" ".join))
@settings(max_examples=300, deadline=None)
def test_random_words_are_read_or_refused(text):
    survives(text)


@given(_HOSTILE)
@settings(max_examples=300, deadline=None)
def test_hostile_strings_are_read_or_refused(text):
    survives(text)


@given(_FORMULAS)
@settings(max_examples=200, deadline=None)
def test_what_looks_like_a_formula_is_computed_or_refused(text):
    survives(text)


@pytest.mark.slow
@given(
    st.lists(_WORDS, max_size=40).map("".join)
    | st.lists(_WORDS, max_size=40).map(" ".join)
    | _FORMULAS
)
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
def test_ten_thousand_random_strings(text):
    survives(text)


@pytest.mark.slow
@given(_HOSTILE)
@settings(max_examples=1_000, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_thousand_hostile_strings(text):
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

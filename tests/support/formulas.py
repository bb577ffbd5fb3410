"""Formulas and what is none, for whoever reads text of strangers."""

from __future__ import annotations

import functools
import time

import torch
from hypothesis import strategies as st

from attention_plugins import Sizes
from attention_plugins.attention import needs_of
from attention_plugins.checking.records import formula_problem
from attention_plugins.formula import described, package_of, spec_of
from attention_plugins.formula.names import FUNCTIONS

WORDS = st.sampled_from(
    "q k d i j h H n e pi inf w w1 σ ( ) | ‖ . , + - * / ^ ** @ · < <= == = ² ᵀ √ 2 0.5 1e9 9999 "
    "sum max norm abs exp log where cos clamp dim=-1 .sum(-1) .T __class__ __import__ lambda eval "
    "import ; : ' \" [ ] { } \\ % & ~ ` $ # \n \x00 \u202e \ud800 é 中 ①".split(" ")
)
HOSTILE = st.one_of(
    st.sampled_from([
        "().__class__.__bases__[0].__subclasses__()", "__import__('os').system('id')",
        "q.__init__.__globals__", "eval('1')", "exec('1')", "open('/etc/passwd')", "lambda: q",
        "9**9**9**9**9", "9^9^9^9^9", "q" * 10**6, "(" * 10**5, "-" * 10**5, "^2" * 10**5,
        "q.k" + "+q.k" * 10**5, "1e309", "9" * 300, "[q for q in k]", "{q: k}", "q if k else d",
        "ᵀ" * 300, "|" * 300, "‖" * 299, "√" * 300, "²" * 300, "where(" * 60, "max(" * 60 + "q",
        "q.k" + "ᵀ" * 290, "\x00", "\ud800" * 200, "٣ * q.k", "𝐪.𝐤", "q\u200b.k",
        "getattr(q, 'T')", "f'{q}'", "q.numpy()", "q.data", "q.cpu()", "q.to(k)", "q.backward()",
        "torch.load(q)", f"sum((q*k){'.square()' * 30})", f"sum((q-k){'^2' * 25})",
        f"sum(({'(q*k)*' * 40}q){'.square()' * 8})", "dot(" * 30 + "q,k)" + ",k)" * 29,
        f"|{'(q*k-' * 20}q{')^2' * 20}|^2", f"{'w*q*' * 55}k".join(("sum((", ")^2)")),
    ]),
    st.text(max_size=400),
)  # fmt: skip


# What is mostly a formula.
FORMULAS = st.recursive(
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

# Of at most 200 characters, with squares, products and brackets within each other.
LONG = st.builds(
    lambda inner, steps: f"sum({functools.reduce(_around, steps, inner)})",
    st.sampled_from("q k q*k (q-k) (w*q*k/d) q.k".split()),
    st.lists(
        st.sampled_from([
            "({}).square()", "({})^2", "({})*(q-k)", "(q*k)*({})", "({})*({})", "-({})/d",
            "dot({},q*k)*k", "sum({})*q", "|{}|^2*k", "mean({})*q", "cosine({},k)*q",
            "max({},{})", "where(1<2,{},q)", "({})^99999", "({})^-0.5", "exp({})", "√({})",
        ]),
        min_size=4, max_size=20,
    ),
)  # fmt: skip


def _around(text: str, step: str) -> str:
    longer = step.format(text, text)
    return longer if len(longer) <= 195 else text


RANDOM = st.one_of(
    st.lists(WORDS, max_size=40).map("".join), st.lists(WORDS, max_size=40).map(" ".join),
    FORMULAS, LONG,
)  # fmt: skip
MIXED = HOSTILE | st.lists(HOSTILE | FORMULAS, max_size=3).map("".join)


def survives(text):
    """It is read or refused at its place, in no time.

    What was read is spelled and read again, drawn, and computed, here and as a package, alike.
    """
    began = time.process_time()  # not of the clock, which other work moves on
    found = described(text)
    error = found["error"]
    if error is None:
        computed(text, found)
    else:
        assert 0 <= error["start"] <= error["end"] <= len(text)
        assert len(error["sentence"]) < 300
    assert time.process_time() - began < 1.0


def computed(text, found):
    """See that a formula has one name, and gives scores and a package."""
    spec = spec_of(text)
    assert spec_of(spec.name).name == spec.name == found["name"]
    assert not formula_problem(spec.formula)
    queries, keys = torch.ones(2, 3, 5), torch.ones(2, 4, 5)
    made = spec.create(Sizes(5, 5, 7))
    assert made(queries, keys, **needs_of(made, 3, keys)).shape == (2, 3, 4)
    compile(package_of(text, "typed-formula")["src/typed_formula.py"], "typed", "exec")

"""Slugs: what a formula is called where only plain names may stand."""

from __future__ import annotations

import re

from attention_plugins.formula import slug_of, spec_of


def test_a_slug_is_a_name_and_equal_formulas_have_equal_ones():
    long = "log(1 + exp(-|q - k|^2 / (2 w^2))) + sin(i) * cos(j) / sqrt(d) + tanh(q).k"
    cut = f"q.k + {'1' * 14} + w"  # behind the last digit
    slugs = {text: slug_of(text) for text in ("q.k", "q·k", "-q.k", "H + h", "h + H", long, cut)}
    assert slugs["q.k"] == slugs["q·k"] == slug_of(spec_of("q @ k.T").name)
    assert len(set(slugs.values())) == len(slugs) - 1
    assert all(
        re.fullmatch(r"formula_[a-z0-9_]{1,23}_[0-9a-f]{8}", slug) for slug in slugs.values()
    )
    assert all(len(slug) <= 40 and "__" not in slug for slug in slugs.values())

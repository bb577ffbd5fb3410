"""What is typed into a field for a formula, before a worker reads it."""

import pytest

from dashboard.ui.formulas import typed


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (" -norm(q - k) ", "-norm(q - k)"),
        ("= q.k", "q.k"),
        ("＝－（ｑ－ｋ）²／ｗ", "-(q-k)²/w"),
        ("｜ｑ　－　ｋ｜，　［１］", "|q - k|, [1]"),
        ("σ·√2", "σ·√2"),
    ],
)
def test_signs_of_a_chinese_keyboard_are_those_of_any_other(text, formula):
    assert typed(text) == formula

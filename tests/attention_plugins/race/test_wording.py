import math

import pytest

from attention_plugins.race.export import (
    estimate_text,
    for_latex,
    for_markdown,
    math_for_latex,
    number_text,
)
from attention_plugins.race.statistics import Estimate


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((0.95312, 0.9412, 0.9623), "0.953 [0.941, 0.962]"),
        ((123.456, 100.0, 150.0), "123 [100, 150]"),
        ((12.3456, 11.1, 13.7), "12.3 [11.1, 13.7]"),
        ((1.5e-9, 1e-9, 2e-9), "1.50e-09 [1.00e-09, 2.00e-09]"),
        ((0.5, 0.5, 0.5), "0.500 [0.500, 0.500]"),
        ((0.1, 0.1, 0.1 + 1e-16), "0.100 [0.100, 0.100]"),
        ((0.0, 0.0, 0.0), "0 [0, 0]"),
        ((0.5, math.nan, math.nan), "0.500"),
        ((math.nan, math.nan, math.nan), "–"),
    ],
)
def test_a_mean_has_as_many_digits_as_its_interval_can_carry(numbers, text):
    assert estimate_text(Estimate(*numbers, 12)) == text


def test_a_difference_has_its_sign():
    assert estimate_text(Estimate(0.012, -0.001, 0.02, 12), signed=True) == (
        "+0.012 [-0.001, +0.020]"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.000488, "0.00049"), (0.34, "0.34"), (3.25, "3.2"), (1234.5, "1234"), (math.nan, "–"),
        (None, "–"),
    ],
)  # fmt: skip
def test_other_numbers_have_two_digits(value, text):
    assert number_text(value) == text


def test_latex_reads_no_command_in_a_text():
    assert for_latex("\\a{b}$&#%_^~<>|") == (
        r"\textbackslash{}a\{b\}\$\&\#\%\_\textasciicircum{}\textasciitilde{}"
        r"\textless{}\textgreater{}\textbar{}"
    )


def test_latex_needs_no_encoding_of_its_own():
    """Of what typed formulas and messages hold; the marks in math are in every font."""
    assert for_latex('"√d" · x²') == r"''$\surd$d'' $\cdot$ x$^2$"


def test_latex_makes_no_dash_of_two_signs_and_no_argument_of_a_bracket():
    assert for_latex("q--k---[1]") == "q-{}-k-{}-{}-{[}1{]}"


def test_latex_has_numbers_as_formulas():
    assert math_for_latex("+0.5 [-0.1, +1.2e-05]") == r"$+0.5\;[-0.1,\,+1.2\cdot 10^{-5}]$"
    assert math_for_latex("1,234,567") == "$1{,}234{,}567$"
    assert math_for_latex("1e+12") == r"$1\cdot 10^{12}$"
    assert math_for_latex("–") == "--"


def test_markdown_reads_no_mark_in_a_text():
    assert for_markdown("a|b_c*d`<i>\n[x](y)") == r"a\|b\_c\*d\`\<i\> \[x\](y)"

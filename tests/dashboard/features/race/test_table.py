"""What is written in the table, and by which numbers it sorts."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pandas as pd
import pytest

from dashboard.features.race import table
from dashboard.features.race.table import _styled, _width, p_text
from dashboard.features.race.view import interval, number


@pytest.mark.parametrize(
    ("mean", "low", "high", "text"),
    [
        (90.774, 87.04, 93.21, "90.8 [87.0, 93.2]"),
        (0.04479, 0.03773, 0.05145, "0.045 [0.038, 0.051]"),
        (-0.0093, -0.0153, -1.4e-06, "-0.009 [-0.015, 0.000]"),
        (1234.5, 1100.0, 1400.0, "1,234 [1,100, 1,400]"),
        (0.5, 0.5, 0.5, "0.5 [0.5, 0.5]"),
        (0.5, None, None, "0.5"),
        (None, None, None, "–"),
    ],
)
def test_a_mean_is_as_exact_as_its_interval_is_wide(mean, low, high, text):
    assert interval({"x": mean, "x_low": low, "x_high": high}, "x") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0, "0"), (-0.0, "0"), (0.03, "0.03"), (12345, "12,345"), (1.5e-7, "1.5e-07"),
     (123456789, "1.23e+08")],
)  # fmt: skip
def test_numbers_are_short(value, text):
    assert number(value) == text


def test_a_p_has_two_digits():
    assert [p_text(p) for p in (None, 0.046875, 1.0, 0.00048)] == ["–", "0.047", "1", "0.00048"]


def test_a_column_is_as_wide_as_its_longest_interval_in_any_row():
    short = _width("MSE", ["0.5 [0, 1]", *["0.5"] * 40])
    long = _width("MSE", [*["0.5"] * 40, "0.123 [0.093, 0.181]"])
    assert short
    assert long
    assert short < long
    assert _width("MSE", ["0.5", "no difference found"]) is None


@pytest.mark.parametrize("count", [0, 1, 8, 9, 10, 23])
def test_every_problem_is_told_once_and_the_first_ones_without_a_click(count, monkeypatch):
    told, folded, labels = [], [], []
    monkeypatch.setattr(table.shown, "caption", told.append)
    monkeypatch.setattr(table.st, "text", folded.append)
    monkeypatch.setattr(table.st, "expander", lambda label: labels.append(label) or nullcontext())
    rows = [{"name": f"dot {n}", "problem": "no gradient"} for n in range(count)]
    table._problems(SimpleNamespace(rows=[*rows, {"name": "fine", "problem": ""}]))
    assert told + folded == [f"dot {n}: no gradient" for n in range(count)]
    assert len(told) == min(count, 8)
    assert labels == [f"{count - 8} more that had a problem"] * (count > 8)


def test_equal_means_keep_their_own_intervals_and_their_order():
    frame = pd.DataFrame({"Contestant": ["a", "b", "c", "d"], "x": [0.5, 0.5, 0.25, None]})
    texts = pd.DataFrame(
        {"Contestant": ["a", "b", "c", "d"], "x": ["0.5 [0, 1]", "0.5 [0.4, 0.6]", "0.25", "–"]}
    )
    style = _styled(frame, texts)
    body = style._translate(False, False)["body"]
    cells = [[cell["display_value"] for cell in row if cell["type"] == "td"] for row in body]
    assert [str(row[1]) for row in cells] == [*texts["x"]]
    assert "font-weight" not in style.to_html()
    (rule,) = _styled(frame, texts, [2]).to_html(cell_ids=True).split("font-weight: bold")[:-1]
    assert rule.rstrip().endswith("row2_col0 {")
    assert style.data["x"].argmin() == 2
    assert style.data["x"][1] == pytest.approx(0.5, abs=1e-12)

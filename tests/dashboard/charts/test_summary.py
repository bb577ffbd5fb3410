from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dashboard.charts import summary

WEIGHTS = np.array([[0.1, 0.83, 0.07], [0.5, np.nan, 0.25]])
WORDS = (["je", "suis"], ["I", "am", "am"])


def test_a_map_is_told_by_its_largest_weights_and_by_what_is_masked():
    assert summary.of_matrix(WEIGHTS, *WORDS).words == (
        "The largest weight is 0.83, at query “je”, key “am”. Next come 0.5 at query “suis”, key "
        "“I”, 0.25 at query “suis”, key “am”. Cells without a number: 1 of 6."
    )


def test_a_map_as_a_table_keeps_labels_that_occur_twice_and_masked_cells_empty():
    table = summary.of_matrix(WEIGHTS, *WORDS).table()
    assert table.column_names == ["query", "I", "am", "am (2)"]
    assert table.to_pylist()[1] == {"query": "suis", "I": 0.5, "am": None, "am (2)": 0.25}


def test_differences_are_told_by_their_distance_from_zero():
    told = summary.of_matrix(np.array([[-0.7, 0.4]]), quantity="difference").words
    assert told.startswith("The difference farthest from 0 is −0.7, at query “0”, key “0”.")


def test_of_cells_that_differ_by_rounding_alone_the_first_is_named_first():
    weights = np.array([[0.1, 0.3], [np.nextafter(0.3, 1), 0.2], [0.2 + 1e-6, 0.0]])
    assert summary.of_matrix(weights).words.startswith(
        "The largest weight is 0.3, at query “0”, key “1”. Next come 0.3 at query “1”, key “0”, "
        "0.2 at query “2”, key “0”."
    )
    assert summary.of_matrix(np.array([[0.0, np.nan]])).words.startswith(
        "The largest weight is 0, at query “0”, key “0”."
    )


@pytest.mark.parametrize("value", [0.5, -0.5, 0.0])
def test_equal_weights_have_no_largest(value):
    told = f"The weight is {summary.number(value)} in every cell that has one."
    by_rounding = np.array([[value, np.nextafter(value, 1) if value else 0.0, np.nan]])
    assert summary.of_matrix(np.full((2, 3), value)).words == told
    assert summary.of_matrix(by_rounding).words == told
    assert "0.5 in" not in summary.of_matrix(np.array([[0.5, 0.5 + 1e-6]])).words


@pytest.mark.parametrize("held", [np.nan, -np.inf])
def test_a_map_without_a_number_says_so(held):
    assert summary.of_matrix(np.full((2, 3), held)).words == ("None of the 6 cells has a number.")


def test_lines_are_told_by_where_they_are_lowest_and_highest():
    told = summary.of_lines(
        [0, 1, 2], {"Gaussian": [3.0, np.nan, 5.0]}, x_title="x", y_title="prediction"
    )
    assert told.words == (
        "prediction against x. Gaussian is lowest at x 0 with 3, and highest at 2 with 5."
    )
    assert told.table().column_names == ["x", "Gaussian"]


def test_lines_far_from_zero_are_told_with_the_digits_in_which_they_differ():
    words = summary.of_lines(
        [2024.25, 2024.5], {"a": [1013.24, 1019.84], "b": [1016.5, 1016.5]}, x_title="x",
        y_title="pressure",
    ).words  # fmt: skip
    assert "lowest at x 2,024.25 with 1,013.2, and highest at 2,024.5 with 1,019.8." in words
    assert words.endswith("b is 1,016.5 throughout.")


def test_a_line_that_moves_by_rounding_alone_is_level_and_an_endless_one_is_not():
    lines = {"a": [0.3, np.nextafter(0.3, 1)], "b": [-np.inf, 0.3], "c": [0.3, 0.3 + 1e-6]}
    words = summary.of_lines([0, 1], lines, x_title="x", y_title="loss").words
    assert "a is 0.3 throughout. b is lowest at x 0 with −inf, and" in words
    assert "c is lowest at x 0 with" in words


@pytest.mark.parametrize(
    ("value", "told"),
    [(1018.4, "1,020"), (0.86349, "0.863"), (-2e-7, "−2e−07"), (0, "0"), (12345678, "12,300,000")],
)
def test_numbers_have_three_digits_and_no_powers_of_ten_that_can_be_written_out(value, told):
    assert summary.number(value) == told


def test_lines_that_are_not_told_are_counted():
    frame = pd.DataFrame({"n": [*"abcdefgh"] * 2, "x": range(16), "y": range(16)})
    words = summary.of_series(frame, name="n", x="x", y="y", titles=("x", "y")).words
    assert words.count("lowest") == 6
    assert words.endswith("The table has 2 more lines.")


def test_the_columns_of_a_series_have_the_titles_of_the_axes():
    frame = pd.DataFrame({"n": ["a", "b"], "x": [0, 1], "y": [2, 3], "loss": [4, 5]})
    titles = ("step", "loss")
    table = summary.of_series(frame, name="n", x="x", y="y", titles=titles).table()
    assert table.to_pylist()[1] == {"n": "b", "step": 1, "loss": 3, "loss (2)": 5}


def test_a_nought_has_no_sign():
    assert [summary.number(value) for value in (-0.0, -0.5)] == ["0", "−0.5"]


def test_bars_are_told_by_the_highest_and_the_lowest():
    frame = pd.DataFrame({"name": ["1.1", "1.2", "1.3"], "rate": [0.25, 0.75, None]})
    assert summary.of_ranked(frame, name="name", value="rate", what="the rate").words == (
        "Of 2 values of the rate the highest is 0.75 (1.2), the lowest 0.25 (1.1)."
    )


def test_a_number_of_fixed_digits_has_a_minus_sign_and_no_0_below_0():
    values = [-0.0, -0.004, -0.006, 0.994, -12, 0.5]
    assert [summary.fixed(each) for each in values] == [
        "0.00",
        "0.00",
        "−0.01",
        "0.99",
        "−12.00",
        "0.50",
    ]
    assert [summary.fixed(each, 0) for each in (-0.4, 1234.0)] == ["0", "1234"]


def test_numbers_have_three_significant_digits_and_0_no_minus():
    numbers = [1020.4, -2.04e-7, -0.0, 12345.0, 0.30000001]
    assert [*map(summary.number, numbers)] == ["1,020", "−2.04e−07", "0", "12,300", "0.3"]
    assert [summary.fixed(one) for one in (-0.254, -0.001, 3)] == ["−0.25", "0.00", "3.00"]


def test_the_three_largest_cells_are_told_in_their_order_and_equal_ones_as_they_stand():
    words = summary.of_matrix(np.array([[0.2, 0.4], [0.4, 0.1], [0.3, 0.0]])).words
    assert words == (
        "The largest weight is 0.4, at query “0”, key “1”. Next come 0.4 at query “1”, key “0”, "
        "0.3 at query “2”, key “0”."
    )
    assert summary.of_matrix(np.array([[0.7, np.nan]])).words.startswith("The largest weight is")


def test_labels_of_one_text_are_numbered_past_those_that_are_taken():
    found = summary.of_matrix(np.eye(1, 3), None, ["a", "a (2)", "a"]).table()
    assert found.column_names == ["query", "a", "a (2)", "a (3)"]


def test_bars_are_told_by_the_highest_and_the_lowest_of_those_that_are_known():
    frame = pd.DataFrame({"n": ["a", "b", "c"], "v": [0.5, np.nan, 0.25]})
    assert summary.of_ranked(frame, name="n", value="v", what="the rate").words == (
        "Of 2 values of the rate the highest is 0.5 (a), the lowest 0.25 (c)."
    )
    none = pd.DataFrame({"n": ["a"], "v": [np.nan]})
    assert summary.of_ranked(none, name="n", value="v", what="").words == (
        "None of the 1 cells has a number."
    )

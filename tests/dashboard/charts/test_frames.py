from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dashboard.charts.frames import digits_of, maps, rounded, top_weight


def table(weights: list[float], heads: int = 2) -> pa.Table:
    return pa.table(
        {
            "kind": ["encoder", "cross"],
            "layer": pa.array([0, 3], pa.int32()),
            "heads": pa.array([1, heads], pa.int32()),
            "queries": [["x"], ["le", "chat", "le"]],
            "keys": [["y"], ["the", "cat", ".", "the", "<eos>"]],
            "causal": [False, False],
            "weights": pa.array([[1.0], weights], pa.list_(pa.float32())),
        }
    )


def test_a_map_comes_back_in_c_order_with_its_labels():
    weights = np.arange(2 * 3 * 5, dtype=np.float32).reshape(2, 3, 5)
    first, second = maps(table(weights.ravel().tolist()))
    assert (first.kind, first.layer, first.weights.tolist()) == ("encoder", 0, [[[1.0]]])
    assert (second.kind, second.layer) == ("cross", 3)
    assert second.query_labels == ("le", "chat", "le")
    assert second.key_labels == ("the", "cat", ".", "the", "<eos>")
    np.testing.assert_array_equal(second.weights, weights)
    with pytest.raises(ValueError, match="read-only"):
        second.weights[0, 0, 0] = 7


def test_a_table_of_several_chunks_is_read_whole():
    weights = np.arange(30, dtype=np.float32)
    one = table(weights.tolist())
    frames = maps(pa.concat_tables([one, one.slice(1, 1)]))
    assert [frame.kind for frame in frames] == ["encoder", "cross", "cross"]
    np.testing.assert_array_equal(frames[2].weights.ravel(), weights)


def test_weights_that_do_not_fit_are_refused_by_name():
    with pytest.raises(ValueError, match=r"map of cross layer 3: need 2 x 3 x 5 .* got 29"):
        maps(table([0.0] * 29))


@pytest.mark.parametrize(
    ("largest", "end"),
    [(1.0, 1.0), (0.13, 0.15), (0.3, 0.3), (0.021, 0.025), (0.0811, 0.1), (0.97, 1.0)],
)
def test_a_shared_scale_ends_at_a_round_number_above_all_weights(largest, end):
    low = np.full((2, 3), largest / 2, np.float32)
    assert top_weight([low, np.array([[largest]], np.float32)]) == end


def test_a_scale_without_weights_ends_at_one():
    assert top_weight([]) == top_weight([np.zeros((2, 3))]) == top_weight([np.zeros((0, 3))]) == 1


def test_rounding_keeps_five_significant_digits():
    values = rounded(np.array([0.1234567, 1.0, 3.14159265e-7, -271828.18, 0.0, np.nan]))
    np.testing.assert_array_equal(values, [0.12346, 1.0, 3.1416e-7, -271830.0, 0.0, np.nan])


def test_values_far_from_zero_keep_the_digits_in_which_they_differ():
    pressure = 1013.25 + np.linspace(0, 6, 50)
    assert np.abs(rounded(pressure) - pressure).max() < 6e-4
    assert rounded([1e9, 1e9 + 1]).tolist() == [1e9, 1e9 + 1]
    assert rounded([1 / 3, 1 / 3]).tolist() == [0.3333333333] * 2


@pytest.mark.parametrize(
    ("values", "digits"),
    [
        ([0.2, 6.8], 3), ([-4.0, 9.0], 3), ([1013.2, 1019.8], 5), ([-1013.2, -1019.8], 5),
        ([1e12, 1e12 + 1e-3], 10), ([5.0, 5.0], 10), ([0.0, 0.0], 3), ([], 3),
        ([np.nan, np.inf, 0.2, 6.8], 3), ([999.0, 1001.0], 6), ([5.0, 15.0], 3), ([1e-6, 1e3], 3),
    ],
)  # fmt: skip
def test_digits_follow_from_how_far_apart_values_are(values, digits):
    assert digits_of(values, 3) == digits


def test_what_a_causal_map_hides_is_masked_and_not_0():
    weights = np.full((2, 3, 5), 0.2, dtype=np.float32)
    causal = table(weights.ravel().tolist()).set_column(5, "causal", [[False, True]])
    square = maps(causal)[1].weights
    for row in range(3):
        assert np.isnan(square[:, row, row + 1 :]).all()
        assert (square[:, row, : row + 1] == np.float32(0.2)).all()


@pytest.mark.parametrize("power", [-20, -5, 0, 5, 20])
def test_rounded_numbers_are_those_that_their_digits_write(power):
    given = np.random.default_rng(0).normal(size=200) * 10.0**power
    given[:2] = 0, np.nan
    written = [float(f"{value:.5g}") for value in given]
    np.testing.assert_array_equal(rounded(given), written)

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import vl_convert

from dashboard.charts import PANEL_COLOURS, loss_chart, weights_legend
from dashboard.charts.grid import stacked
from dashboard.charts.series import prepare_loss
from dashboard.charts.theme import SEQUENTIAL

STEPS = np.arange(1, 38)
HISTORY = pa.table({"step": STEPS, "loss": 0.1 + 1 / STEPS, "width": 1 - STEPS / 100})


def heights(scene, layer: str) -> list[float]:
    return [item["top"] for item in scene.items(f"{layer}_marks")]


def test_the_numbers_are_those_of_the_history(survives, rows):
    spec = survives(lambda: loss_chart(HISTORY))
    drawn = pd.DataFrame(rows(spec, "step", "loss"))
    np.testing.assert_array_equal(drawn["step"], STEPS)
    np.testing.assert_allclose(drawn["loss"], HISTORY["loss"].to_numpy(), rtol=1e-4)
    np.testing.assert_allclose(drawn["p0"], HISTORY["width"].to_numpy(), rtol=1e-4)


def test_what_was_learned_has_a_plot_under_the_loss(painted):
    scene = painted(loss_chart(HISTORY, loss_title="mean squared error"), width=260)
    assert scene.width == pytest.approx(260, abs=1)
    titles = {title["text"]: title["top"] for title in scene.items(role="axis-title")}
    assert titles["mean squared error"] < titles["width"] < titles["step"]
    loss, width = heights(scene, "layer_3"), heights(scene, "layer_4")
    assert loss == sorted(loss)
    assert max(loss) < min(width), "the plots must not overlap"


def test_a_history_of_the_loss_alone_has_one_plot(painted):
    both, alone = painted(loss_chart(HISTORY)), painted(loss_chart(HISTORY.drop_columns("width")))
    assert {title["text"] for title in alone.items(role="axis-title")} == {"loss", "step"}
    assert alone.height < both.height


def test_equal_factors_are_equal_distances_on_the_logarithmic_scale(painted):
    history = pd.DataFrame({"step": [0, 1, 2], "loss": [100.0, 10.0, 1.0]})
    even = np.diff(heights(painted(loss_chart(history, log=True)), "layer_3"))
    assert even[0] == pytest.approx(even[1], rel=1e-3)
    uneven = np.diff(heights(painted(loss_chart(history)), "layer_3"))
    assert uneven[0] > 5 * uneven[1]


def test_a_loss_of_nothing_has_no_logarithm(survives):
    history = pd.DataFrame({"step": [0, 1], "loss": [1.0, 0.0]})
    assert survives(lambda: loss_chart(history, log=True)) == loss_chart(history).to_dict()


def test_hovering_marks_the_step_in_all_plots(painted):
    scene = painted(loss_chart(HISTORY), hovered={"step": 5})
    (rule,) = scene.items("layer_2_marks")
    assert rule["x"] == pytest.approx(scene.items("layer_3_marks")[4]["x"])
    assert rule["left"] > 0


@pytest.mark.parametrize("loss", [[0.5], [0.5, 0.5], [0.0, 0.0], [-1.0, float("nan")]])
def test_odd_histories_are_drawn(painted, survives, loss):
    history = pd.DataFrame({"step": range(len(loss)), "loss": loss})
    survives(lambda: loss_chart(history))
    assert painted(loss_chart(history)).items("layer_3_marks")


def test_a_long_history_is_thinned_to_its_ends(rows):
    history = pd.DataFrame({"step": range(100_000), "loss": np.ones(100_000)})
    steps = [row["step"] for row in rows(loss_chart(history).to_dict(), "step")]
    assert (len(steps), steps[0], steps[-1]) == (1_500, 0, 99_999)


def test_names_with_dots_and_brackets_are_titles_not_fields(painted):
    history = pd.DataFrame({"step": [0, 1], "loss": [2.0, 1.0], "w[0].σ": [0.1, 0.9]})
    scene = painted(loss_chart(history, colour=PANEL_COLOURS["c"]))
    assert "w[0].σ" in {title["text"] for title in scene.items(role="axis-title")}
    first, second = heights(scene, "layer_4")
    assert first > second


@pytest.mark.parametrize("columns", [["step"], ["loss"], []])
def test_a_history_without_its_columns_is_refused(columns):
    with pytest.raises(ValueError, match="need a history with step and loss, got 1 rows of"):
        loss_chart(pd.DataFrame({name: [1.0] for name in columns}, index=[0]))


def test_an_empty_history_is_refused():
    with pytest.raises(ValueError, match="got 0 rows of step, loss"):
        loss_chart(pd.DataFrame({"step": [], "loss": []}))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_legend_shows_the_whole_ramp(painted, survives, scheme):
    survives(lambda: weights_legend(0.25))
    scene = painted(weights_legend(0.25), scheme, width=700)
    strip = scene.items("marks")
    ramp = [tuple(bytes.fromhex(c[1:])) for c in (SEQUENTIAL[scheme][0], SEQUENTIAL[scheme][-1])]
    ends = [
        tuple(int(v) for v in strip[i]["fill"].removeprefix("rgb(").rstrip(")").split(","))
        for i in (0, -1)
    ]
    np.testing.assert_allclose(ends, ramp, atol=8)
    assert strip[-1]["left"] + strip[-1]["width"] < 180, "no wider than it should be"
    assert [text["text"] for text in scene.items(role="axis-label")] == ["0", "0.125", "0.25"]


def test_the_legend_has_nothing_to_tell_the_pointer():
    vega = vl_convert.vegalite_to_vega(json.dumps(weights_legend().to_dict()))
    assert all("tooltip" not in mark["encode"]["update"] for mark in vega["marks"])


def test_the_legend_of_differences_has_nothing_in_its_middle(painted):
    labels = painted(weights_legend(0.5, difference=True)).items(role="axis-label")
    assert [text["text"] for text in labels] == ["−0.5", "0", "0.5"]


def test_numbers_on_an_axis_are_written_out(painted):
    steps = pd.DataFrame({"step": [0, 1, 2], "loss": [13.0, 5.0, 0.5]})
    labels = {item["text"] for item in painted(loss_chart(steps)).items(role="axis-label")}
    assert "10" in labels
    assert not [label for label in labels if "e" in label]


@pytest.mark.parametrize("log", [False, True])
def test_each_lane_ends_a_little_beyond_its_own_values(log, painted):
    drawn = {"step": STEPS, "loss": 1000.0 / STEPS, "up": STEPS * 1e-3, "down": -7.0 * STEPS}
    history = pa.table(drawn)
    prepared = prepare_loss(history, log=log)
    for column, name in zip(("loss", "p0", "p1"), ("loss", "up", "down"), strict=True):
        values = drawn[name]
        low, high = (prepared.values[f"{column}_{end}"] for end in ("low", "high"))
        if log and name == "loss":
            values, low, high = np.log(values), np.log(low), np.log(high)
        assert low < values.min() < values.max() < high
        assert high - low < 1.2 * np.ptp(values)
    scene = painted(loss_chart(history, log=log), width=260)
    for layer, height in (("layer_3", 130), ("layer_4", 60), ("layer_5", 60)):
        assert np.ptp(heights(scene, layer)) == pytest.approx(height, rel=0.15)
    rising, falling = heights(scene, "layer_4"), heights(scene, "layer_5")
    assert rising == sorted(rising, reverse=True)
    assert falling == sorted(falling)


def test_lanes_stand_below_each_other_with_their_gap():
    lanes = stacked([10, 20, 30], 7)
    assert lanes == [(20, 30), (37, 57), (64, 94)]
    assert [lane.height for lane in lanes] == [10, 20, 30]

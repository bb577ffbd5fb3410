import pandas as pd
import pytest

from dashboard.charts.template import chart_of, template
from dashboard.features.heads.switchboard import _columns, _table, draw_heads, prepare_heads
from dashboard.features.heads.view import FIGURE_TITLES

HEADS = pd.DataFrame(
    [
        {"name": name, "leave_one_out": change, "entropy": 0.5, "eos": float("nan"),
         "concentration": 0.25, "diagonality": -0.125, "distance": 0.75}
        for name, change in (("cross 2.3", -1.5), ("decoder 1.1", 0.25), ("cross 1.1", -0.5))
    ]
)  # fmt: skip


def head_bars(heads):
    return chart_of(draw_heads, prepare_heads(heads))


def test_bars_stand_in_the_order_of_the_rows_and_as_high_as_the_change(painted):
    bars = painted(head_bars(HEADS)).items("bars_marks")
    bars = sorted(bars, key=lambda bar: bar["left"])
    heights = [bar["height"] for bar in bars]
    assert heights[0] == pytest.approx(6 * heights[1], rel=0.01)
    assert heights[0] == pytest.approx(3 * heights[2], rel=0.01)
    assert bars[0]["fill"] == bars[2]["fill"] != bars[1]["fill"]


def test_a_loss_is_orange_and_a_gain_is_blue(painted):
    """As on every map of differences: less than nothing is orange, more is blue."""
    bars = painted(head_bars(HEADS)).items("bars_marks")
    drawn = {bar["description"].rpartition("head: ")[2].split(";")[0]: bar for bar in bars}
    assert {name: bar["fill"] for name, bar in drawn.items()} == {
        "cross 2.3": "#ce6a1e", "decoder 1.1": "#3284d0", "cross 1.1": "#ce6a1e",
    }  # fmt: skip
    zero = drawn["cross 2.3"]["top"]
    assert drawn["cross 1.1"]["top"] == zero > drawn["decoder 1.1"]["top"]


def test_it_survives(survives):
    spec = survives(lambda: head_bars(HEADS))
    assert spec["layer"][1]["encoding"]["x"]["sort"] == ["cross 2.3", "decoder 1.1", "cross 1.1"]


def test_other_figures_keep_the_specification():
    one, other = (prepare_heads(HEADS.assign(leave_one_out=change)) for change in (0.5, -2.0))
    assert template(draw_heads, one) is template(draw_heads, other)


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(ValueError, match="need a row per head with distance, got 3 rows"):
        head_bars(HEADS.drop(columns="distance"))
    with pytest.raises(ValueError, match="need a row per head with figures, got 0 rows"):
        head_bars(HEADS.iloc[:0])


def test_a_tiny_change_is_no_0_below_0_in_the_table():
    heads = HEADS.assign(leave_one_out=[-2e-4, -0.0, -0.5], padding=1e-9, row_error=2e-9)
    heads["verdicts"], heads["eos"] = "", 0.1
    table = _table(heads, [""] * 3)
    change = table[FIGURE_TITLES["leave_one_out"]].map("{:+.3f}".format).to_list()
    assert change == ["+0.000", "+0.000", "-0.500"]
    assert table[FIGURE_TITLES["padding"]].to_list() == [1e-9] * 3
    format = _columns()[FIGURE_TITLES["padding"]]["type_config"]["format"]
    assert (format % 0.0, format % 1e-9) == ("0", "1e-09"), "not 0.0e+0"

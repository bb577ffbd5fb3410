from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from dashboard.charts.template import chart_of, template
from dashboard.charts.theme import PANEL_COLOURS
from dashboard.features.alignment.panel import draw_rates, prepare_rates

RATES = pd.DataFrame(
    {
        "map": ["1.1", "1.2", "1.3", "1.mean", "2.1"],
        "error_rate": [0.5, 0.25, 1.0, 0.125, 0.25],
        "precision": [0.5, 0.75, float("nan"), 0.9, 0.75],
        "recall": [0.5, 0.75, 0.0, 0.8, 0.75],
        "untrained": [0.875, 0.75, 0.8, 0.9, 0.97],
    }
)


def rates_chart(rates, **more):
    return chart_of(draw_rates, prepare_rates(rates, **more))


def test_every_head_is_a_dot_the_best_one_first(painted, survives):
    survives(lambda: rates_chart(RATES, chosen="1.mean"))
    scene = painted(rates_chart(pa.Table.from_pandas(RATES), chosen="1.2", colour="#3284d0"))
    dots = sorted(scene.items("heads_marks"), key=lambda dot: dot["left"])
    assert [dot["description"] for dot in dots] == [
        "layer 1 · mean, error rate 0.125", "layer 1 · head 2, error rate 0.250",
        "layer 2 · head 1, error rate 0.250", "layer 1 · head 1, error rate 0.500",
        "layer 1 · head 3, error rate 1.000",
    ]  # fmt: skip
    tops = [dot["top"] for dot in dots]
    (rule,) = scene.items("untrained_marks")
    # Rates from the bottom up: 1 is as far above 0.5 as 0.5 is above 0.
    assert tops[3] - tops[4] == pytest.approx(2 * (tops[1] - tops[3]))
    assert rule["top"] == pytest.approx((tops[3] + tops[4]) / 2)
    assert [dot["fill"] == PANEL_COLOURS["a"] for dot in dots] == [
        False, True, False, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("heads", [1, 54])
def test_few_heads_stand_close_and_many_have_room(painted, heads):
    table = pd.DataFrame(
        {"map": [f"{1 + n // 9}.{1 + n % 9}" for n in range(heads)], "error_rate": 0.3,
         "precision": 0.7, "recall": 0.7, "untrained": 0.8}
    )  # fmt: skip
    scene = painted(rates_chart(table), width=260)
    lefts = [dot["left"] for dot in scene.items("heads_marks")]
    assert len(lefts) == heads
    assert 0 < min(lefts) < 60
    assert max(lefts) < 260


def test_other_tables_are_refused():
    with pytest.raises(ValueError, match=r"need rows with map, .* got 0 rows of map"):
        rates_chart(RATES.head(0))
    with pytest.raises(ValueError, match="got 5 rows of map, error_rate"):
        rates_chart(RATES[["map", "error_rate"]])


def test_other_rates_keep_the_specification():
    one, other = (prepare_rates(rates, chosen="1.2") for rates in (RATES, RATES.iloc[::-1]))
    assert template(draw_rates, one) is template(draw_rates, other)

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from dashboard.charts import attention_heatmap, regression_chart
from dashboard.charts.run_charts import check_drawable, run_charts
from dashboard.charts.series import loss_chart
from dashboard.records.request import Result

X = np.linspace(0, 1, 5)
CURVE = pa.table({"x0": X, "prediction": X / 2, "truth": X})
POINTS = pa.table({"x0": X[:3], "y": X[:3]})
FACTS = {"x_names": ["length"], "y_name": "weight"}


def maps(kinds=("cross",), heads=1, weights=None, queries=5, keys=3) -> pa.Table:
    values = np.full(heads * queries * keys, 1 / keys) if weights is None else weights
    count = len(kinds)
    return pa.table(
        {
            "kind": list(kinds),
            "layer": pa.array(range(count), pa.int32()),
            "heads": pa.array([heads] * count, pa.int32()),
            "queries": [[f"q{n}" for n in range(queries)]] * count,
            "keys": [[f"k{n}" for n in range(keys)]] * count,
            "causal": [False] * count,
            "weights": pa.array([values] * count, pa.list_(pa.float32())),
        }
    )


def test_a_curve_is_drawn_as_on_its_page():
    tables = {"curve": CURVE, "points": POINTS, "maps": maps(("pooling",))}
    made = run_charts(Result(tables=tables, facts=FACTS), colour="#25956f", vmax=0.5)
    expected = regression_chart(
        CURVE, POINTS, np.full((1, 5, 3), 1 / 3, np.float32), colour="#25956f", vmax=0.5,
        x_title="length", y_title="weight",
    )  # fmt: skip
    assert list(made) == ["curve and weights"]
    assert made["curve and weights"]().to_json() == expected.to_json()


def test_each_site_has_its_map_and_learning_its_curve():
    history = pa.table({"step": [0, 1], "loss": [2.0, 1.0]})
    tables = {"maps": maps(("encoder", "cross"), heads=2), "history": history, "other": history}
    made = run_charts(Result(tables=tables))
    assert list(made) == ["attention encoder layer 0", "attention cross layer 1", "learning"]
    labels = [f"q{n}" for n in range(5)], [f"k{n}" for n in range(3)]
    expected = attention_heatmap(np.full((2, 5, 3), 1 / 3, np.float32), *labels, legend=True)
    assert made["attention cross layer 1"]().to_json() == expected.to_json()
    assert made["learning"]().to_dict()["config"]


def test_each_chart_has_the_colour_and_the_end_of_the_scale_that_are_given():
    history = pa.table({"step": [0, 1], "loss": [2.0, 1.0]})
    given = {"colour": "#25956f", "vmax": 0.25}
    labels = [f"q{n}" for n in range(5)], [f"k{n}" for n in range(3)]
    weights = np.full((1, 5, 3), 1 / 3, np.float32)
    made = run_charts(Result(tables={"maps": maps(), "history": history}), **given)
    assert {name: make().to_json() for name, make in made.items()} == {
        "attention cross layer 0": attention_heatmap(
            weights, *labels, vmax=0.25, legend=True
        ).to_json(),
        "learning": loss_chart(history, colour="#25956f").to_json(),
    }
    tables = {"curve": CURVE, "points": POINTS, "history": history}
    of_fit = run_charts(Result(tables=tables, facts=FACTS), **given)["learning"]()
    expected = loss_chart(history, colour="#25956f", loss_title="loss, points left out")
    assert of_fit.to_json() == expected.to_json()


def test_tables_that_nobody_knows_have_no_chart():
    assert run_charts(Result(tables={"times": CURVE})) == {}


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        ({"curve": pa.table({"x0": np.zeros(20_001)})}, "20,001 rows"),
        ({"maps": maps(["cross"] * 49)}, "49 rows"),
        ({"maps": maps(heads=65)}, "65 heads"),
        ({"maps": maps(queries=2_001, keys=1)}, "2,001 queries"),
        ({"maps": maps(weights=[np.inf] * 15)}, "infinite"),
        ({"curve": pa.table({"prediction": [-np.inf]})}, "infinite"),
        ({"maps": maps(weights=[1.0])}, "got 1"),
    ],
)
def test_tables_that_are_too_much_for_a_page_are_named(tables, reason):
    with pytest.raises(ValueError, match=reason):
        check_drawable(Result(tables=tables))


def test_usual_tables_may_be_drawn():
    usual = pa.table({"prediction": [1.0, np.nan, None]})
    check_drawable(Result(tables={"curve": usual, "maps": maps(heads=3, queries=7)}))

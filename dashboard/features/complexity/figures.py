"""The charts of the page: what the clock says, and what the formulas count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.series import SeriesShape, prepare_series
from dashboard.charts.template import Prepared
from dashboard.language import gettext, gettext_noop

LAYERS = {
    "cnn": gettext_noop("CNN"),
    "rnn": gettext_noop("RNN"),
    "attention": gettext_noop("Self-attention"),
}
AXES = {"n": gettext_noop("sequence length n"), "d": gettext_noop("size d")}


def titles() -> dict[str, str]:
    """What the layers are called in the visitor's language."""
    return {layer: gettext(title) for layer, title in LAYERS.items()}


def times_over(
    times: pd.DataFrame, fits: Sequence[Mapping[str, Any]] | None, axis: str
) -> Prepared[SeriesShape]:
    """The chart of the times over one of the sizes, with the lines that were fitted.

    Args:
        fits: None while it is measured; then lines lead from point to point.
    """
    own, named = points_over(times, axis), titles()
    points = pd.DataFrame(
        {
            "x": own[axis],
            "y": own["seconds"] * 1e3,
            "series": [named[layer] for layer in own["layer"]],
        }
    )
    lines = _with_gaps(points)
    if fits is not None:
        lines = pd.DataFrame(
            {"x": x, "y": 1e3 * fit["factor"] * x ** fit["exponent"],
             "series": named[fit["layer"]]}
            for fit in fits if fit["axis"] == axis
            for x in (own[axis].min(), own[axis].max())
        )  # fmt: skip
    return prepare_series(
        points,
        _colours(),
        fitted=lines,
        log=True,
        ticks=sorted(own[axis].unique().tolist()),
        x_title=gettext(AXES[axis]),
        y_title=gettext("milliseconds"),
        y_format=".3~g",
        height=260,
    )


def _with_gaps(points: pd.DataFrame) -> pd.DataFrame:
    """The points with a row without time wherever a size is still to be measured.

    Sizes double, so that one is missing where the next is further away.
    """
    rows: list[tuple[float, float, str]] = []
    for name, own in points.sort_values("x").groupby("series", sort=False):
        for x, y, after in zip(own["x"], own["y"], [*own["x"][1:], 0], strict=True):
            rows.append((x, y, str(name)))
            if after > 2 * x:
                rows.append((2 * x, float("nan"), str(name)))
    return pd.DataFrame(rows, columns=["x", "y", "series"])


def counted_over(times: pd.DataFrame, axis: str) -> Prepared[SeriesShape]:
    """The chart of the multiplications that the formulas count, over the same sizes."""
    own, named = points_over(times, axis), titles()
    return prepare_series(
        pd.DataFrame(
            {
                "x": own[axis],
                "y": own["multiply_adds"].astype(float),
                "series": [named[layer] for layer in own["layer"]],
            }
        ),
        _colours(),
        log=True,
        ticks=sorted(own[axis].unique().tolist()),
        x_title=gettext(AXES[axis]),
        y_title=gettext("multiplications"),
        y_format=".3~s",
        height=180,
    )


def points_over(times: pd.DataFrame, axis: str) -> pd.DataFrame:
    """The points of one chart: those at the largest of the other size."""
    fixed = "d" if axis == "n" else "n"
    largest = times.loc[times[fixed] == times[fixed].max(), :]
    return largest.drop_duplicates(subset=["layer", "n", "d"])


def _colours() -> dict[str, str]:
    return dict(zip(titles().values(), PANEL_COLOURS.values(), strict=False))

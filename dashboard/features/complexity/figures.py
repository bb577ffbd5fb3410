"""The charts of the page: what the clock says, and what the formulas count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
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
OTHER = {"n": "d", "d": "n"}  # the size that stays where one varies


def titles() -> dict[str, str]:
    """What the layers are called in the visitor's language."""
    return {layer: gettext(title) for layer, title in LAYERS.items()}


def times_over(
    times: pd.DataFrame,
    fits: Sequence[Mapping[str, Any]] | None,
    axis: str,
    reference: pd.DataFrame | None = None,
) -> Prepared[SeriesShape]:
    """The chart of the times over one of the sizes, with the lines that were fitted.

    Args:
        fits: None while it is measured; then lines lead from point to point.
        reference: the times of the reference measurement, drawn dashed.
    """
    own, named = points_over(times, axis), titles()
    milliseconds = partial(_points, axis=axis, of=lambda each: each["seconds"] * 1e3)
    points = milliseconds(times)
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
        **_compared(reference, milliseconds),
        log=True,
        ticks=_ticks(axis, times, reference),
        x_title=gettext(AXES[axis]),
        y_title=gettext("milliseconds"),
        y_format=",.3~r",
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


def counted_over(
    times: pd.DataFrame, axis: str, reference: pd.DataFrame | None = None
) -> Prepared[SeriesShape]:
    """The chart of the multiplications that the formulas count, over the same sizes.

    Args:
        reference: the times of the reference measurement; its counts are drawn dashed.
    """
    counted = partial(_points, axis=axis, of=lambda each: each["multiply_adds"].astype(float))
    return prepare_series(
        counted(times),
        _colours(),
        **_compared(reference, counted),
        log=True,
        ticks=_ticks(axis, times, reference),
        x_title=gettext(AXES[axis]),
        y_title=gettext("multiplications"),
        y_format=".3~s",
        height=180,
    )


def points_over(times: pd.DataFrame, axis: str) -> pd.DataFrame:
    """The points of one chart: those at the other size of the series over this one."""
    fixed = fixed_over(times, axis)
    own = times.loc[times[OTHER[axis]] == fixed, :]
    return own.drop_duplicates(subset=["layer", "n", "d"])


def fixed_over(times: pd.DataFrame, axis: str) -> int | None:
    """The other size of all points of the series over this one; None without points."""
    return next(iter(times.loc[times["axis"] == axis, OTHER[axis]]), None)


def _points(times: pd.DataFrame, axis: str, of: Callable[[pd.DataFrame], Any]) -> pd.DataFrame:
    own, named = points_over(times, axis), titles()
    series = [named[layer] for layer in own["layer"]]
    return pd.DataFrame({"x": own[axis], "y": of(own), "series": series})


def _compared(
    reference: pd.DataFrame | None, points: Callable[[pd.DataFrame], pd.DataFrame]
) -> dict[str, Any]:
    if reference is None:
        return {}
    return {"compared": points(reference), "compared_as": gettext("reference measurement")}


def _ticks(axis: str, *of: pd.DataFrame | None) -> list[int]:
    sizes = (points_over(times, axis)[axis] for times in of if times is not None)
    return sorted({int(size) for each in sizes for size in each})


def _colours() -> dict[str, str]:
    return dict(zip(titles().values(), PANEL_COLOURS.values(), strict=False))

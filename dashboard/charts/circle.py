"""A pair of columns of the encoding as points on the unit circle, and the turn between two."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from dashboard.charts import theme

_SIDE = 250  # px
_EDGE = 1.12  # where the plot ends; the circle has radius 1
_ARC = 0.32  # radius of the arc that shows the turn
_PER_TURN = 64  # points of the circle


def circle_chart(
    points: np.ndarray,
    start: Sequence[float],
    end: Sequence[float],
    turn: float,
    *,
    names: tuple[str, str] = ("i", "i + δ"),
    titles: tuple[str, str] = ("sine", "cosine"),
) -> alt.LayerChart:
    """All positions on the circle, and the two that a rotation joins.

    Args:
        points: ``(positions, 2)``: sine across, cosine up.
        start, end: the two points.
        turn: the angle from ``start`` to ``end`` in radians, clockwise, whole turns included.
        names: what the two points are called.
        titles: of the two axes.

    Raises:
        ValueError: points that are no pairs.
    """
    pairs = np.asarray(points, dtype=np.float64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not pairs.size:
        raise ValueError(f"need points (positions, 2), got {np.shape(points)}")
    ends = [
        {"x": start[0], "y": start[1], "name": names[0]},
        {"x": end[0], "y": end[1], "name": names[1]},
    ]
    colours = [theme.PANEL_COLOURS["a"], theme.PANEL_COLOURS["b"]]
    # Not the channel `color`: its scale is the host's ramp, by which labels choose their ink.
    named = {"scale": alt.Scale(domain=[*names], range=colours), "legend": None}
    fill, stroke = alt.Fill("name:N", **named), alt.Stroke("name:N", **named)
    x, y = (_axis(*axis) for axis in ((alt.X, "x:Q", titles[0]), (alt.Y, "y:Q", titles[1])))
    around = np.linspace(0, 2 * np.pi, _PER_TURN + 1)
    layers = [
        _path(np.stack([np.sin(around), np.cos(around)], axis=1), theme.QUIET, 1),
        _path(_arc(start, turn), theme.POINTER, 2),
        alt.Chart(pd.DataFrame({"x": pairs[:, 0], "y": pairs[:, 1], "i": range(len(pairs))}))
        .mark_point(size=18, filled=True, color=theme.QUIET, opacity=0.6)
        .encode(tooltip=[alt.Tooltip("i:Q", title="position")])
        .properties(name="positions"),
        _spokes(ends, stroke),
        alt.Chart(pd.DataFrame(ends))
        .mark_point(size=90, filled=True, opacity=1)
        .encode(fill=fill, tooltip=["name:N", _told("x", titles[0]), _told("y", titles[1])])
        .properties(name="ends"),
        alt.Chart(pd.DataFrame(_labels(ends, turn)))
        .mark_text(fontSize=theme.FONT_SIZE + 1, fontWeight=600)
        .encode(text="name:N", fill=fill),
    ]
    layers = [theme.ramp(), *(layer.encode(x=x, y=y) for layer in layers)]
    return theme.finished(alt.layer(*layers), stretch=False, width=_SIDE, height=_SIDE)


def _axis(channel: type, field: str, title: str) -> alt.X | alt.Y:
    scale = alt.Scale(domain=[-_EDGE, _EDGE], nice=False, zero=False)
    axis = alt.Axis(title=title, values=[-1, 0, 1], format="~g", grid=True)
    return channel(field, scale=scale, axis=axis)


def _told(field: str, title: str) -> alt.Tooltip:
    return alt.Tooltip(f"{field}:Q", title=title, format=".4f")


def _path(points: np.ndarray, colour: str, thickness: float) -> alt.Chart:
    table = pd.DataFrame({"x": points[:, 0], "y": points[:, 1], "step": range(len(points))})
    return alt.Chart(table).mark_line(color=colour, strokeWidth=thickness).encode(order="step:Q")


def _arc(start: Sequence[float], turn: float) -> np.ndarray:
    # More than one turn would draw over itself.
    swept = np.sign(turn) * min(abs(turn), 2 * np.pi)
    first = np.arctan2(start[0], start[1])
    angles = first + np.linspace(0, swept, max(2, int(abs(swept) / (2 * np.pi) * _PER_TURN)))
    return _ARC * np.stack([np.sin(angles), np.cos(angles)], axis=1)


def _spokes(ends: list[dict], stroke: alt.Stroke) -> alt.Chart:
    rows = [{**end, "step": 1} for end in ends]
    rows += [{"x": 0.0, "y": 0.0, "name": end["name"], "step": 0} for end in ends]
    return (
        alt.Chart(pd.DataFrame(rows))
        .mark_line(strokeWidth=2)
        .encode(stroke=stroke, order="step:Q")
    )


def _labels(ends: list[dict], turn: float) -> list[dict]:
    """The names beside their spokes, outside of the turn."""
    labels = []
    for end, side in zip(ends, (-1, 1), strict=True):
        aside = 0.16 * side * (1 if turn >= 0 else -1)
        x, y = end["x"], end["y"]
        labels.append({"name": end["name"], "x": 0.7 * x + aside * y, "y": 0.7 * y - aside * x})
    return labels

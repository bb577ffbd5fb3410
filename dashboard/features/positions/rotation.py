"""From one position to another: the turn between two of them, which follows its sliders."""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike

from dashboard.charts import PANEL_COLOURS, theme
from dashboard.charts.frames import matrix
from dashboard.charts.live import Columns
from dashboard.charts.series import SeriesShape, draw_series, prepare_series
from dashboard.charts.summary import Summary, number
from dashboard.charts.template import Data, Prepared, Sources
from dashboard.features.positions import view as positions
from dashboard.language import gettext, gettext_noop, ngettext, together
from dashboard.records.beside import beside
from dashboard.records.request import Result, Scalar
from dashboard.ui import charts, live, shown
from dashboard.ui.live import Followers, Slider
from dashboard.ui.session import Session

_SAID = beside(__file__, "words.toml")["rotation"]
_SIDE = 250  # px
_EDGE = 1.12  # where the plot ends; the circle has radius 1
_ARC = 0.32  # radius of the arc that shows the turn
_PER_TURN = 64  # points of the circle
_NAMES, _COLOURS = ("i", "i + δ"), (PANEL_COLOURS["a"], PANEL_COLOURS["b"])  # of both ends

Titles = tuple[str, str]  # of the two axes: what the specification follows from
_MOST_COMPARED = 60  # positions in the map of dot products


def similarity(result: Result, size: int) -> None:
    """Dot products of all positions, which depend on the distance alone, at so many columns."""
    shown.header(gettext("Dot products depend on the distance alone"))
    products = matrix(result.tables["similarity"])
    step = math.ceil(len(products) / _MOST_COMPARED)
    kept = products[::step, ::step]
    labels = range(0, len(products), step)
    left, right = shown.columns([2, 3], gap="large")
    with left:
        charts.show_values(
            f"similarity {result.digest}", kept,
            gettext("Dot products of the encodings of all positions"), rows=labels, columns=labels,
            titles=(gettext("position"),) * 2, cell=(8, 330 / len(kept)),
        )  # fmt: skip
    with right:
        charts.show_filled(
            f"by distance {result.digest}", draw_series,
            lambda: _by_distance(result.tables["by_distance"]),
            gettext("The dot product by distance"),
        )  # fmt: skip
        words = gettext_noop("Over one distance the dot products differ by at most {spread}.")
        if size % 2:
            words = gettext_noop(
                "Over one distance the dot products differ by at most {spread}: the last column, "
                "a sine without its cosine, breaks the rule."
            )
        sentences = [
            gettext(words, spread=_power(result.facts["similarity_spread"])),
            largest_apart(result.tables["by_distance"]["value"].to_numpy()),
        ]
        if step > 1:
            sentences.append(gettext("The map shows every {step}th position.", step=step))
        shown.caption(together(sentences))


def largest_apart(products: np.ndarray) -> str:
    """How far apart those two different positions are that have the largest dot product.

    ``products`` are ``(positions,)``, by distance from 0. Empty with a single position.
    """
    if len(products) < 2:
        return ""
    farther = 1 + int(products[1:].argmax())
    if farther == 1:
        return gettext("Of two different positions, neighbours have the largest dot product.")
    return gettext(
        _SAID["largest"], apart=farther, largest=number(products[farther]),
        neighbours=number(products[1]),
    )  # fmt: skip


def _by_distance(table: pa.Table) -> Prepared[SeriesShape]:
    name = gettext("dot product")
    frame = pd.DataFrame(
        {"x": table["distance"].to_numpy(), "y": table["value"].to_numpy(), "series": name}
    )
    return prepare_series(
        frame, {name: PANEL_COLOURS["a"]}, x_title=gettext("distance"), y_title=name,
        legend=False, height=260,
    )  # fmt: skip


def _power(value: float) -> str:
    """A small number as one of a power of ten."""
    return f"{value:.1e}".replace("e-", "e−")


def prepare_circle(
    points: np.ndarray, start: ArrayLike, end: ArrayLike, turn: float,
    titles: Titles = ("sine", "cosine"),
) -> Prepared[Titles]:  # fmt: skip
    """What :func:`draw_circle` draws: all positions, and the two that a rotation joins.

    ``points`` are ``(positions, 2)``, sine across, cosine up; ``turn`` is the angle from ``start``
    to ``end`` in radians, clockwise, whole turns included.
    """
    pairs = np.asarray(points, dtype=np.float64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not pairs.size:
        raise ValueError(f"need points (positions, 2), got {np.shape(points)}")
    ends = np.array([start, end], dtype=np.float64)
    # The names stand beside their spokes, outside of the turn.
    aside = 0.16 * np.array([-1, 1]) * (1 if turn >= 0 else -1)
    labels = 0.7 * ends + np.stack([aside * ends[:, 1], -aside * ends[:, 0]], axis=1)
    around = np.linspace(0, 2 * np.pi, _PER_TURN + 1)
    spokes = _named(np.concatenate([ends, np.zeros((2, 2))]))
    tables = {
        "circle": _path(np.stack([np.sin(around), np.cos(around)], axis=1)),
        "turn": _path(_arc(ends[0], turn)), "points": _path(pairs).rename_columns(["x", "y", "i"]),
        "spokes": pa.table({**spokes, "step": [1, 1, 0, 0]}), "ends": pa.table(_named(ends)),
        "labels": pa.table(_named(labels)),
    }  # fmt: skip
    frame = pd.DataFrame(
        {gettext("position"): range(len(pairs)), **dict(zip(titles, pairs.T, strict=True))}
    )
    words = gettext(
        _SAID["turned"], first=_NAMES[0], second=_NAMES[1], turns=number(turn / (2 * np.pi)),
        here=f"({number(ends[0, 0])}, {number(ends[0, 1])})",
        there=f"({number(ends[1, 0])}, {number(ends[1, 1])})",
    )  # fmt: skip
    summary = Summary(words, lambda: pa.Table.from_pandas(frame, preserve_index=False))
    moved: Columns = dict.fromkeys((*tables,)[1:], ("x", "y"))
    return Prepared(tables, titles, summary=summary, live=moved)


def draw_circle(data: Sources, titles: Titles) -> alt.LayerChart:
    """The circle of ``data``, as :func:`prepare_circle` makes it, or names it."""
    # Not the channel `color`: its scale is the host's ramp, by which labels choose their ink.
    named = alt.Scale(domain=[*_NAMES], range=[*_COLOURS])
    stroke = alt.Stroke("name:N", scale=named, legend=None)
    fill = alt.Fill("name:N", scale=named, legend=None)
    scale = alt.Scale(domain=[-_EDGE, _EDGE], nice=False, zero=False)
    axis = {"values": [-1, 0, 1], "format": "~g", "grid": True}
    x = alt.X("x:Q", scale=scale, axis=alt.Axis(title=titles[0], **axis))
    y = alt.Y("y:Q", scale=scale, axis=alt.Axis(title=titles[1], **axis))
    numbers = [
        alt.Tooltip(f"{field}:Q", title=title, format=".4f")
        for field, title in zip("xy", titles, strict=True)
    ]
    layers = [
        _line(data["circle"], theme.QUIET, 1),
        _line(data["turn"], theme.POINTER, 2),
        alt.Chart(data["points"])
        .mark_point(size=18, filled=True, color=theme.QUIET, opacity=0.6)
        .encode(tooltip=[alt.Tooltip("i:Q", title=gettext("position"))])
        .properties(name="positions"),
        alt.Chart(data["spokes"]).mark_line(strokeWidth=2).encode(stroke=stroke, order="step:Q"),
        alt.Chart(data["ends"])
        .mark_point(size=90, filled=True, opacity=1)
        .encode(fill=fill, tooltip=[alt.Tooltip("name:N", title=gettext("name")), *numbers])
        .properties(name="ends"),
        alt.Chart(data["labels"])
        .mark_text(fontSize=theme.FONT_SIZE + 1, fontWeight=600)
        .encode(text="name:N", fill=fill),
    ]
    chart = alt.LayerChart(layer=[theme.ramp(), *(layer.encode(x=x, y=y) for layer in layers)])
    return theme.finished(chart, width=_SIDE, height=_SIDE, stretch=False)


def _path(points: np.ndarray) -> pa.Table:
    return pa.table({"x": points[:, 0], "y": points[:, 1], "step": np.arange(len(points))})


def _named(points: np.ndarray) -> dict[str, Any]:
    """Places of both ends, or of several of each in turn, with their names."""
    return {"x": points[:, 0], "y": points[:, 1], "name": [*_NAMES] * (len(points) // 2)}


def _line(points: Data, colour: str, thickness: float) -> alt.Chart:
    return alt.Chart(points).mark_line(color=colour, strokeWidth=thickness).encode(order="step:Q")


def _arc(start: np.ndarray, turn: float) -> np.ndarray:
    # More than one turn would draw over itself.
    swept = np.sign(turn) * min(abs(turn), 2 * np.pi)
    angles = np.arctan2(start[0], start[1]) + np.linspace(0, swept, _PER_TURN + 1)
    return (_ARC * np.stack([np.sin(angles), np.cos(angles)], axis=1)).round(4)


class Turn(NamedTuple):
    """What carries position i to i + δ, in one pair of columns.

    Args:
        frequency: radians per position.
        angle: in radians, clockwise, whole turns included.
        matrix: the rotation; ``start`` and ``end`` are the pair at i, and that times the matrix.
    """

    frequency: float
    angle: float
    matrix: np.ndarray
    start: np.ndarray
    end: np.ndarray


_ROTATION = "rotation"  # what frames call the chart and the sentence
_FOLLOW = "position", "offset", "pair"  # sliders that choose what is drawn of one result
_STEPS = 201  # of a slider, at most: each has a frame
_BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
Settings = Mapping[str, Scalar]


def turn(result: Result, settings: Settings) -> Turn:
    """The turn between the two positions that these settings name."""
    pair, at, delta = (int(settings[name]) for name in ("pair", "position", "offset"))
    frequency = 2 * math.pi / result.facts["wavelengths"][pair]
    angle = delta * frequency
    rows = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
    start = _pair(result, settings)[at]
    return Turn(frequency, angle, np.array(rows), start, np.array(rows) @ start)


def _pair(result: Result, settings: Settings) -> np.ndarray:
    first = 2 * int(settings["pair"])
    return matrix(result.tables["encoding"])[:, first : first + 2]


def _circle(result: Result, settings: Settings) -> Prepared[Titles]:
    made = turn(result, settings)
    titles = gettext("column 2j"), gettext("column 2j + 1")
    return prepare_circle(_pair(result, settings), made.start, made.end, made.angle, titles)


def _numbers(result: Result, settings: Settings) -> str:
    made = turn(result, settings)
    start, end = made.start[:, None], made.end[:, None]
    return f"{_bmatrix(made.matrix)}{_bmatrix(start)}={_bmatrix(end)}"


def _sentence(result: Result, settings: Settings) -> str:
    made, at, delta = turn(result, settings), int(settings["position"]), int(settings["offset"])
    return ngettext(
        **_SAID["rotates"], count=1 if abs(made.angle) <= 2 * math.pi else 2,
        frequency=f"ω{settings['pair']}".translate(_BELOW), value=made.frequency,
        offset=number(delta, 6), turns=number(round(made.angle / (2 * math.pi), 3)), start=at,
        end=at + delta,
    )  # fmt: skip


def sliders(session: Session[positions.Positions], result: Result) -> dict[str, Slider]:
    """Those of the rotation; ``result`` has all that they may choose."""
    held = [value for name, value in session.view.settings if name in _FOLLOW]
    return live.of_settings(
        session, positions.SETTINGS, lambda *_: {}, _FOLLOW,
        most=_STEPS, more=f"{result.digest} {held}",
    )  # fmt: skip


def followers(
    result: Result, view: positions.Positions, sliders: Mapping[str, Slider]
) -> Iterator[Followers]:
    """What each slider of the rotation moves."""
    for name, slider in sliders.items():

        def moved(draw: Any, value: Scalar, _: Any, name: str = name) -> Any:
            return draw(result, {**dict(view.settings), name: value})

        words = {_ROTATION: partial(moved, _sentence), "matrices": partial(moved, _numbers)}
        yield Followers(slider, {_ROTATION: partial(moved, _circle)}, words)


def rotation(result: Result, view: positions.Positions, sliders: Mapping[str, Slider]) -> None:
    """The turn that carries one position to another, drawn, in numbers, and checked."""
    facts, settings = result.facts["rotation"], dict(view.settings)
    left, right = shown.columns([2, 3], gap="large", vertical_alignment="center")
    with left:
        key = " ".join(str(settings[name]) for name in _FOLLOW)
        charts.show_filled(
            f"circle {result.digest} {key}", draw_circle, partial(_circle, result, settings),
            gettext("The pair's columns as points on a circle; the turn from i to i + δ"),
            stretch=False, follows=(_ROTATION, live.standing(sliders.values())),
        )  # fmt: skip
    with right:
        shown.latex(
            r"\begin{bmatrix}\cos\delta\omega_j & \sin\delta\omega_j\\"
            r"-\sin\delta\omega_j & \cos\delta\omega_j\end{bmatrix}"
            r"\begin{bmatrix}p_{i,2j}\\p_{i,2j+1}\end{bmatrix}="
            r"\begin{bmatrix}p_{i+\delta,2j}\\p_{i+\delta,2j+1}\end{bmatrix}"
        )
        live.words("matrices", _numbers(result, settings), sliders.values(), "latex")
        live.words(_ROTATION, _sentence(result, settings), sliders.values(), "markdown")
        off = _power(facts["deviation"])
        shown.markdown(gettext(_SAID["checked"], count=facts["compared"], deviation=off))


def _bmatrix(rows: np.ndarray) -> str:
    body = r"\\".join(" & ".join(f"{round(value, 3) + 0.0:.3f}" for value in row) for row in rows)
    return rf"\begin{{bmatrix}}{body}\end{{bmatrix}}"

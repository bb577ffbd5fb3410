"""What the page *Positional encoding* draws, section by section."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.frames import matrix
from dashboard.charts.series import SeriesShape, draw_series, prepare_series
from dashboard.charts.template import Prepared
from dashboard.charts.values import draw_values, prepare_values
from dashboard.features.positions.chart_circle import draw_circle, prepare_circle
from dashboard.features.positions.view import Positions
from dashboard.records.result import Result
from dashboard.ui import charts, layout, shown

_ROWS_HEIGHT = 420  # px, of all positions below each other
_MOST_COMPARED = 60  # positions in the map of dot products
_FLOW = {
    "positions": (r"i", "Positions, a column."),
    "divisors": (r"10000^{2j/d}", "One per pair, a row."),
    "angles": (r"i \,/\, 10000^{2j/d}", "Column over row."),
    "sines": (r"\sin", "For even columns."),
    "cosines": (r"\cos", "For odd columns."),
    "encoding": (r"P", "Sines, cosines in turn."),
    "output": (r"X + P_{:,\,:n,\,:}", "X is all zeros here."),
}


def curves(result: Result, columns: tuple[int, ...]) -> None:
    """The chosen columns by position."""

    def prepare() -> Prepared[SeriesShape]:
        encoding = matrix(result.tables["encoding"])
        names = [f"column {column}" for column in columns]
        frame = pd.concat(
            pd.DataFrame({"x": range(len(encoding)), "y": encoding[:, column], "series": name})
            for column, name in zip(columns, names, strict=True)
        )
        colours = dict(zip(names, PANEL_COLOURS.values(), strict=False))
        return prepare_series(frame, colours, x_title="position i", y_title="value")

    charts.show_filled(
        f"curves {result.digest} {columns}",
        draw_series,
        prepare,
        f"Columns {columns} by position",
    )
    lengths = result.facts["wavelengths"]
    repeats = ", ".join(f"{column} every {lengths[column // 2]:,.1f}" for column in columns)
    shown.caption(
        f"Repeats, in positions: column {repeats}. Two columns of a pair differ by a quarter."
    )


def whole(result: Result) -> None:
    """The whole encoding beside the binary numbers."""
    shown.header("Every position has a row of its own")
    encoding, bits = (matrix(result.tables[name]) for name in ("encoding", "bits"))
    cell = _ROWS_HEIGHT / len(encoding)
    left, middle, right = shown.columns([5, 2, 3], gap="medium")
    with left:
        charts.show_filled(
            f"encoding {result.digest}",
            draw_values,
            lambda: prepare_values(
                encoding, vmax=1, cell=(24, cell), row_title="position", column_title="column of P"
            ),
            "The encoding: positions down, columns across",
        )
    with middle:
        charts.show_filled(
            f"bits {result.digest}",
            draw_values,
            lambda: prepare_values(
                bits, vmax=1, signed=False, cell=(24, cell), row_title="position",
                column_title="bit", room_left=20,
            ),
            "The same positions in binary, the lowest bit first",
        )  # fmt: skip
    with right:
        lengths = result.facts["wavelengths"]
        shown.markdown(
            "**Like counting in binary.** The lowest bit changes at every number, the next at "
            "every second, the next at every fourth: the frequency falls from left to right, and "
            "all bits together tell the numbers apart.\n\n"
            "The encoding does the same with smooth waves: its first pair repeats every "
            f"{lengths[0]:.2f} positions, its last every {lengths[-1]:,.0f}. As the waves take "
            "all values between −1 and 1, not two only, neighbours stay close to each other."
        )


def flow(result: Result) -> None:
    """The steps from positions to X + P, each with its shape and its numbers."""
    shapes = result.facts["shapes"]
    with layout.grid(4):
        for name, (formula, caption) in _FLOW.items():
            with shown.container(gap="xsmall"):
                shown.markdown(rf"$\displaystyle {formula}$")
                shape = ", ".join(map(str, shapes[name]))
                shown.caption(f"shape ({shape}). {caption}")
                _numbers(result, name)


def _numbers(result: Result, name: str) -> None:
    numbers = matrix(result.tables[f"flow_{name}"])
    wave = name in ("sines", "cosines", "encoding", "output")

    # Positions and divisors are no waves: their cells stay pale.
    vmax = 1.0 if wave else 10 * float(np.abs(numbers).max() or 1)
    charts.show_filled(
        f"flow {result.digest} {name}",
        draw_values,
        lambda: prepare_values(
            numbers, vmax=vmax, numbers=".2f" if wave else ".3~g", cell=(54, 24), room_left=18
        ),
        f"Numbers of the step {name}",
    )


def rotation(result: Result, view: Positions) -> None:
    """The turn that carries one position to another, drawn, in numbers, and checked."""
    facts = result.facts["rotation"]
    settings = dict(view.settings)
    pair, at, delta = (int(settings[name]) for name in ("pair", "position", "offset"))
    left, right = shown.columns([2, 3], gap="large", vertical_alignment="center")
    with left:
        points = matrix(result.tables["encoding"])[:, 2 * pair : 2 * pair + 2]
        turn = delta * facts["frequency"]
        charts.show_filled(
            f"circle {result.digest} {pair} {delta}",
            draw_circle,
            lambda: prepare_circle(
                points,
                facts["start"],
                facts["end"],
                turn,
                titles=(f"column {2 * pair}", f"column {2 * pair + 1}"),
            ),
            "The pair's columns as points on a circle; the turn from i to i + δ",
            stretch=False,
        )
    with right:
        shown.latex(
            r"\begin{bmatrix}\cos\delta\omega_j & \sin\delta\omega_j\\"
            r"-\sin\delta\omega_j & \cos\delta\omega_j\end{bmatrix}"
            r"\begin{bmatrix}p_{i,2j}\\p_{i,2j+1}\end{bmatrix}="
            r"\begin{bmatrix}p_{i+\delta,2j}\\p_{i+\delta,2j+1}\end{bmatrix}"
        )
        shown.latex(
            f"{_bmatrix(facts['matrix'])}{_bmatrix([[v] for v in facts['start']])}="
            f"{_bmatrix([[v] for v in facts['moved']])}"
        )
        turns = "turn" if abs(turn) <= 2 * math.pi else "turns"
        shown.markdown(
            rf"$\omega_{{{pair}}}$ = {facts['frequency']:.4g} radians per position; an offset of "
            f"{_signed(delta)} is {_signed(round(turn / (2 * math.pi), 3))} {turns}, whatever the "
            f"position. From {at} it leads to {at + delta}."
        )
        shown.markdown(
            f":material/check_circle: **Checked:** for {facts['compared']:,} points, all "
            "positions times all pairs, the rotated point misses the encoding of i + δ by at most "
            f"**{_power(facts['deviation'])}** (float64)."
        )


def similarity(result: Result, size: int) -> None:
    """Dot products of all positions, which depend on the distance alone.

    Args:
        size: how many columns the encoding has.
    """
    shown.header("Dot products tell the distance")
    products = matrix(result.tables["similarity"])
    step = math.ceil(len(products) / _MOST_COMPARED)
    kept = products[::step, ::step]
    labels = range(0, len(products), step)
    left, right = shown.columns([2, 3], gap="large")
    with left:
        charts.show_filled(
            f"similarity {result.digest}",
            draw_values,
            lambda: prepare_values(
                kept, rows=labels, columns=labels, row_title="position",
                column_title="position", cell=(8, 330 / len(kept)),
            ),
            "Dot products of the encodings of all positions",
        )  # fmt: skip
    with right:
        charts.show_filled(
            f"by distance {result.digest}",
            draw_series,
            lambda: _by_distance(result.tables["by_distance"]),
            "The dot product by distance",
        )
        spread = (
            f"Over one distance the dot products differ by at most "
            f"{_power(result.facts['similarity_spread'])}"
        )
        if size % 2:
            spread += ": the last column, a sine without its cosine, breaks the rule"
        every = "" if step == 1 else f" The map shows every {step}th position."
        shown.caption(
            f"{spread}. The dot product of two neighbouring positions is the largest.{every}"
        )


def _by_distance(table: pa.Table) -> Prepared[SeriesShape]:
    frame = pd.DataFrame(
        {"x": table["distance"].to_numpy(), "y": table["value"].to_numpy(), "series": "all"}
    )
    colours = {"all": PANEL_COLOURS["a"]}
    return prepare_series(
        frame, colours, x_title="distance", y_title="dot product", legend=False, height=260
    )


def _bmatrix(rows: Sequence[Sequence[float]]) -> str:
    body = r"\\".join(" & ".join(f"{value:.3f}" for value in row) for row in rows)
    return rf"\begin{{bmatrix}}{body}\end{{bmatrix}}"


def _signed(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _power(value: float) -> str:
    return f"{value:.1e}".replace("e-", "e−")

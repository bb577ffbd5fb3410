"""From one position to another: the turn between two of them, and all dot products."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import pyarrow as pa

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.frames import matrix
from dashboard.charts.series import SeriesShape, draw_series, prepare_series
from dashboard.charts.template import Prepared
from dashboard.charts.values import draw_values, prepare_values
from dashboard.features.positions.chart_circle import draw_circle, prepare_circle
from dashboard.features.positions.view import Positions
from dashboard.language import gettext, ngettext
from dashboard.language.joining import together
from dashboard.records.result import Result
from dashboard.ui import charts, shown

_MOST_COMPARED = 60  # positions in the map of dot products


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
                titles=(
                    gettext("column {index}", index=2 * pair),
                    gettext("column {index}", index=2 * pair + 1),
                ),
            ),
            gettext("The pair's columns as points on a circle; the turn from i to i + δ"),
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
        shown.markdown(
            ngettext(
                "{frequency} = {value:.4g} radians per position; an offset of {offset} is {turns} "
                "turn, whatever the position. From {start} it leads to {end}.",
                "{frequency} = {value:.4g} radians per position; an offset of {offset} is {turns} "
                "turns, whatever the position. From {start} it leads to {end}.",
                1 if abs(turn) <= 2 * math.pi else 2,
                frequency=rf"$\omega_{{{pair}}}$", value=facts["frequency"],
                offset=_signed(delta), turns=_signed(round(turn / (2 * math.pi), 3)),
                start=at, end=at + delta,
            )
        )  # fmt: skip
        shown.markdown(
            gettext(
                ":material/check_circle: **Checked:** for {count:,} points, all positions times "
                "all pairs, the rotated point misses the encoding of i + δ by at most "
                "**{deviation}** (float64).",
                count=facts["compared"], deviation=_power(facts["deviation"]),
            )
        )  # fmt: skip


def similarity(result: Result, size: int) -> None:
    """Dot products of all positions, which depend on the distance alone.

    Args:
        size: how many columns the encoding has.
    """
    shown.header(gettext("Dot products tell the distance"))
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
                kept, rows=labels, columns=labels, row_title=gettext("position"),
                column_title=gettext("position"), cell=(8, 330 / len(kept)),
            ),
            gettext("Dot products of the encodings of all positions"),
        )  # fmt: skip
    with right:
        charts.show_filled(
            f"by distance {result.digest}",
            draw_series,
            lambda: _by_distance(result.tables["by_distance"]),
            gettext("The dot product by distance"),
        )
        shown.caption(
            together(
                (
                    _spread(_power(result.facts["similarity_spread"]), odd=size % 2 == 1),
                    gettext("The dot product of two neighbouring positions is the largest."),
                    _thinned(step),
                )
            )
        )


def _spread(spread: str, *, odd: bool) -> str:
    if odd:
        return gettext(
            "Over one distance the dot products differ by at most {spread}: the last column, a "
            "sine without its cosine, breaks the rule.",
            spread=spread,
        )
    return gettext("Over one distance the dot products differ by at most {spread}.", spread=spread)


def _thinned(step: int) -> str:
    """A sentence on the positions that the map leaves out, if it does."""
    if step == 1:
        return ""
    return gettext("The map shows every {step}th position.", step=step)


def _by_distance(table: pa.Table) -> Prepared[SeriesShape]:
    name = gettext("dot product")
    frame = pd.DataFrame(
        {"x": table["distance"].to_numpy(), "y": table["value"].to_numpy(), "series": name}
    )
    return prepare_series(
        frame, {name: PANEL_COLOURS["a"]}, x_title=gettext("distance"), y_title=name,
        legend=False, height=260,
    )  # fmt: skip


def _bmatrix(rows: Sequence[Sequence[float]]) -> str:
    body = r"\\".join(" & ".join(f"{value:.3f}" for value in row) for row in rows)
    return rf"\begin{{bmatrix}}{body}\end{{bmatrix}}"


def _signed(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _power(value: float) -> str:
    return f"{value:.1e}".replace("e-", "e−")

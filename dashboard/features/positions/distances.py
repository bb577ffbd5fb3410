"""Dot products of all positions, which depend on the distance alone."""

import math

import pandas as pd
import pyarrow as pa

from dashboard.charts import PANEL_COLOURS
from dashboard.charts.frames import matrix
from dashboard.charts.series import SeriesShape, draw_series, prepare_series
from dashboard.charts.template import Prepared
from dashboard.language import gettext, gettext_noop, together
from dashboard.records.request import Result
from dashboard.ui import charts, shown

_MOST_COMPARED = 60  # positions in the map of dot products


def similarity(result: Result, size: int) -> None:
    """Dot products of all positions, which depend on the distance alone, at so many columns."""
    shown.header(gettext("Dot products tell the distance"))
    products = matrix(result.tables["similarity"])
    step = math.ceil(len(products) / _MOST_COMPARED)
    kept = products[::step, ::step]
    labels = range(0, len(products), step)
    left, right = shown.columns([2, 3], gap="large")
    with left:
        charts.show_values(
            f"similarity {result.digest}", kept,
            gettext("Dot products of the encodings of all positions"), rows=labels,
            columns=labels, titles=(gettext("position"),) * 2,
            cell=(8, 330 / len(kept)),
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
            gettext(words, spread=power(result.facts["similarity_spread"])),
            gettext("The dot product of two neighbouring positions is the largest."),
        ]
        if step > 1:
            sentences.append(gettext("The map shows every {step}th position.", step=step))
        shown.caption(together(sentences))


def _by_distance(table: pa.Table) -> Prepared[SeriesShape]:
    name = gettext("dot product")
    frame = pd.DataFrame(
        {"x": table["distance"].to_numpy(), "y": table["value"].to_numpy(), "series": name}
    )
    return prepare_series(
        frame, {name: PANEL_COLOURS["a"]}, x_title=gettext("distance"), y_title=name,
        legend=False, height=260,
    )  # fmt: skip


def power(value: float) -> str:
    """A small number as one of a power of ten."""
    return f"{value:.1e}".replace("e-", "e−")

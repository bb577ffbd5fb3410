"""The learning curves of the page *Train*."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import altair as alt
import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard.charts import PANEL_COLOURS
from dashboard.features.training.chart_learning import DATA, NOW, learning_chart
from dashboard.features.training.epochs import last_epoch
from dashboard.features.training.titles import series_titles
from dashboard.links.recipes import HELD_OUT, TASK
from dashboard.records.catalogue import Catalogue
from dashboard.records.result import Result
from dashboard.records.training import Training
from dashboard.ui import export, layout

_CURVES = {"loss": (".3~g", False), "bleu": (".1f", True)}  # format; whether it starts at 0
_SPECS_KEPT = 200


def curves(chosen: Mapping[str, Training], catalogue: Catalogue) -> None:
    """Loss and BLEU of the chosen trainings, by letter."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.subheader("Learning curves", anchor=False)
        menu = st.container(width="content")
    titles = series_titles(chosen, catalogue)
    colours = {titles[letter]: PANEL_COLOURS[letter] for letter in chosen}
    last = last_epoch(chosen)
    drawn: dict[str, list[dict[str, Any]]] = {}
    with layout.grid(2):
        for name, (y_format, zero) in _CURVES.items():
            if name == "bleu" and not any(map(_holds_out, chosen.values())):
                st.caption("Nothing is held out from these trainings, so there is no BLEU.")
                continue
            drawn[name] = [
                {"epoch": epoch.epoch, "value": round(value, 4), "series": titles[letter]}
                for letter, training in chosen.items()
                for epoch in training.epochs
                if (value := getattr(epoch, name)) is not None
            ]
            title = catalogue.metric(TASK, name).label
            with st.container(key=f"train-{name}"):
                figure_over_epochs(drawn[name], colours, last, title, y_format, zero=zero)
    with menu:
        _export({name: rows for name, rows in drawn.items() if rows}, colours, last, catalogue)


def _export(
    drawn: Mapping[str, list[dict[str, Any]]],
    colours: Mapping[str, str],
    last: int,
    catalogue: Catalogue,
) -> None:
    if not drawn:
        export.waiting("train-curves")
        return

    def chart(name: str) -> alt.LayerChart:
        y_format, zero = _CURVES[name]
        return learning_chart(
            drawn[name], colours, title=catalogue.metric(TASK, name).label, last=last,
            y_format=y_format, zero=zero,
        )  # fmt: skip

    tables = {name: pa.Table.from_pylist(rows) for name, rows in drawn.items()}
    charts = {name: partial(chart, name) for name in drawn}
    export.menu(None, Result(tables=tables), charts, "train-curves", title="Learning curves")


def figure_over_epochs(
    rows: list[dict[str, Any]],
    colours: Mapping[str, str],
    last: int,
    title: str,
    y_format: str,
    *,
    zero: bool = False,
    now: int = 0,
) -> None:
    """Draw a learning curve in a chart that stands still while its rows change.

    Args:
        rows, colours, last, title, y_format, zero: see
            :func:`~dashboard.features.training.chart_learning.learning_chart`.
        now: the epoch that is looked at, if one is.
    """
    still = _still(tuple(colours.items()), title, last, y_format, zero)
    data = {
        DATA: pd.DataFrame(rows, columns=["epoch", "value", "series"]),
        NOW: pd.DataFrame({"epoch": [now] if now else []}),
    }
    st.vega_lite_chart(
        {**still, "datasets": {**still["datasets"], **data}},
        width="stretch",
        alt=f"{title} after every epoch",
    )


def _holds_out(training: Training) -> bool:
    return bool(dict(training.request.options).get(HELD_OUT, True))


@st.cache_resource(max_entries=_SPECS_KEPT, show_spinner=False)
def _still(
    colours: tuple[tuple[str, str], ...], title: str, last: int, y_format: str, zero: bool
) -> dict[str, Any]:
    """The chart without its data: a specification that stays lets the browser keep the chart."""
    chart = learning_chart([], dict(colours), title=title, last=last, y_format=y_format, zero=zero)
    return chart.to_dict(validate=False)

"""The table of an experiment, a row per scoring, and everything behind it as a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from dashboard.charts.strip import DATA, MEANS, strip_chart
from dashboard.charts.tidy import table_csv
from dashboard.controls import place, plain
from dashboard.pages import export
from dashboard.pages.experiment_cells import ABSENT, AT_WORK, Cell
from dashboard.pages.train_titles import scoring_title
from dashboard.runs.experiment_figures import (
    FIGURES,
    RULE,
    Figure,
    Spread,
    best,
    mean_text,
    spread,
)
from dashboard.runs.experiment_view import Experiment
from dashboard.runs.offers import Catalogue
from dashboard.runs.result import Result

_RUNS_WIDTH = 260  # px
_SPECS_KEPT = 200
_FAILURES_SHOWN = 5


def table(view: Experiment, cells: Sequence[Cell], catalogue: Catalogue) -> None:
    """Mean ± standard deviation of every figure, its best one bold where there is one."""
    columns = measured(view, cells)
    spreads = {figure: _spreads(view, cells, figure) for figure in columns}
    frame = pd.DataFrame({"Scoring": [scoring_title(name, catalogue) for name in view.scorings]})
    for figure, found in spreads.items():
        means = [found[name].mean for name in view.scorings]
        frame[figure.heading] = pd.Series(means, dtype="float64")
    weights = [_weights(name, cells) for name in view.scorings]
    frame["Weights"] = pd.Series(weights, dtype="Int64")
    frame["Runs"] = [_runs(name, cells) for name in view.scorings]
    help_of = {figure.heading: figure.help for figure in columns}
    help_of["Weights"] = "How many numbers the whole model has that learning changes."
    st.dataframe(
        _styled(frame, view, spreads),
        hide_index=True,
        column_config={
            "Scoring": st.column_config.TextColumn(pinned=True),
            **{name: st.column_config.Column(help=words) for name, words in help_of.items()},
            # A width of its own: the words change while trainings run.
            "Runs": st.column_config.TextColumn(
                help="How many of the seeds are done, and how far the others are.",
                width=_RUNS_WIDTH,
            ),
        },
        placeholder="–",
        key="experiment-table",
        alt="Mean and spread of every figure, a row per scoring",
    )
    st.caption(
        f"Mean ± standard deviation over the seeds (n − 1); ↑ more is better, ↓ less is. {RULE} "
        "A single seed has no spread: –."
    )


def measured(view: Experiment, cells: Sequence[Cell]) -> list[Figure]:
    """The columns: all while something may still come, else those that have a number."""
    done = [cell for cell in cells if cell.state == "done"]
    waits = not done or any(cell.state in AT_WORK for cell in cells)
    return [
        figure
        for figure in FIGURES[view.task]
        if waits or any(cell.figures.get(figure.name) is not None for cell in done)
    ]


def chart(
    view: Experiment, cells: Sequence[Cell], catalogue: Catalogue, choose: Callable[[str], None]
) -> None:
    """Every seed of a chosen figure as a dot, all scorings on one axis."""
    columns = measured(view, cells)
    names = [figure.name for figure in columns]
    chosen = view.figure if view.figure in names else names[0]
    key = f"experiment-{view.task}-figure"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.pills(
            "Figure",
            names,
            key=place(key, chosen, fresh=st.session_state.get(key) != chosen),
            format_func={figure.name: figure.heading for figure in columns}.get,
            on_change=lambda: choose(st.session_state[key] or chosen),
            label_visibility="collapsed",
            required=True,
        )
        menu = st.container(width="content")
    figure = next(one for one in columns if one.name == chosen)
    titles = {name: scoring_title(name, catalogue) for name in view.scorings}
    rows = [
        {"scoring": titles[cell.scoring], "seed": cell.seed, "value": value}
        for cell in cells
        if (value := cell.figures.get(figure.name)) is not None
    ]
    means = [
        {"scoring": titles[name], "value": one.mean}
        for name, one in _spreads(view, cells, figure).items()
        if one.mean is not None
    ]
    still = _still(tuple(titles.values()), figure.heading)
    columns_of = {DATA: ["scoring", "seed", "value"], MEANS: ["scoring", "value"]}
    drawn = {
        name: pd.DataFrame(found, columns=columns_of[name])
        for name, found in ((DATA, rows), (MEANS, means))
    }
    with st.container(key="experiment-chart"):
        st.vega_lite_chart(
            {**still, "datasets": {**still["datasets"], **drawn}},
            width="stretch",
            alt=f"{figure.title} of every seed, a lane per scoring",
        )
    st.caption("A dot for every seed, a tick at the scoring's mean.")
    with menu:
        if not rows:
            export.waiting("experiment")
            return
        tables = {"seeds": pa.Table.from_pylist(rows), "means": pa.Table.from_pylist(means)}
        whole = partial(strip_chart, rows, means, tuple(titles.values()), title=figure.heading)
        charts = {figure.title: whole}
        export.menu(None, Result(tables=tables), charts, "experiment", title="Experiment")


def failures(cells: Sequence[Cell], catalogue: Catalogue) -> None:
    """What went wrong with which run, and whose fault it was; the others go on."""
    broken = [cell for cell in cells if cell.state == "failed"]
    if not broken:
        return
    with st.container(border=True, key="experiment-failures", gap="xsmall"):
        st.markdown(f":material/error: **{len(broken)} of {len(cells)} runs failed**")
        for cell in broken[:_FAILURES_SHOWN]:
            st.text(f"{scoring_title(cell.scoring, catalogue)}, seed {cell.seed}: {cell.note}")
            if culprit := cell.facts.get("culprit"):
                st.caption(plain(f"It happened in {culprit}."))
        if len(broken) > _FAILURES_SHOWN:
            st.caption(f"and {len(broken) - _FAILURES_SHOWN} more, all in the file of every run")


def file(view: Experiment, cells: Sequence[Cell]) -> bytes:
    """Every run as a row of a CSV file."""
    figures = FIGURES[view.task]
    rows = [
        {
            "task": view.task, "model": view.model, "data": view.data, "scoring": cell.scoring,
            "seed": cell.seed, "state": cell.state,
            **{figure.name: _number(cell.figures.get(figure.name)) for figure in figures},
            "weights": cell.weights, "memory_of": cell.facts.get("memory_of"),
            "training": cell.training.id if cell.training else None,
            "note": cell.note if cell.state == "failed" else None,
        }
        for cell in cells
    ]  # fmt: skip
    texts = {"task", "model", "data", "scoring", "state", "memory_of", "training", "note"}
    whole = {"seed", "weights"}
    kinds = {
        name: pa.string() if name in texts else pa.int64() if name in whole else pa.float64()
        for name in rows[0]
    }
    return table_csv(pa.Table.from_pylist(rows, schema=pa.schema(list(kinds.items()))))


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _spreads(view: Experiment, cells: Sequence[Cell], figure: Figure) -> dict[str, Spread]:
    return {
        name: spread(cell.figures.get(figure.name) for cell in cells if cell.scoring == name)
        for name in view.scorings
    }


def _runs(scoring: str, cells: Sequence[Cell]) -> str:
    own = [cell for cell in cells if cell.scoring == scoring]
    if own[0].state == ABSENT:
        return ABSENT
    words = [f"{sum(cell.state == 'done' for cell in own)} of {len(own)} done"]
    for state in ("running", "queued", "paused", "failed"):
        found = [cell for cell in own if cell.state == state]
        if found:
            words.append(f"{len(found)} {state}{_how_far(found)}")
    return ", ".join(words)


def _how_far(cells: Sequence[Cell]) -> str:
    """How far those at work are; each has its own share of the whole."""
    live = [cell.training.live.get("fraction") for cell in cells if cell.training]
    known = [fraction for fraction in live if fraction is not None]
    return f" ({', '.join(f'{100 * fraction:.0f} %' for fraction in known)})" if known else ""


def _weights(scoring: str, cells: Sequence[Cell]) -> int | None:
    found = (cell.weights for cell in cells if cell.scoring == scoring)
    return next((count for count in found if count is not None), None)


def _styled(
    frame: pd.DataFrame, view: Experiment, spreads: Mapping[Figure, Mapping[str, Spread]]
) -> Any:
    """The means as numbers, by which the table sorts, shown with their spread."""
    style = frame.style.format({"Weights": "{:,}"}, na_rep="–")
    css = pd.DataFrame("", index=frame.index, columns=frame.columns)
    for figure, found in spreads.items():
        winner = best(found, figure.better)
        for row, name in enumerate(view.scorings):
            text = mean_text(found[name], figure.digits)
            style = style.format(
                lambda _, text=text: text, subset=pd.IndexSlice[[row], [figure.heading]]
            )
            if name == winner:
                css.loc[row, figure.heading] = "font-weight: bold"
    return style.apply(lambda _: css, axis=None)


@st.cache_resource(max_entries=_SPECS_KEPT, show_spinner=False)
def _still(titles: tuple[str, ...], heading: str) -> dict[str, Any]:
    """The chart without its data: a specification that stays lets the browser keep the chart."""
    return strip_chart([], [], titles, title=heading).to_dict(validate=False)

"""The table of an experiment, a row per scoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from dashboard.features.experiment.cells import ABSENT, AT_WORK, Cell, counted
from dashboard.features.experiment.summary import FEW, Gain, Spread, Spreads, mean_text, number
from dashboard.features.experiment.view import Experiment, metrics, reference_of
from dashboard.language import gettext, gettext_noop, listed, ngettext
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Metric
from dashboard.ui import shown
from dashboard.ui.layout import scoring_title
from dashboard.ui.widgets import column_width, plain

_DIGITS = 2  # of a difference and of its interval


def show(view: Experiment, catalogue: Catalogue, gains: Mapping[tuple[str, str], Gain]) -> None:
    """The table for the metric in the chart.

    Args:
        gains: by metric and scoring.
    """
    metric = next((one for one in metrics(view, catalogue) if one.name == view.figure), None)
    if metric is None or not metric.better or len(view.scorings) < 2:
        return
    reference = scoring_title(reference_of(view), catalogue)
    shown.header(plain(gettext("Differences from {reference}", reference=reference)))
    found = {
        name: gain
        for name in view.scorings
        if (gain := gains.get((metric.name, name))) is not None
    }
    if not found:
        shown.caption(gettext("Appears once two scorings have a run of the same seed."))
        return
    frame = _frame(found, metric, catalogue)
    shown.table(frame, hide_index=True, alt=gettext("Paired differences"))
    shown.caption(
        plain(
            ngettext(
                "Differences are taken seed by seed, since a seed gives all scorings the same "
                "problem; positive is better. In brackets their 95 % bootstrap interval. The p is "
                "that of a paired permutation test, corrected by Holm over the {count} comparison "
                "with {reference} in this metric.",
                "Differences are taken seed by seed, since a seed gives all scorings the same "
                "problem; positive is better. In brackets their 95 % bootstrap interval. The p is "
                "that of a paired permutation test, corrected by Holm over the {count} "
                "comparisons with {reference} in this metric.",
                sum(gain.p is not None for gain in found.values()), reference=reference,
            )
        )
    )  # fmt: skip
    if words := _too_few(found, view.seeds):
        shown.caption(plain(words))


def _frame(found: Mapping[str, Gain], metric: Metric, catalogue: Catalogue) -> pd.DataFrame:
    return pd.DataFrame(
        {
            gettext("Scoring"): [scoring_title(name, catalogue) for name in found],
            gettext("Better by ({metric})", metric=metric.label): [
                _interval(gain) for gain in found.values()
            ],
            "p": ["–" if gain.p is None else f"{gain.p:.3g}" for gain in found.values()],
            gettext("Seeds"): [gain.pairs for gain in found.values()],
            gettext("Verdict"): [gettext(gain.verdict) for gain in found.values()],
        }
    )


def _interval(gain: Gain) -> str:
    if gain.mean is None:
        return "–"
    mean = _signed(gain.mean)
    if gain.low is None or gain.high is None:
        return mean
    return f"{mean} [{_signed(gain.low)}, {_signed(gain.high)}]"


def _signed(value: float) -> str:
    text = number(abs(value), _DIGITS)
    return f"−{text}" if value < 0 else f"+{text}"


def _too_few(found: Mapping[str, Gain], seeds: int) -> str:
    """How many seeds would do, where there are too few for any verdict."""
    few = [gain for gain in found.values() if gain.verdict == FEW]
    needed = next((gain.seeds_needed for gain in few), None)
    if not few or needed is None or needed <= seeds:
        return ""
    return ngettext(
        "With so few seeds not even the largest difference could be told from chance at "
        "5 %; {needed} seeds can do that for one comparison.",
        "With so few seeds not even the largest difference could be told from chance at 5 %; "
        "{needed} seeds can do that for {count} comparisons.",
        len(found), needed=needed,
    )  # fmt: skip


_RUNS_WIDTH = 260  # px
_ALT = gettext_noop("Mean and spread of every figure, a row per scoring")
_TITLES = {
    "Scoring": gettext_noop("Scoring"), "Weights": gettext_noop("Weights"),
    "Runs": gettext_noop("Runs"),
}  # fmt: skip
_RULE = gettext_noop(
    "Mean ± standard deviation over the seeds (n − 1); ↑ more is better, ↓ less is. Bold is the "
    "best mean of a column where its differences from all others, paired by seed, are beyond "
    "chance: a permutation test, corrected by Holm over these differences, gives each a p of at "
    "most 0.05. A single seed has no spread: –."
)


def measured(cells: Sequence[Cell], metrics: Sequence[Metric]) -> list[Metric]:
    """The columns: all while something may still come, else those that have a number."""
    done = [cell for cell in cells if cell.state == "done"]
    waits = not done or any(cell.state in AT_WORK for cell in cells)
    return [
        metric
        for metric in metrics
        if waits or any(cell.figures.get(metric.name) is not None for cell in done)
    ]


def table(
    view: Experiment,
    cells: Sequence[Cell],
    metrics: Sequence[Metric],
    spreads: Spreads,
    catalogue: Catalogue,
) -> None:
    """Mean ± standard deviation of every metric, its best one bold where there is one.

    Args:
        metrics: the columns.
        spreads: as far as they are known.
    """
    found = {
        metric: [spreads.get((metric.name, name), Spread()) for name in view.scorings]
        for metric in metrics
    }
    frame = pd.DataFrame({"Scoring": [scoring_title(name, catalogue) for name in view.scorings]})
    weights = [_weights(name, cells) for name in view.scorings]
    frame["Weights"] = pd.Series(weights, dtype="Int64")
    for metric, column in found.items():
        frame[metric.heading] = pd.Series([one.mean for one in column], dtype="float64")
    frame["Runs"] = [_runs(name, cells) for name in view.scorings]
    texts = frame.assign(
        **{
            metric.heading: [mean_text(one, metric.digits) for one in column]
            for metric, column in found.items()
        }
    )
    weights_help = gettext("How many numbers the whole model has that learning changes.")
    titles = {name: gettext(title) for name, title in _TITLES.items()}
    st.dataframe(
        _styled(frame, found),
        hide_index=True,
        column_config={
            "Scoring": st.column_config.TextColumn(titles["Scoring"], pinned=True),
            "Weights": st.column_config.Column(
                titles["Weights"],
                help=weights_help,
                width=column_width(titles["Weights"], (f"{one or 0:,}" for one in weights)),
            ),
            **{
                metric.heading: st.column_config.Column(
                    help=metric.help,
                    width=column_width(metric.heading, texts[metric.heading]),
                )
                for metric in found
            },
            # A width of its own: the words change while trainings run.
            "Runs": st.column_config.TextColumn(
                titles["Runs"],
                help=gettext("How many of the seeds are done, and how far the others are."),
                width=_RUNS_WIDTH,
            ),
        },
        placeholder="–",
        key="experiment-table",
        alt=gettext(_ALT),
    )
    bold = [
        (row, metric.heading)
        for metric, column in found.items()
        for row, one in enumerate(column)
        if one.best
    ]
    shown.note_table(texts.rename(columns=titles), alt=gettext(_ALT), bold=bold)
    shown.caption(gettext(_RULE))


def _runs(scoring: str, cells: Sequence[Cell]) -> str:
    own = [cell for cell in cells if cell.scoring == scoring]
    if own[0].state == ABSENT:
        return gettext(ABSENT)
    done = sum(cell.state == "done" for cell in own)
    words = [gettext("{done} of {count} done", done=done, count=len(own))]
    for state in ("running", "queued", "paused", "failed"):
        found = [cell for cell in own if cell.state == state]
        if found:
            words.append(_how_far(state, found))
    return listed(words)


def _how_far(state: str, cells: Sequence[Cell]) -> str:
    """How many stand so, and how far those at work are: each has its own share of the whole."""
    words = counted(state, len(cells))
    live = [cell.training.live.get("fraction") for cell in cells if cell.training]
    known = [fraction for fraction in live if fraction is not None]
    if not known:
        return words
    shares = listed(f"{100 * fraction:.0f} %" for fraction in known)
    return gettext("{runs} ({shares})", runs=words, shares=shares)


def _weights(scoring: str, cells: Sequence[Cell]) -> int | None:
    found = (cell.weights for cell in cells if cell.scoring == scoring)
    return next((count for count in found if count is not None), None)


def _styled(frame: pd.DataFrame, found: Mapping[Metric, Sequence[Spread]]) -> Styler:
    """The means as numbers, by which the table sorts, shown with their spread."""
    style = frame.style
    style.format({"Weights": "{:,}"}, na_rep="–")
    css = pd.DataFrame("", index=frame.index, columns=frame.columns)
    for metric, column in found.items():
        for row, one in enumerate(column):
            text = mean_text(one, metric.digits)
            style.format(lambda _, text=text: text, subset=pd.IndexSlice[[row], [metric.heading]])
            if one.best:
                css.loc[row, metric.heading] = "font-weight: bold"
    return style.apply(lambda _: css, axis=None)

"""The tables of an experiment: mean and spread of every figure, and differences to a reference.

Their statistics are asked of a worker.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from dashboard.features.experiment.cells import ABSENT, AT_WORK, Cell, counted
from dashboard.features.experiment.view import Experiment, reference_of
from dashboard.language import gettext, gettext_noop, listed, ngettext
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Metric
from dashboard.records.request import Request, Result, is_upload
from dashboard.ui import shown
from dashboard.ui.layout import scoring_title
from dashboard.ui.widgets import column_width, plain

_SAID = beside(__file__, "words.toml")["table"]

TASK = "experiment"
*_, _UNTESTED, _FEW = (  # the verdicts of a worker
    gettext_noop("better"), gettext_noop("worse"), gettext_noop("no difference found"),
    gettext_noop("not tested"), gettext_noop("too few seeds"),
)  # fmt: skip


class Spread(NamedTuple):
    """Mean of the seeds of a scoring, and sample standard deviation (n - 1), where there are any.

    ``best``: whether this scoring is better than every other beyond chance.
    """

    mean: float | None = None
    deviation: float | None = None
    best: bool = False


class Gain(NamedTuple):
    """A row of the differences to the reference, see :func:`.task.summarise`."""

    mean: float | None
    low: float | None
    high: float | None
    p: float | None
    pairs: int
    verdict: str
    seeds_needed: int | None


Spreads = Mapping[tuple[str, str], Spread]  # by metric and scoring


def summary_request(
    cells: Sequence[Cell], metrics: Iterable[Metric], reference: str, same_data: bool = False
) -> Request | None:
    """What a worker must compute from the runs that are done; None where none is."""
    done = {cell.scoring for cell in cells if cell.state == "done"}
    # In the order of the seeds, so that values are paired by their place.
    known = sorted((cell for cell in cells if cell.scoring in done), key=lambda cell: cell.seed)
    own = {name: [cell.figures for cell in known if cell.scoring == name] for name in done}
    runs = {
        metric.name: {
            "better": metric.better,
            "values": {name: [one.get(metric.name) for one in held] for name, held in own.items()},
        }
        for metric in metrics
    }
    if not done or not runs:
        return None
    text = json.dumps(runs, sort_keys=True, separators=(",", ":"))
    options = {"runs": text, "reference": reference, "same_data": same_data}
    return Request.make(TASK, options=options)


def spreads(result: Result | None) -> Spreads:
    """The worker's answer by metric and scoring; empty while there is none."""
    rows = result.tables["summary"].to_pylist() if result else ()
    return {
        (row["metric"], row["scoring"]): Spread(
            row["mean"],
            row["deviation"],
            row["best"] and row["metric"] != "seconds",  # no result
        )
        for row in rows
    }


def gains(result: Result | None) -> dict[tuple[str, str], Gain]:
    """The differences from the reference by metric and scoring; empty while there are none."""
    rows = result.tables["differences"].to_pylist() if result else ()
    return {(row.pop("metric"), row.pop("scoring")): Gain(**row) for row in rows}


def mean_text(one: Spread, digits: int) -> str:
    """``0.43 ± 0.12``; ``0.43 ± –`` for a single seed, ``–`` for none."""
    if one.mean is None:
        return "–"
    mean = number(one.mean, digits)
    # With the decimals of the mean, and one significant digit at least.
    decimals = len(mean.partition(".")[2])
    if one.deviation is None:
        return f"{mean} ± –"
    text = f"{one.deviation:,.{decimals}f}"
    return f"{mean} ± {text if float(text.replace(',', '')) else number(one.deviation, 1)}"


def number(value: float, digits: int) -> str:
    """To so many significant digits, without exponent where that is readable."""
    if value == 0 or not 1e-4 <= abs(value) < 1e9:
        return f"{value:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


def charted(view: Experiment, metrics: Sequence[Metric]) -> Metric:
    """The metric that was chosen, or the first of those that are measured; there must be one."""
    return next((one for one in metrics if one.name == view.figure), metrics[0])


def differences(
    view: Experiment, catalogue: Catalogue, metrics: Sequence[Metric],
    gains: Mapping[tuple[str, str], Gain],
) -> None:  # fmt: skip
    """The differences to the reference in the metric of the chart."""
    if not metrics or not (metric := charted(view, metrics)).better or len(view.scorings) < 2:
        return
    reference = scoring_title(reference_of(view), catalogue)
    shown.header(plain(gettext("Differences from {reference}", reference=reference)))
    found = {n: gains[metric.name, n] for n in view.scorings if (metric.name, n) in gains}
    if not found:
        shown.caption(gettext("Appears once two scorings have a run of the same seed."))
        return
    frame = pd.DataFrame(
        {
            gettext("Scoring"): scoring_title(name, catalogue),
            "p": "–" if gain.p is None else f"{gain.p:.3g}",
            gettext("Verdict"): gettext(gain.verdict),
            gettext("Better by ({metric})", metric=metric.label): _interval(gain),
            gettext("Seeds"): gain.pairs,
        }
        for name, gain in found.items()
    )
    wide = {gettext("Verdict"): st.column_config.Column(width=_WORDS_WIDTH)}
    shown.table(frame, hide_index=True, alt=gettext("Paired differences"), column_config=wide)
    if count := sum(gain.p is not None for gain in found.values()):
        shown.caption(plain(ngettext(**_SAID["differences"], count=count, reference=reference)))
    if any(gain.verdict == _UNTESTED for gain in found.values()):
        shown.caption(gettext(_SAID["not_tested"]))
    needed = next((gain.seeds_needed for gain in found.values() if gain.verdict == _FEW), None)
    if needed is not None and needed > view.seeds and not is_upload(view.data):
        shown.caption(plain(ngettext(**_SAID["too_few"], count=len(found), needed=needed)))


def _interval(gain: Gain) -> str:
    if gain.mean is None or gain.low is None or gain.high is None:
        return "–" if gain.mean is None else _signed(gain.mean)
    return f"{_signed(gain.mean)} [{_signed(gain.low)}, {_signed(gain.high)}]"


def _signed(value: float) -> str:
    text = number(abs(value), 2)
    return f"−{text}" if value < 0 else f"+{text}"


_WORDS_WIDTH = 260  # px; after a verdict numbers then begin beyond the edge of a phone, uncut
_WORK_WIDTH = 310  # px; holds ``0 of 10 done, 2 running (45%, 12%), 8 queued``
_ALT = gettext_noop("Mean and spread of every figure, a row per scoring")
_TITLES = beside(__file__, "words.toml")["columns"]
_RULE = beside(__file__, "words.toml")["rule"]


def measured(cells: Sequence[Cell], metrics: Sequence[Metric]) -> list[Metric]:
    """The columns: all while something may still come, else those that have a number."""
    done = [cell for cell in cells if cell.state == "done"]
    waits = not done or any(cell.state in AT_WORK for cell in cells)
    found = {name for cell in done for name, value in cell.figures.items() if value is not None}
    return [metric for metric in metrics if waits or metric.name in found]


def table(
    view: Experiment, cells: Sequence[Cell], metrics: Sequence[Metric], spreads: Spreads,
    catalogue: Catalogue,
) -> None:  # fmt: skip
    """Mean ± standard deviation of every metric, its best one bold where there is one."""
    found = {
        metric: [spreads.get((metric.name, name), Spread()) for name in view.scorings]
        for metric in metrics
    }
    own = [[cell for cell in cells if cell.scoring == name] for name in view.scorings]
    weights = [next((o.weights for o in ones if o.weights is not None), None) for ones in own]
    titles = {name: gettext(title) for name, title in _TITLES.items()}
    frame = pd.DataFrame({"Scoring": [scoring_title(name, catalogue) for name in view.scorings]})
    frame["Runs"] = [_runs(ones) for ones in own]
    frame["Weights"] = pd.Series(weights, dtype="Int64")
    for metric, column in found.items():
        frame[metric.heading] = pd.Series([one.mean for one in column], dtype="float64")
    widest = column_width(titles["Runs"], frame["Runs"])
    if any(cell.state in AT_WORK for cell in cells):  # the words change: a width of its own
        widest = max(_WORK_WIDTH, widest)
    means = {m.heading: [mean_text(one, m.digits) for one in own] for m, own in found.items()}
    texts = frame.assign(**means)
    known = [*weights, *(one.mean for column in found.values() for one in column)]
    st.dataframe(
        frame if all(one is None for one in known) else _styled(frame, found),
        hide_index=True, placeholder="–", key="experiment-table", alt=gettext(_ALT),
        column_config={
            "Scoring": st.column_config.TextColumn(
                titles["Scoring"], pinned=True,
                width=min(_WORDS_WIDTH, column_width(titles["Scoring"], frame["Scoring"])),
            ),
            "Weights": st.column_config.Column(
                titles["Weights"],
                help=gettext("How many numbers the whole model has that learning changes."),
                width=column_width(titles["Weights"], (f"{one or 0:,}" for one in weights)),
            ),
            **{
                metric.heading: st.column_config.Column(
                    help=metric.help, width=column_width(metric.heading, means[metric.heading])
                )
                for metric in found
            },
            "Runs": st.column_config.TextColumn(
                titles["Runs"], width=widest,
                help=gettext("How many of the seeds are done, and how far the others are."),
            ),
        },
    )  # fmt: skip
    bold = [(row, m.heading) for m, own in found.items() for row, o in enumerate(own) if o.best]
    shown.note_table(texts.rename(columns=titles), alt=gettext(_ALT), bold=bold)
    shown.caption(gettext(_RULE))


def _runs(cells: Sequence[Cell]) -> str:
    if cells[0].state == ABSENT:
        return gettext(ABSENT)
    done = sum(cell.state == "done" for cell in cells)
    words = (_how_far(state, found) for state in ("running", "queued", "paused", "failed")
             if (found := [cell for cell in cells if cell.state == state]))  # fmt: skip
    return listed([gettext("{done} of {count} done", done=done, count=len(cells)), *words])


def _how_far(state: str, cells: Sequence[Cell]) -> str:
    words = counted(state, len(cells))
    live = [cell.training.live.get("fraction") for cell in cells if cell.training]
    known = [f"{100 * fraction:.0f}%" for fraction in live if fraction is not None]
    return gettext("{runs} ({shares})", runs=words, shares=listed(known)) if known else words


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

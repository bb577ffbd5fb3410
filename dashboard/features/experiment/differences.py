"""How much better each scoring is than a reference: paired differences with intervals."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dashboard.features.experiment.summary import FEW, Gain, number
from dashboard.features.experiment.view import Experiment, metrics, reference_of
from dashboard.language import gettext, ngettext
from dashboard.records.catalogue import Catalogue
from dashboard.records.metric import Metric
from dashboard.ui import shown
from dashboard.ui.titles import scoring_title
from dashboard.ui.widgets import plain

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

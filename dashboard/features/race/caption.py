"""What stands under the standings: what was measured, over how many seeds, and how it was tested.

:mod:`attention_plugins.race.heading` says the same in files, which are in English.
"""

from __future__ import annotations

from dashboard.features.race.seen import Seen
from dashboard.language import gettext, ngettext
from dashboard.language.joining import together


def caption(seen: Seen) -> str:
    """What was measured, over how many seeds, by which interval, test and correction."""
    said = [_measured(seen), _seeds(seen)]
    compared = sum(row["difference"] is not None for row in seen.rows)
    if compared:
        choices, reference = seen.choices, seen.choices.reference
        said.append(
            ngettext(
                "Difference to {reference} in {model}, paired by seed, positive where better; p "
                "of a two-sided paired permutation test, Holm-corrected for {count} comparison.",
                "Difference to {reference} in {model}, paired by seed, positive where better; p "
                "of a two-sided paired permutation test, Holm-corrected for {count} comparisons.",
                compared, reference=choices.titles[reference.name],
                model=choices.model_titles[reference.model],
            )
        )  # fmt: skip
    said.append(
        gettext(
            "Rank: 1 + the contestants that are better beyond chance (paired permutation tests of "
            "all pairs, Benjamini-Hochberg at 5 %); ties share one."
        )
    )
    return together(said)


def _measured(seen: Seen) -> str:
    task, metric, unit = map(seen.fact, ("task", "metric", "unit"))
    measured = gettext("{metric} ({unit})", metric=metric, unit=unit) if unit else metric
    if seen.result.facts["higher_is_better"]:
        return gettext(
            "{task}: {metric}, higher is better, on data that nobody learned.",
            task=task, metric=measured,
        )  # fmt: skip
    return gettext(
        "{task}: {metric}, lower is better, on data that nobody learned.",
        task=task, metric=measured,
    )  # fmt: skip


def _seeds(seen: Seen) -> str:
    counts = sorted({row["seeds"] for row in seen.rows if row["seeds"]}) or [0]
    if len(counts) > 1:
        return gettext(
            "Mean over {fewest} to {most} seeds with 95 % bootstrap intervals.",
            fewest=counts[0], most=counts[-1],
        )  # fmt: skip
    return ngettext(
        "Mean over {count} seed with 95 % bootstrap intervals.",
        "Mean over {count} seeds with 95 % bootstrap intervals.",
        counts[0],
    )

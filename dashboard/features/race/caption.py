"""What stands at the standings: what was measured, after which budget, and how it was tested.

:mod:`attention_plugins.race.heading` says the same in files, which are in English.
"""

from __future__ import annotations

from dashboard.features.race.seen import Seen, number
from dashboard.language import gettext, ngettext, translated
from dashboard.language.joining import together

_FEW_RATES = 2  # with no more every choice is at an edge


def caption(seen: Seen) -> str:
    """What was measured, over how many seeds, by which interval, test and correction."""
    said = [_measured(seen), budget(seen), _seeds(seen)]
    if compared := family(seen):
        reference = seen.choices.reference
        said.append(
            ngettext(
                "Difference to {reference} in {model}, paired by seed, positive where better; p "
                "of a two-sided paired permutation test, corrected by Holm over the {count} "
                "comparison with it on this task.",
                "Difference to {reference} in {model}, paired by seed, positive where better; p "
                "of a two-sided paired permutation test, corrected by Holm over the {count} "
                "comparisons with it on this task.",
                compared, reference=seen.name(seen.reference),
                model=seen.choices.model_titles[reference.model],
            )
        )  # fmt: skip
    ranked = sum(row["rank"] is not None for row in seen.rows)
    said.append(
        gettext(
            "Rank: 1 + the contestants that are better beyond chance (paired permutation tests, "
            "Benjamini-Hochberg at 5 % over all {pairs:,} pairs); ties share one.",
            pairs=ranked * (ranked - 1) // 2,
        )
    )
    return together(said)


def family(seen: Seen) -> int:
    """Over how many comparisons with the reference Holm's correction goes."""
    return sum(row["difference"] is not None for row in seen.rows)


def budget(seen: Seen) -> str:
    """After what the effects were measured: with another budget they may be others."""
    given = seen.result.facts.get("budget")
    if not given:
        return ""
    return ngettext(
        "After {steps:,} steps on {examples:,} examples, at the only learning rate tried.",
        "After {steps:,} steps on {examples:,} examples, at the best of {count} learning rates.",
        given["rates"], steps=given["steps"], examples=given["examples"],
    )  # fmt: skip


def edges(seen: Seen) -> str:
    """What the marks at the rates mean; empty where there are none."""
    if not any(row["edge"] for row in seen.rows):
        return ""
    said = gettext("↑ marks the highest rate tried, ↓ the lowest: a better one may lie beyond.")
    if seen.result.facts["budget"]["rates"] > _FEW_RATES:
        return said
    both = gettext("With two rates every choice is at an edge of the grid.")
    return together([both, said])


def limits(seen: Seen) -> str:
    """The task's floor and its ceiling, and how far the best contestant comes."""
    found = seen.result.facts.get("limits")
    if not found:
        return ""
    name, floor, *_ = found["floors"][0]
    return gettext(
        "Floor {floor} ({how}), ceiling {ceiling} ({top}). The best contestant, {best}, covers "
        "{share:.1f} % of the way.",
        floor=number(floor), how=translated(name), ceiling=number(found["ceiling"]),
        top=translated(found["top"]), best=number(found["best"]), share=100 * found["share"],
    )  # fmt: skip


def undecided(seen: Seen) -> str:
    """That the task decides nothing, where its best contestant is near its floor."""
    found = seen.result.facts.get("limits")
    if not found or found["decides"]:
        return ""
    return gettext(
        "This task decides nothing: after this budget its best contestant covers at most "
        "{rule:g} % of the way from the floor to the ceiling.",
        rule=100 * found["rule"],
    )


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

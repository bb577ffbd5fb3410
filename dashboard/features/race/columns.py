"""What the columns of the standings are called, and what they mean."""

from __future__ import annotations

from dashboard.language import gettext, gettext_noop

_TITLES = {
    "Contestant": gettext_noop("Contestant"), "Rank": gettext_noop("rank"),
    "Difference": gettext_noop("Difference"), "p": "p", "Verdict": gettext_noop("Verdict"),
    "Near": gettext_noop("Near"), "Far": gettext_noop("Far"),
    "Parameters": gettext_noop("Parameters"), "Operations": gettext_noop("Operations"),
    "ms a step": gettext_noop("ms a step"), "Rate": gettext_noop("Rate"),
    "Seeds": gettext_noop("Seeds"),
}  # fmt: skip
_HELP = {
    "Rank": gettext_noop(
        "1 + the contestants that are better beyond chance: those that cannot be told apart "
        "share a rank."
    ),
    "p": gettext_noop(
        "Of the paired permutation test, corrected by Holm over all comparisons of this table "
        "with the reference."
    ),
    "Near": gettext_noop(
        "Quality on unseen examples that are close to one that was learned: one token apart, "
        "or the half of the queries nearest to a training point."
    ),
    "Far": gettext_noop("Quality on all other unseen examples."),
    "Operations": gettext_noop(
        "Multiplications and additions of matrix products, one example forward."
    ),
    "ms a step": gettext_noop(
        "Of training, without the first epoch, on the machine that is named above."
    ),
    "Rate": gettext_noop(
        "The learning rate that was chosen, by data that are never reported. ↑ is the highest "
        "that was tried, ↓ the lowest."
    ),
    "Seeds": gettext_noop("That the mean rests on."),
}


def title(name: str) -> str:
    """What a column is called; that of the metric is its own title."""
    if name not in _TITLES:
        return name
    said = gettext(_TITLES[name])
    return said.capitalize() if name == "Rank" else said  # "Rank" is that of a matrix elsewhere


def help_of(name: str) -> str | None:
    """What a column means; None where its title says it."""
    return gettext(_HELP[name]) if name in _HELP else None

"""Held-out scores by how near the sentences are to the training set, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard.language import gettext, gettext_noop

NEAR, FAR, COPIED = "near", "far", "copied"
PARTS: Mapping[str, str] = {
    NEAR: gettext_noop(
        "The score of held-out sentences that differ by one word (inserted, deleted or "
        "replaced) from a training sentence."
    ),
    FAR: gettext_noop("The score of all other held-out sentences."),
    COPIED: gettext_noop(
        "What the translation of the nearest training sentence would score in place of the "
        "model's."
    ),
}
_TITLES: Mapping[str, str] = {
    NEAR: gettext_noop("near"), FAR: gettext_noop("far"), COPIED: gettext_noop("copied"),
}  # fmt: skip
Parts = Mapping[str, Mapping[str, float]]


def parts_of(score: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Of a score as a card has it: ``sentences`` and ``score`` of each part that it has."""
    own = "value" if "metric" in score else "bleu"
    return {
        name: {"sentences": score[name]["sentences"], "score": score[name][own]}
        for name in PARTS
        if name in score
    }


def said(parts: Parts) -> str:
    """``near 53.9, far 36.8, copied 22.9``; empty where nothing is known."""
    return ", ".join(
        f"{gettext(_TITLES[name])} {part['score']:.1f}" for name, part in parts.items()
    )


def explained(parts: Parts) -> str:
    """What each part is, with its number of sentences; empty where nothing is known."""
    return "\n\n".join(
        gettext(
            "**{part}**, {count:,} sentences. {explanation}",
            part=gettext(_TITLES[name]).capitalize(),
            count=int(part["sentences"]),
            explanation=gettext(PARTS[name]),
        )
        for name, part in parts.items()
    )

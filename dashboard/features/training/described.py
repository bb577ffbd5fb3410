"""What the card of a training says of it that does not change: its setup, when it was begun."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import streamlit as st

from dashboard.language import gettext
from dashboard.links.recipes import PAIRS
from dashboard.records.training import Training


def setup_of(training: Training) -> str:
    """What a training learns from, and what was set of it."""
    options = dict(training.request.options)
    words = []
    facts = training.facts
    if trained_on := facts.get("trained_on"):
        held_out = facts.get("pairs", trained_on) - trained_on
        words.append(
            gettext(
                "{learned:,} pairs learned, {held_out:,} held out",
                learned=trained_on,
                held_out=held_out,
            )
            if held_out
            else gettext("{learned:,} pairs learned", learned=trained_on)
        )
    elif size := options.get(PAIRS):
        words.append(gettext("up to {size:,} pairs", size=size))
    if (hidden := options.get("model.hidden")) is not None:
        words.append(gettext("hidden {size:g}", size=hidden))
    if (rate := options.get("recipe.learning_rate")) is not None:
        words.append(gettext("learning rate {rate:g}", rate=rate))
    if weights := training.facts.get("parameters"):
        words.append(gettext("{count:,} weights", count=weights))
    if training.request.seed:
        words.append(gettext("seed {seed}", seed=training.request.seed))
    return " · ".join(words)


def clock(seconds: float) -> str:
    """A time for its reader; with the day where that is not today.

    Args:
        seconds: since 1970.
    """
    zone = _zone()
    then, now = datetime.fromtimestamp(seconds, zone), datetime.now(zone)
    if then.date() == now.date():
        return f"{then:%H:%M}"
    return gettext("{then:%d %b %H:%M}", then=then)


def _zone() -> tzinfo:
    """Where the reader is, as the browser says."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ValueError, OSError, KeyError):
        return UTC

"""Work: what a computation costs, as far as its request says, and durations in words.

Work is counted in seconds that the same computation takes on one core of the machine under *How
fast* in architecture.md. A page declares it for its requests. It decides what a link may start
by itself, the same on every server; how long it takes on this server is measured.
"""

from __future__ import annotations

from dashboard.language import gettext, ngettext

_ROUND = (1, 2, 3, 5, 10, 15, 20, 30, 45)


def about(seconds: float) -> str:
    """Words for a rough duration, such as ``about 10 s`` or ``about 2 minutes``."""
    if seconds < 55:
        nearest = min(_ROUND, key=lambda each: abs(each - seconds))
        return gettext("about {seconds} s", seconds=nearest)
    minutes = round(seconds / 60)
    if minutes < 90:
        return ngettext("about {count:,} minute", "about {count:,} minutes", minutes)
    return gettext("about {hours:,} hours", hours=round(minutes / 60))

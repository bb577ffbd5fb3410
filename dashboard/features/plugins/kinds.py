"""What the records of each kind are called together, and how many there are, in words."""

from __future__ import annotations

from dashboard.language import gettext, gettext_noop, ngettext

_TITLES = {
    "scorings": gettext_noop("Scorings"),
    "normalisers": gettext_noop("Normalisers"),
    "models": gettext_noop("Models"),
    "datasets": gettext_noop("Data sets"),
    "tokenisers": gettext_noop("Tokenisers"),
    "metrics": gettext_noop("Metrics"),
    "translations": gettext_noop("Translations"),
    "checkpoints": gettext_noop("Checkpoints"),
}


def heading(kind: str, noun: str, count: int) -> str:
    """What stands over the records of a kind.

    Args:
        noun: what one is called, for a kind that is not known here.
    """
    title = gettext(_TITLES[kind]) if kind in _TITLES else f"{noun.capitalize()}s"
    return gettext("{title} · {count:,}", title=title, count=count)


def counted(kind: str, noun: str, count: int) -> str:
    """How many records of a kind there are; arguments as of :func:`heading`."""
    match kind:
        case "scorings":
            return ngettext("{count} scoring", "{count} scorings", count)
        case "normalisers":
            return ngettext("{count} normaliser", "{count} normalisers", count)
        case "models":
            return ngettext("{count} model", "{count} models", count)
        case "datasets":
            return ngettext("{count} data set", "{count} data sets", count)
        case "tokenisers":
            return ngettext("{count} tokeniser", "{count} tokenisers", count)
        case "metrics":
            return ngettext("{count} metric", "{count} metrics", count)
        case "translations":
            return ngettext("{count} translation", "{count} translations", count)
        case "checkpoints":
            return ngettext("{count} checkpoint", "{count} checkpoints", count)
    return f"{count} {noun}{'s' * (count > 1)}"

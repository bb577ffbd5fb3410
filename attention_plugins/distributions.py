"""What a distribution says of itself: all of it is a stranger's text."""

from __future__ import annotations

from contextlib import suppress
from importlib import metadata
from typing import Any

from attention_plugins.marking import gettext_noop

_LONGEST = 300
_MOST_LINKS = 6


def described(name: str, version: str) -> dict[str, Any]:
    """``name``, ``version``, ``summary`` and ``links`` (label, url) of a distribution.

    Summary and links are empty where it is not installed, or its metadata cannot be read.
    """
    summary, links = "", []
    with suppress(Exception):  # metadata may be missing, or no text at all
        about = metadata.metadata(name)
        summary = _line(next(iter(about.get_all("Summary") or ()), None))
        pairs = [text.partition(",")[::2] for text in about.get_all("Project-URL") or ()]
        pairs += [(gettext_noop("Home page"), text) for text in about.get_all("Home-page") or ()]
        links = [{"label": _line(label), "url": _line(url)} for label, url in pairs if url.strip()]
    return {"name": name, "version": version, "summary": summary, "links": links[:_MOST_LINKS]}


def _line(text: str | None) -> str:
    return " ".join((text or "").split())[:_LONGEST]

"""The installed distributions as a page shows them: who brought what, and what failed.

Everything in here but the names of offers is a stranger's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

KINDS = {
    "scorings": "scoring", "models": "model", "datasets": "data set", "checkpoints": "checkpoint",
}  # fmt: skip
_LONGEST_ADDRESS = 300
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?\Z")
_AS_IT_STANDS = "/:?#=&%~+,;@!-._"


@dataclass(frozen=True, kw_only=True)
class Source:
    """One plugin: its entry point, its module, the contract that it says it needs."""

    name: str
    module: str
    contract: str
    offers: Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """A package that brought plugins, or tried to.

    Args:
        name, version, summary: as its metadata say.
        links: pairs of a label and an address.
        built_in: whether it is the workbench itself.
        sources: its plugins that were taken in.
        failures: what was not, as the catalogue has it.
    """

    name: str
    version: str = ""
    summary: str = ""
    links: tuple[tuple[str, str], ...] = ()
    built_in: bool = False
    sources: tuple[Source, ...] = ()
    failures: tuple[Mapping[str, Any], ...] = field(default=())

    def offers(self) -> dict[str, list[str]]:
        """The names that it offers, by kind."""
        found = {
            kind: [name for source in self.sources for name in source.offers.get(kind, ())]
            for kind in KINDS
        }
        return {kind: names for kind, names in found.items() if names}


def distributions(
    facts: Mapping[str, Any], failures: Sequence[Mapping[str, Any]]
) -> Iterator[Distribution]:
    """Of the catalogue's facts: those with problems first, the workbench itself last."""
    found = [_distribution(entry, facts, failures) for entry in facts.get("distributions", ())]
    yield from sorted(found, key=lambda one: (one.built_in, not one.failures, one.name.lower()))


def _distribution(
    entry: Mapping[str, Any], facts: Mapping[str, Any], failures: Sequence[Mapping[str, Any]]
) -> Distribution:
    name = entry["name"]
    own = [plugin for plugin in facts["plugins"] if plugin["distribution"] == name]
    wrong = tuple(one for one in failures if one.get("distribution") == name)
    return Distribution(
        name=name,
        version=entry["version"],
        summary=entry["summary"],
        links=tuple((link["label"], link["url"]) for link in entry["links"]),
        built_in=any(each.get("built_in") for each in (*own, *wrong)),
        sources=tuple(
            Source(
                name=plugin["name"],
                module=plugin["module"],
                contract=plugin["contract"],
                offers=plugin["offers"],
            )
            for plugin in own
        ),
        failures=wrong,
    )


def safe_address(url: str) -> str:
    """The address, fit to be followed and to stand in Markdown; empty where it is not ``https``.

    A name before the host, as in ``https://known.org@other.org``, would mislead and is refused.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    plain = url.isascii() and url.isprintable() and " " not in url
    if not plain or len(url) > _LONGEST_ADDRESS:
        return ""
    if parts.scheme != "https" or not _HOST.match(parts.netloc.lower()):
        return ""
    return quote(url, safe=_AS_IT_STANDS)

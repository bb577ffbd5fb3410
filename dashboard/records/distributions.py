"""The installed distributions: which plugins each one contains, and which of them failed.

All texts but the names of what plugins offer are untrusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

_MAX_ADDRESS = 300  # characters
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?\Z")
_UNQUOTED = "/:?#=&%~+,;@!-._"


@dataclass(frozen=True, kw_only=True)
class Source:
    """One plugin.

    Args:
        name: of its entry point.
        module: that the entry point names.
        contract: the versions of the plugin contract that it requires.
        offers: the names that it offers, by kind.
    """

    name: str
    module: str
    contract: str
    offers: Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """An installed package with plugins, whether or not they could be loaded.

    Args:
        name: from its metadata.
        version: from its metadata.
        summary: from its metadata.
        links: pairs of a label and an address.
        built_in: whether it is the workbench itself.
        sources: its plugins that were loaded.
        failures: its plugins that were not, as the catalogue describes them.
    """

    name: str
    version: str = ""
    summary: str = ""
    links: tuple[tuple[str, str], ...] = ()
    built_in: bool = False
    sources: tuple[Source, ...] = ()
    failures: tuple[Mapping[str, Any], ...] = field(default=())

    def offers(self) -> dict[str, list[str]]:
        """Return the names that it offers, by kind."""
        found: dict[str, list[str]] = {}
        for source in self.sources:
            for kind, names in source.offers.items():
                found.setdefault(kind, []).extend(names)
        return found


def distributions(
    facts: Mapping[str, Any], failures: Sequence[Mapping[str, Any]]
) -> Iterator[Distribution]:
    """Yield the distributions of a catalogue: problems first, the workbench itself last.

    Args:
        facts: the catalogue as a worker describes it.
        failures: all failures of the catalogue.
    """
    found = [_distribution(entry, facts, failures) for entry in facts.get("distributions", ())]
    yield from sorted(
        found, key=lambda each: (each.built_in, not each.failures, each.name.lower())
    )


def _distribution(
    entry: Mapping[str, Any], facts: Mapping[str, Any], failures: Sequence[Mapping[str, Any]]
) -> Distribution:
    name = entry["name"]
    plugins = [plugin for plugin in facts["plugins"] if plugin["distribution"] == name]
    failed = tuple(each for each in failures if each.get("distribution") == name)
    return Distribution(
        name=name,
        version=entry["version"],
        summary=entry["summary"],
        links=tuple((link["label"], link["url"]) for link in entry["links"]),
        built_in=any(each.get("built_in") for each in (*plugins, *failed)),
        sources=tuple(
            Source(
                name=plugin["name"],
                module=plugin["module"],
                contract=plugin["contract"],
                offers=plugin["offers"],
            )
            for plugin in plugins
        ),
        failures=failed,
    )


def safe_address(url: str) -> str:
    """Return the address in a form that is safe in Markdown; empty if it is not plain ``https``.

    A user name before the host, as in ``https://known.org@other.org``, is refused: it misleads.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    plain = url.isascii() and url.isprintable() and " " not in url
    if not plain or len(url) > _MAX_ADDRESS:
        return ""
    if parts.scheme != "https" or not _HOST.match(parts.netloc.lower()):
        return ""
    return quote(url, safe=_UNQUOTED)

"""How attention is computed: a scoring and a normaliser, each with its parameters.

Every page that lets its reader choose these holds one of the records below, and says it in a
request's options by :meth:`Normalised.options`.

And the installed distributions: which plugins each one contains, and which of them failed. All
texts but the names of what plugins offer are untrusted.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from dashboard.records.request import Pairs, Scalar

_MAX_ADDRESS = 300  # characters
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?\Z")
_UNQUOTED = "/:?#=&%~+,;@!-._"


@dataclass(frozen=True, kw_only=True)
class Source:
    """A plugin: its entry point, the contract's versions that it requires, its names by kind."""

    name: str
    module: str
    contract: str
    offers: Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """An installed package with plugins, whether or not they could be loaded.

    ``links`` are pairs of a label and an address; it is ``built_in`` where it is the workbench
    itself. ``failures`` are its plugins that could not be loaded, as the catalogue describes them.
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
        found: dict[str, list[str]] = {}
        for source in self.sources:
            for kind, names in source.offers.items():
                found.setdefault(kind, []).extend(names)
        return found


def distributions(
    facts: Mapping[str, Any], failures: Sequence[Mapping[str, Any]]
) -> list[Distribution]:
    """A catalogue's distributions: problems first, the workbench itself last."""
    found = []
    for entry in facts.get("distributions", ()):
        name = entry["name"]
        plugins = [plugin for plugin in facts["plugins"] if plugin["distribution"] == name]
        failed = tuple(each for each in failures if each.get("distribution") == name)
        sources = tuple(
            Source(**{own: plugin[own] for own in ("name", "module", "contract", "offers")})
            for plugin in plugins
        )
        made = Distribution(
            name=name, version=entry["version"], summary=entry["summary"], failures=failed,
            links=tuple((link["label"], link["url"]) for link in entry["links"]), sources=sources,
            built_in=any(each.get("built_in") for each in (*plugins, *failed)),
        )  # fmt: skip
        found.append(made)
    return sorted(found, key=lambda each: (each.built_in, not each.failures, each.name.lower()))


def safe_address(url: str) -> str:
    """The address in a form that is safe in Markdown; empty if it is not plain ``https``.

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


SOFTMAX = "softmax"  # the normaliser of every scoring unless another is chosen
NORMALISER = "normaliser"  # the option of a request that names another
OF_NORMALISER = f"{NORMALISER}."  # before the names of its parameters


@dataclass(frozen=True, kw_only=True)
class Normalised:
    """What makes weights of scores, by name, with a value for each of its parameters."""

    normaliser: str = SOFTMAX
    normaliser_parameters: Pairs = ()

    def options(self) -> dict[str, Scalar]:
        """What a request says of it; nothing of the softmax.

        Requests from before there were other normalisers are therefore equal to those of now.
        """
        if self.normaliser == SOFTMAX:
            return {}
        values = {f"{OF_NORMALISER}{name}": value for name, value in self.normaliser_parameters}
        return {NORMALISER: self.normaliser, **values}


@dataclass(frozen=True, kw_only=True)
class Attending(Normalised):
    """A scoring by name, a value for each of its parameters, and a normaliser."""

    scoring: str
    parameters: Pairs = ()


def normaliser_of(options: Mapping[str, Scalar]) -> tuple[str, dict[str, Scalar]]:
    """The normaliser that a request's options name, and its parameters' values."""
    own = [name for name in options if name.startswith(OF_NORMALISER)]
    values = {name.removeprefix(OF_NORMALISER): options[name] for name in own}
    return str(options.get(NORMALISER, SOFTMAX)), values


def without_normaliser(options: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """A request's options but those that :func:`normaliser_of` reads."""
    return {name: value for name, value in options.items()
            if name != NORMALISER and not name.startswith(OF_NORMALISER)}  # fmt: skip

"""What a reload of the plugins changed, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dashboard.runs.distributions import KINDS, Distribution
from dashboard.runs.offers import Catalogue

NOTHING = "Nothing has changed."
_LONGEST_MESSAGE = 200


def news(before: Catalogue, after: Catalogue) -> tuple[str, ...]:
    """A sentence on every offer that is new or gone, every new version, fault and repair."""
    old, new = before.distributions, after.distributions
    sentences = [*_offers(old, new), *_versions(old, new), *_faults(before, after)]
    return tuple(sentences) or (NOTHING,)


def _offers(old: Mapping[str, Distribution], new: Mapping[str, Distribution]) -> Iterator[str]:
    had, have = _owners(old), _owners(new)
    for (kind, name), owner in have.items():
        if (kind, name) not in had:
            yield f"{name} is new: a {KINDS[kind]} of {owner}."
    for (kind, name), owner in had.items():
        if (kind, name) not in have:
            yield f"{name} is gone: a {KINDS[kind]} of {owner}."


def _owners(found: Mapping[str, Distribution]) -> dict[tuple[str, str], str]:
    return {
        (kind, name): one.name
        for one in found.values()
        for kind, names in one.offers().items()
        for name in names
    }


def _versions(old: Mapping[str, Distribution], new: Mapping[str, Distribution]) -> Iterator[str]:
    for name, one in new.items():
        if name in old and old[name].version != one.version:
            yield f"{name} is now {one.version}; it was {old[name].version}."


def _faults(before: Catalogue, after: Catalogue) -> Iterator[str]:
    had, have = _problems(before), _problems(after)
    for name, message in have:
        if (name, message) not in had:
            yield f"{name} has a problem: {message[:_LONGEST_MESSAGE]}"
    for name in dict.fromkeys(name for name, _ in had if name not in dict(have)):
        yield f"{name} has no problem any more."


def _problems(catalogue: Catalogue) -> list[tuple[str, str]]:
    return [(each.get("distribution", ""), each["message"]) for each in catalogue.failures]

"""Describes in sentences how one catalogue differs from another, such as after a reload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dashboard.language import gettext_noop
from dashboard.records.attending import Distribution
from dashboard.records.catalogue import Catalogue

NO_CHANGE = gettext_noop("Nothing has changed.")
_MAX_MESSAGE = 200  # characters


def describe_changes(before: Catalogue, after: Catalogue) -> tuple[str, ...]:
    """Return a sentence on each addition, removal, new version, new problem and solved problem.

    Without any, the one sentence is :data:`NO_CHANGE`.
    """
    old, new = before.distributions, after.distributions
    sentences = [
        *_additions_and_removals(before, after),
        *_new_versions(old, new),
        *_problem_changes(before, after),
    ]
    return tuple(sentences) or (NO_CHANGE,)


def _additions_and_removals(before: Catalogue, after: Catalogue) -> Iterator[str]:
    owners_before, owners_after = _owners(before.distributions), _owners(after.distributions)
    for (kind, name), owner in owners_after.items():
        if (kind, name) not in owners_before:
            yield gettext_noop(
                "{name} is new: a {kind} of {owner}.",
                name=name, kind=after.kinds[kind], owner=owner,
            )  # fmt: skip
    for (kind, name), owner in owners_before.items():
        if (kind, name) not in owners_after:
            yield gettext_noop(
                "{name} is gone: a {kind} of {owner}.",
                name=name, kind=before.kinds[kind], owner=owner,
            )  # fmt: skip


def _owners(distributions: Mapping[str, Distribution]) -> dict[tuple[str, str], str]:
    return {
        (kind, name): distribution.name
        for distribution in distributions.values()
        for kind, names in distribution.offers().items()
        for name in names
    }


def _new_versions(
    old: Mapping[str, Distribution], new: Mapping[str, Distribution]
) -> Iterator[str]:
    for name, distribution in new.items():
        if name in old and old[name].version != distribution.version:
            yield gettext_noop(
                "{name} is now {version}; it was {before}.",
                name=name, version=distribution.version, before=old[name].version,
            )  # fmt: skip


def _problem_changes(before: Catalogue, after: Catalogue) -> Iterator[str]:
    problems_before, problems_after = _problems(before), _problems(after)
    for name, message in problems_after:
        if (name, message) not in problems_before:
            yield gettext_noop(
                "{name} has a problem: {message}", name=name, message=message[:_MAX_MESSAGE]
            )
    solved = (name for name, _ in problems_before if name not in dict(problems_after))
    for name in dict.fromkeys(solved):
        yield gettext_noop("{name} has no problem any more.", name=name)


def _problems(catalogue: Catalogue) -> list[tuple[str, str]]:
    return [(each.get("distribution", ""), each["message"]) for each in catalogue.failures]

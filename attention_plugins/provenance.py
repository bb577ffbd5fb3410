"""Whose plugins a model was trained with, on its card, and whether they are the ones here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attention_plugins.contract import ContractError
from attention_plugins.registry import Registry

PARTS = {
    "model": "models", "scoring": "scorings", "normaliser": "normalisers",
    "tokeniser": "tokenisers",
}  # fmt: skip
ORIGIN = frozenset({"name", "distribution", "version"})  # what a card says of each


def provenance(registry: Registry, names: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Distribution, version and contract of every plugin that a training uses.

    Args:
        names: what is used, by the names of :data:`PARTS`; an empty name is left out.

    Raises:
        ContractError: a name that nothing has.
    """
    found = {}
    for part, name in names.items():
        if name:
            plugin = registry.provider(PARTS[part], name)
            found[part] = {
                "name": name, "distribution": plugin.distribution, "version": plugin.version,
                "contract": plugin.contract,
            }  # fmt: skip
    return found


def require_same(registry: Registry, card: Mapping[str, Any]) -> None:
    """See that what a card names comes from whom it came from when the model was trained.

    Cards from before this was noted say nothing, and are taken at their word.

    Raises:
        ContractError: nothing offers that name here, or another distribution does.
    """
    for part, known in card.get("plugins", {}).items():
        if not registry.offers(PARTS[part], known["name"]):
            raise ContractError(
                f"no {part} {known['name']!r} here: this model was trained with that of "
                f"{known['distribution']} {known['version']}; install {known['distribution']}"
            )
        here = registry.provider(PARTS[part], known["name"])
        if here.distribution != known["distribution"]:
            raise ContractError(
                f"this model was trained with the {part} {known['name']!r} of "
                f"{known['distribution']} {known['version']}; here {here.distribution} "
                f"{here.version} offers another one of that name: install "
                f"{known['distribution']} and uninstall {here.distribution}"
            )

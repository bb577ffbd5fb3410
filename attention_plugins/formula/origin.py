"""Whose a typed formula is: the workbench's, which computes it."""

from __future__ import annotations

import functools

from attention_plugins.discovery import DISTRIBUTION, own_version
from attention_plugins.fingerprint import fingerprint
from attention_plugins.origins import Plugin

_PACKAGE = "attention_plugins.formula"


@functools.cache
def origin(name: str) -> Plugin:
    """The plugin that offers a formula.

    Args:
        name: the formula's, ``=`` and its spelling.
    """
    return Plugin(
        name="formula", distribution=DISTRIBUTION, version=own_version(), module=_PACKAGE,
        offers={"scorings": (name,)}, built_in=True,
        code=fingerprint(_PACKAGE, own_version(), whole=False),
    )  # fmt: skip

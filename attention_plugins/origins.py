"""Whose is what: a plugin that was taken in, and one that was not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attention_plugins.refusal import Stage


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """A plugin that was taken in.

    Args:
        name: of its entry point.
        distribution, version: of the package that brought it.
        module: what the entry point names.
        offers: names by kind, see :data:`~attention_plugins.hookspecs.HOOKS`.
        contract: the version of the contract that it says it needs; empty if it says none.
        built_in: whether it comes with the workbench.
        code: which code it is, see :func:`~attention_plugins.fingerprint.fingerprint`.
    """

    name: str
    distribution: str
    version: str
    module: str
    offers: Mapping[str, tuple[str, ...]]
    contract: str = ""
    built_in: bool = False
    code: str = ""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A plugin, or a part of one, that was not taken in.

    Args:
        plugin, distribution: whose.
        version, module: as in :class:`Plugin`.
        stage: how far it came; ``blocked`` is no fault, only the allow-list's doing, and
            ``quarantine`` means that an earlier process did not survive it.
        message: what went wrong; of an exception, the traceback's last line and its place.
        advice: what to do about it.
    """

    plugin: str
    distribution: str
    stage: Stage
    message: str
    advice: str
    version: str = ""
    module: str = ""
    built_in: bool = False

"""Takes plugins in, one after the other, and settles who gets which name."""

from __future__ import annotations

import hashlib
import sys
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType

from packaging.utils import canonicalize_name

from attention_plugins.contract import Spec
from attention_plugins.discovery import (
    Failure,
    Plugin,
    Refused,
    Source,
    Stage,
    drain,
    implementations,
    last_line,
    let_go,
    sources,
)
from attention_plugins.hookspecs import HOOKS
from attention_plugins.marking import gettext_noop
from attention_plugins.watching import quarantined, running

# More than any plugin writes; a larger package is known by its version alone.
_MOST_BYTES = 16 * 2**20


def fingerprint(module: str, version: str, *, whole: bool) -> str:
    """16 hexadecimal digits of the SHA-256 of a version and of Python files.

    Args:
        module: an imported module, as its entry point names it.
        version: of its distribution.
        whole: read the files of the top-level package, else those of the module's own package.
    """
    digest = hashlib.sha256(version.encode())
    name = module.partition(":")[0]
    for text in _texts(name.partition(".")[0] if whole else name):
        digest.update(len(text).to_bytes(8, "big") + text)
    return digest.hexdigest()[:16]


def _texts(name: str) -> list[bytes]:
    """The files of a package in the order of their paths, or of a module; none if too large."""
    found = sys.modules.get(name)
    folders = list(getattr(found, "__path__", ()))
    paths = [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
    if not folders and (file := getattr(found, "__file__", None)):
        paths = [Path(file)]
    try:
        if sum(path.stat().st_size for path in paths) > _MOST_BYTES:
            return []
        return [path.read_bytes() for path in paths]
    except OSError:  # a package in an archive
        return []


ALLOW_LIST = "ATTENTION_PLUGINS"


class Loader:
    """One load: takes sources in one by one, then settles who gets which name.

    Args:
        allowed: canonical names of the distributions whose plugins may be imported; None for all.

    After :meth:`load`, ``plugins`` and ``failures`` say what became of every source.
    """

    def __init__(self, allowed: Collection[str] | None) -> None:
        self.allowed = allowed
        self.failures: list[Failure] = []
        self.plugins: tuple[Plugin, ...] = ()
        self.taken: dict[Source, list[tuple[str, Spec]]] = {}
        self.modules: dict[int, Source] = {}
        self.contracts: dict[Source, str] = {}
        self.codes: dict[Source, str] = {}

    def load(self) -> dict[str, Mapping[str, Spec]]:
        """Take in all that is installed; the records by kind and name."""
        for source in sources():
            try:
                self._take(source)
            except Refused as refused:
                self._fail(source, refused.stage, refused.message, refused.advice)
            except BaseException as error:  # an object that raises when it is looked at
                let_go(error)
                message = gettext_noop(f"looking at {source.module} raised {last_line(error)}")
                advice = gettext_noop("name a plain module as the entry point")
                self._fail(source, "hooks", message, advice)
        offered = self._settle()
        self.plugins = tuple(self._describe(source, offered) for source in self.taken)
        return {
            kind: MappingProxyType({spec.name: spec for k, spec, _ in offered if k == kind})
            for kind in HOOKS
        }

    def _fail(self, source: Source, stage: Stage, message: str, advice: str) -> None:
        self.failures.append(
            Failure(
                plugin=source.name,
                distribution=source.distribution,
                stage=stage,
                message=message,
                advice=advice,
                version=source.version,
                module=source.module,
                built_in=source.built_in,
            )
        )

    def _is_allowed(self, source: Source) -> bool:
        if source.built_in or self.allowed is None:
            return True
        return canonicalize_name(source.distribution) in self.allowed

    def _take(self, source: Source) -> None:
        if not self._is_allowed(source):
            raise Refused(
                "blocked",
                f"{source.distribution} is not on the allow-list, so it was not imported",
                f"add {source.distribution} to {ALLOW_LIST} if you trust it",
            )
        if reason := quarantined(source):
            raise Refused(
                "quarantine",
                reason,
                f"update or uninstall {source.distribution}; Reload plugins tries it again",
            )
        with running(source):
            self._run(source)

    def _run(self, source: Source) -> None:
        plugin = source.load()
        if id(plugin) in self.modules:
            first = self.modules[id(plugin)]
            raise Refused(
                "duplicate",
                f"{source.module} is offered twice: as {first.name} by {first.distribution} "
                f"and as {source.name} by {source.distribution}",
                "remove one of the two entry points",
            )
        self.modules[id(plugin)] = source
        # Now, for the files may change while this process goes on with what it imported.
        self.codes[source] = fingerprint(source.module, source.version, whole=not source.built_in)
        hooks = implementations(plugin, source)
        self.taken[source] = records = []
        self.contracts[source] = getattr(plugin, "ATTENTION_CONTRACT", None) or ""
        for kind, function in hooks:
            found, faults = drain(kind, function, source)
            records += [(kind, spec) for spec in found]
            for fault in faults:
                self._fail(source, fault.stage, fault.message, fault.advice)

    def _settle(self) -> list[tuple[str, Spec, Source]]:
        """Every record that nobody else has a better claim on, with whose it is."""
        claims: dict[tuple[str, str], list[tuple[Spec, Source]]] = defaultdict(list)
        for source, records in self.taken.items():
            for kind, spec in records:
                claims[kind, spec.name].append((spec, source))
        offered = []
        for (kind, name), claimants in claims.items():
            built_in = [claim for claim in claimants if claim[1].built_in]
            winners = built_in or claimants
            if len(winners) == 1:
                offered.append((kind, *winners[0]))
            refused = [claim for claim in claimants if len(winners) > 1 or claim not in winners]
            for source in dict.fromkeys(source for _, source in refused):
                self._clash(HOOKS[kind].noun, name, source, [other for _, other in claimants])
        return offered

    def _clash(self, noun: str, name: str, source: Source, claimants: list[Source]) -> None:
        others = list(dict.fromkeys(str(other) for other in claimants if other != source))
        if any(other.built_in for other in claimants) and not source.built_in:
            message = gettext_noop(
                f'{source} offers {noun} "{name}", which is the name of a built-in'
            )
        elif others:
            message = gettext_noop(
                f'{noun} "{name}" is claimed by {source} and by {" and ".join(others)}'
            )
        else:
            message = gettext_noop(f'{source} offers {noun} "{name}" more than once')
        advice = gettext_noop(f'give the {noun} another name than "{name}"')
        self._fail(source, "clash", message, advice)

    def _describe(self, source: Source, offered: list[tuple[str, Spec, Source]]) -> Plugin:
        names = {
            kind: tuple(spec.name for k, spec, owner in offered if k == kind and owner == source)
            for kind in HOOKS
        }
        return Plugin(
            name=source.name,
            distribution=source.distribution,
            version=source.version,
            module=source.module,
            offers=MappingProxyType({kind: found for kind, found in names.items() if found}),
            contract=self.contracts[source],
            built_in=source.built_in,
            code=self.codes[source],
        )

"""What a package offers, installed or still in the making, with what is wrong before any rule.

A package is a distribution's name, a module's name, a ``.py`` file, a package's folder, a
project's folder with a ``pyproject.toml``, or a formula: ``=q.k / sqrt(d)``.
"""

import functools
import importlib
import importlib.util
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from packaging.utils import canonicalize_name

from attention_plugins.beside import beside
from attention_plugins.contract import ContractError, Spec
from attention_plugins.discovery import GROUP, Refused, Source, drain, implementations, sources
from attention_plugins.formula import spec_of
from attention_plugins.hookspecs import HOOKS
from attention_plugins.registry import load

_SAID = beside(__file__, "words.toml")["package"]

WAIVERS = "ATTENTION_EXPECTED_FAILURES"


class Offer(NamedTuple):
    """One record of a package, and the rules that its plugin says it does not keep."""

    kind: str
    spec: Spec
    expected_failures: Mapping[str, str]


class Fault(NamedTuple):
    """What is wrong with a plugin as a whole, and what to change."""

    plugin: str
    message: str
    advice: str


class Contents(NamedTuple):
    """What a package offers and what is wrong with it."""

    offers: list[Offer]
    faults: list[Fault]


def contents(package: str) -> Contents:
    """Import the package's plugins and ask them for their records; a formula is a record."""
    if package.startswith("="):
        return Contents([Offer("scorings", spec_of(package), {})], [])
    found = Contents([], [])
    for source in find(package):
        try:
            _take(source, found)
        except Refused as refused:
            # Whoever checks a package can mend it; a user could only update it.
            advice = "mend that line" if refused.stage == "import" else refused.advice
            found.faults.append(Fault(source.name, refused.message, advice))
    for (kind, name), count in Counter((o.kind, o.spec.name) for o in found.offers).items():
        if count > 1:
            noun = HOOKS[kind].noun
            message = f'{noun} "{name}" is offered {count} times'
            found.faults.append(Fault(name, message, f"give each {noun} a name of its own"))
    if not found.offers and not found.faults:
        advice = f"yield records from {', '.join(hook.name for hook in HOOKS.values())}"
        found.faults.append(Fault(package, "it offers nothing", advice))
    return found


def expected_failures(plugin: Any, name: str) -> Mapping[str, str]:
    """The waivers of a record, from the plugin's ``ATTENTION_EXPECTED_FAILURES``.

    That is a mapping of a record's name to a mapping of rules to reasons; else it is refused.
    """
    declared = getattr(plugin, WAIVERS, {})
    waivers = declared.get(name, {}) if isinstance(declared, Mapping) else None
    if not isinstance(waivers, Mapping) or not all(
        isinstance(text, str) and text for each in waivers.items() for text in each
    ):
        raise Refused(
            "record",
            f"{WAIVERS} is no mapping of records to rules",
            f'write {{"{name}": {{"a_rule": "the reason"}}}}',
        )
    return waivers


def find(package: str) -> list[Source]:
    """The plugins of a package, none of them imported yet."""
    path = Path(package)
    if path.suffix == ".py" or path.is_dir():
        return _in_files(path)
    wanted = canonicalize_name(package)
    installed = [s for s in sources() if canonicalize_name(s.distribution) == wanted]
    if installed:
        return installed
    there = None
    with suppress(ImportError, ValueError):
        there = importlib.util.find_spec(package)
    if there is None:
        raise ContractError(_SAID["no_plugin"].format(package=package))
    return [_source(package, functools.partial(importlib.import_module, package))]


def _in_files(path: Path) -> list[Source]:
    if (path / "pyproject.toml").is_file():
        project = tomllib.loads((path / "pyproject.toml").read_text("utf-8")).get("project", {})
        announced = project.get("entry-points", {}).get(GROUP, {})
        if not announced:
            raise ContractError(
                _SAID["announces_none"].format(path=path / "pyproject.toml", group=GROUP)
            )
        places = [path / "src", path]
        return [_source(m, functools.partial(_import, m, places)) for m in announced.values()]
    if (path / "__init__.py").is_file():
        name = path.resolve().name
        return [_source(name, functools.partial(_import, name, [path.resolve().parent]))]
    if path.is_file():
        return [_source(path.stem, functools.partial(_import_file, path))]
    raise ContractError(
        f"no plugin at {path}; need a .py file, or a folder with __init__.py or pyproject.toml"
    )


def _source(module: str, find: Callable[[], Any]) -> Source:
    return Source(module, module, "", module, find=find)


def _import(module: str, places: list[Path]) -> ModuleType:
    sys.path[:0] = [str(place.resolve()) for place in places if place.is_dir()]
    return importlib.import_module(module)


def _import_file(path: Path) -> ModuleType:
    sys.path.insert(0, str(path.resolve().parent))  # for what lies beside it
    # A name that nothing else has: a file may be called as a module that is loaded already.
    spec = importlib.util.spec_from_file_location(f"checked_{path.stem}", path.resolve())
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported as a module")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _take(source: Source, found: Contents) -> None:
    plugin, own = source.load(), list[Offer]()
    for kind, function in implementations(plugin, source):
        records, faults = drain(kind, function, source)
        own += [
            Offer(kind, spec, {} if source.built_in else expected_failures(plugin, spec.name))
            for spec in records
        ]
        found.faults.extend(Fault(source.name, each.message, each.advice) for each in faults)
    found.offers.extend(own)
    if not source.built_in:
        found.faults.extend(_clashes(source, own))


def _clashes(source: Source, offers: list[Offer]) -> Iterator[Fault]:
    """Names that a built-in has, or a plugin that is installed here: both would be refused."""
    installed = load()
    others = [plugin for plugin in installed.plugins if plugin.module != source.module]
    for kind, spec, _ in offers:
        for other in others:
            if spec.name in other.offers.get(kind, ()):
                noun = HOOKS[kind].noun
                whose, advice = "a built-in", f"give the {noun} another name"
                if not other.built_in:
                    whose = f"one of {other.distribution}"
                    advice += f", or uninstall {other.distribution}"
                yield Fault(source.name, f'{noun} "{spec.name}" has the name of {whose}', advice)
    for failure in installed.failures:  # it is installed itself, and both are refused already
        if failure.module == source.module and "is claimed by" in failure.message:
            yield Fault(source.name, failure.message, failure.advice)

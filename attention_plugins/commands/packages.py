"""The commands on packages: what is installed, what one offers, how to begin one."""

import argparse
import importlib.util
import keyword
import shlex
import sys
from collections.abc import Iterator
from dataclasses import asdict
from importlib import metadata
from pathlib import Path

from attention_plugins.checking.watching import Checked, check_package
from attention_plugins.commands.common import show
from attention_plugins.contract import ContractError
from attention_plugins.discovery import DISTRIBUTION
from attention_plugins.hookspecs import HOOKS
from attention_plugins.registry import installed
from attention_plugins.scaffold import MODULE, Names, filled, names_of

_FAILURE = ("plugin", "distribution", "stage", "message", "advice")


def list_installed(given: argparse.Namespace) -> None:
    """List scorings, models, data sets, checkpoints, and plugins that failed."""
    registry = installed()
    records: dict[str, dict[str, dict[str, str]]] = {}
    lines = []
    for kind, hook in HOOKS.items():
        lines.append(f"{kind}:")
        records[kind] = {}
        for name, spec in registry.records[kind].items():
            plugin, title = registry.provider(kind, name), hook.title(spec)
            whose, version = plugin.distribution, plugin.version
            records[kind][name] = {"title": title, "plugin": whose, "version": version}
            lines.append(f"  {name:28} {title}  ({whose} {version}".rstrip() + ")")
    lines += [f"failed: {one.plugin}: {one.message} {one.advice}" for one in registry.failures]
    failures = [{name: getattr(one, name) for name in _FAILURE} for one in registry.failures]
    show(given, {**records, "failures": failures}, lines)


def check(given: argparse.Namespace) -> int:
    """Check everything that a package offers before others use it.

    Prints what does not hold and what to change; 1 if anything does not.
    """
    if not given.limit > 0:
        raise ContractError(f"need 0 < limit in seconds, got {given.limit:g}")
    report = check_package(given.package, given.limit)
    facts = {
        "package": given.package, "passed": report.passed,
        "failures": [fault._asdict() for fault in report.faults],
        "records": [{**asdict(record), "passed": record.passed} for record in report.records],
    }  # fmt: skip
    lines = [f"failed: {f.plugin}: {f.message}; {f.advice}" for f in report.faults]
    lines += [line for record in report.records for line in _rule_lines(record, given.verbose)]
    show(given, facts, lines)
    return 0 if report.passed else 1


def _rule_lines(record: Checked, verbose: bool) -> Iterator[str]:
    waived = sum(bool(finding.waived) for finding in record.findings)
    held = sum(finding.passed for finding in record.findings) - waived
    total = len(record.findings)
    count = f"all {total} rules hold" if held == total else f"{held} of {total} rules hold"
    more = f", {waived} waived" if waived else ""
    yield f"{HOOKS[record.kind].noun} {record.name}: {count}{more}"
    alike: dict[str, list[str]] = {}
    for finding in record.findings:
        if not finding.passed:
            alike.setdefault(finding.message, []).append(finding.rule)
        elif finding.waived:
            yield f"  waived  {finding.rule}: {finding.waived}"
        elif verbose:
            yield f"  holds   {finding.rule} ({finding.seconds:.2f} s)"
    for message, rules in alike.items():
        yield f"  failed  {', '.join(rules)}: {message}"


def new(given: argparse.Namespace) -> None:
    """Write the folder of a new plugin: a scoring that works, its test, and how to install it."""
    names = _names(given.name)
    folder = given.into / names.distribution
    files = _write(folder, names)
    path = shlex.quote(str(folder))
    # Where the workbench runs from its source folder, pip would look for it on the network.
    alone = "" if _is_installed(DISTRIBUTION) else "--no-deps "
    commands = [
        f"python -m attention_plugins check {path}",
        f"python -m pip install {alone}-e {path}",
    ]
    show(
        given,
        {"folder": str(folder), "files": files, "next": commands},
        [
            f"{folder}: {', '.join(files)}",
            f"Change the formula in {folder / MODULE.format(module=names.module)}. Then:",
            *(f"  {command}" for command in commands),
            "It is then in every list of scorings; on a page that is open, press Reload plugins.",
        ],
    )


def _names(given: str) -> Names:
    """The names of a package; :class:`ContractError` where they are bad, or something has one."""
    names = names_of(given)
    distribution, module, _ = names
    registry = installed()
    if module in registry.scorings:
        owner = registry.provider("scorings", module).distribution
        raise ContractError(
            f"there is a scoring {module!r} already, of {owner}; take another name"
        )
    is_module = module in sys.stdlib_module_names or importlib.util.find_spec(module) is not None
    if keyword.iskeyword(module) or is_module or _is_installed(distribution):
        raise ContractError(
            f"{given!r} is a word, a module or a distribution of this Python already; take "
            f"another name, such as {distribution}-scoring"
        )
    return names


def _is_installed(distribution: str) -> bool:
    try:
        return bool(metadata.version(distribution))
    except metadata.PackageNotFoundError:
        return False


def _write(folder: Path, names: Names) -> list[str]:
    files = filled(names, {}, "module.py.txt")
    try:
        folder.mkdir()
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, "utf-8")
    except FileExistsError:
        raise ContractError(
            f"{folder} is there already; take another name, or another folder with --into"
        ) from None
    except OSError as error:
        raise ContractError(f"cannot write {folder}: {error.strerror}") from None
    return list(files)

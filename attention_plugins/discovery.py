"""Where plugins come from; every step to their records raises :class:`Refused` or nothing."""

import functools
import importlib
import itertools
import re
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import pluggy
import torch

from attention_plugins import hookspecs
from attention_plugins.contract import CONTRACT_VERSION, Spec, is_formula
from attention_plugins.hookspecs import HOOKS
from attention_plugins.marking import gettext_noop
from attention_plugins.watching import Origin

_LONGEST_MESSAGE = 300
_OURS, _TORCH = Path(__file__).parent, Path(torch.__file__).parent
_MACHINERY = {
    Path(__file__), _OURS / "discovery.py", Path(importlib.__file__), Path(metadata.__file__),
}  # fmt: skip

Stage = Literal[
    "blocked", "quarantine", "import", "contract", "hooks", "call", "record", "clash",
    "duplicate", "describe",
]  # fmt: skip


class Refused(Exception):
    """A plugin, or a part of one, that cannot be taken in."""

    def __init__(self, stage: Stage, message: str, advice: str) -> None:
        super().__init__(message)
        self.stage: Stage = stage
        self.message, self.advice = message, advice


def let_go(error: BaseException) -> None:
    """Pass on the user's Ctrl-C; where the signal means something else, a plugin raised it."""
    if isinstance(error, KeyboardInterrupt) and (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        raise error


def last_line(error: BaseException) -> str:
    """The last line of the error's traceback and, where a file is to blame, its place."""
    lines = traceback.format_exception_only(error)[-1].strip().splitlines() or [repr(error)]
    line = lines[-1].removeprefix(f"{type(error).__module__}.")[:_LONGEST_MESSAGE]
    places = [(Path(f.filename), f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((Path(error.filename), error.lineno))
    places = [place for place in places if place[0].is_absolute() and place[0] not in _MACHINERY]
    # The contract and torch raise on behalf of a plugin: they are to blame only if alone.
    outside = [place for place in places if not {_OURS, _TORCH} & {*place[0].parents}] or places
    return f"{line} ({outside[-1][0].name}, line {outside[-1][1]})" if outside else line


@dataclass(frozen=True, kw_only=True)
class Plugin(Origin):
    """A plugin that was taken in.

    Args:
        offers: names by kind, see :data:`~attention_plugins.hookspecs.HOOKS`.
        contract: the version of the contract that it says it needs; empty if it says none.
        code: which code it is, see :func:`~attention_plugins.registry.fingerprint`.
    """

    offers: Mapping[str, tuple[str, ...]]
    contract: str = ""
    code: str = ""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A plugin, or a part of one, that was not taken in: what went wrong, and what to do about it.

    ``stage`` says how far it came: ``blocked`` is only the allow-list's doing, and ``quarantine``
    means that an earlier process did not survive it.
    """

    plugin: str
    distribution: str
    stage: Stage
    message: str
    advice: str
    version: str = ""
    module: str = ""
    built_in: bool = False

    @classmethod
    def of(cls, origin: Origin, stage: Stage, message: str, advice: str) -> "Failure":
        """What went wrong with a plugin that comes from there."""
        return cls(
            plugin=origin.name, distribution=origin.distribution, version=origin.version,
            module=origin.module, built_in=origin.built_in,
            stage=stage, message=message, advice=advice,
        )  # fmt: skip


GROUP = "attention_plugins"
DISTRIBUTION = "attention-workbench"
# Whose the scorings are that a program defined for itself.
NOTEBOOK = gettext_noop("a notebook")

# More records than any plugin means to yield: a generator without end must not hang a worker.
_MOST_RECORDS = 1000


@dataclass(frozen=True)
class Source(Origin):
    """A place to get a plugin from, before anything of it is imported."""

    find: Callable[[], Any] = field(compare=False, kw_only=True)

    def __str__(self) -> str:
        return f"{self.distribution} ({self.name})"

    def load(self) -> Any:
        """Import the plugin; :class:`Refused` if that raises, or asks the process to exit."""
        try:
            return self.find()
        except BaseException as error:
            let_go(error)
            raise Refused(
                "import",
                last_line(error),
                f'update or reinstall {self.distribution}; python -c "import '
                f'{self.module.partition(":")[0]}" shows the whole traceback',
            ) from error


def sources() -> Iterator[Source]:
    """The built-ins, then every entry point of the group, by distribution and name."""
    for module in filter(None, (hook.built_ins for hook in HOOKS.values())):
        find = functools.partial(importlib.import_module, module)
        name = module.rpartition(".")[2]
        yield Source(name, DISTRIBUTION, own_version(), module, built_in=True, find=find)
    found = []
    for entry in metadata.entry_points(group=GROUP):
        name, version = gettext_noop("unknown distribution"), ""
        if entry.dist is not None and entry.dist.name:
            name, version = entry.dist.name, entry.dist.version or ""
        found.append(Source(entry.name, name, version, entry.value, find=entry.load))
    yield from sorted(found, key=lambda source: (source.distribution, source.name))


@functools.cache
def own_version() -> str:
    """The workbench's version; empty where it runs from its source folder, not installed."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return ""


def implementations(plugin: Any, source: Source) -> list[tuple[str, Callable[[], Any]]]:
    """The plugin's hook implementations as ``(kind, function)``.

    Refused: another contract, a misspelt hook, arguments, a wrapper, or no hook at all.
    """
    _check_contract(getattr(plugin, "ATTENTION_CONTRACT", None), source)
    # A manager of its own: what one plugin does to it cannot meet another plugin.
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    kinds = {hook.name: kind for kind, hook in HOOKS.items()}
    try:
        manager.register(plugin, str(source))
    except Exception as error:
        message = (str(error).strip().splitlines() or [repr(error)])[-1]
        raise Refused("hooks", message, "the hooks take no arguments") from error
    found = []
    for caller in manager.get_hookcallers(plugin) or ():
        for implementation in caller.get_hookimpls():
            if caller.name in kinds:
                _check_plain(caller.name, implementation)
                found.append((kinds[caller.name], implementation.function))
            elif not implementation.optionalhook:
                near = get_close_matches(caller.name, kinds, n=1, cutoff=0.0)
                raise Refused(
                    "hooks",
                    f"there is no hook {caller.name}; did you mean {near[0]}?",
                    f"the hooks are {', '.join(kinds)}",
                )
    if not found:
        raise Refused(
            "hooks",
            f"{source.module} implements no hook",
            f"put @hookimpl above a function named {' or '.join(kinds)}",
        )
    return found


def _check_plain(name: str, implementation: pluggy.HookImpl) -> None:
    if implementation.wrapper or implementation.hookwrapper:
        raise Refused(
            "hooks",
            f"{name} is a hook wrapper, which could change other plugins' records",
            "yield records from a plain @hookimpl",
        )


def _check_contract(needed: object, source: Source) -> None:
    """Within a major version hooks only gain arguments: what fits an older minor one fits."""
    if needed is None:
        return
    offered = ".".join(map(str, CONTRACT_VERSION))
    match = re.fullmatch(r"(\d+)(?:\.(\d+))?", needed) if isinstance(needed, str) else None
    if match is None:
        raise Refused(
            "contract",
            f"ATTENTION_CONTRACT is {needed!r}, which is no version",
            f'write it like "{offered}"',
        )
    major, minor = int(match[1]), int(match[2] or 0)
    if major < CONTRACT_VERSION[0]:
        raise Refused(
            "contract",
            f"it was written for contract {needed}; this workbench has {offered}",
            f"update {source.distribution} to a version for contract {offered}",
        )
    if (major, minor) > CONTRACT_VERSION:
        raise Refused(
            "contract",
            f"it needs contract {needed}; this workbench has {offered}",
            f"update {DISTRIBUTION}, or take a version of {source.distribution} "
            f"for contract {offered}",
        )


def drain(
    kind: str, function: Callable[[], Iterable[Spec]], source: Source
) -> tuple[list[Spec], list[Refused]]:
    """Call one hook implementation: the good records it yielded, and what was wrong with more."""
    hook, records, faults = HOOKS[kind], [], []
    article = gettext_noop(f"{hook.record.__name__} records")
    try:
        yielded = function()
        if not isinstance(yielded, Iterable):
            got = type(yielded).__name__
            message = gettext_noop(f"{hook.name} returned {got}, need an iterable of {article}")
            return [], [Refused("record", message, f"yield each {hook.noun}, or return a list")]
        for record in itertools.islice(yielded, _MOST_RECORDS + 1):
            if len(records) + len(faults) == _MOST_RECORDS:
                message = gettext_noop(f"{hook.name} yielded more than {_MOST_RECORDS} records")
                faults.append(Refused("record", message, "end the generator"))
            elif not isinstance(record, hook.record):
                got = type(record).__name__
                message = gettext_noop(f"{hook.name} yielded {got}, need {article}")
                faults.append(Refused("record", message, f"make it a {hook.record.__name__}"))
            elif is_formula(record.name):
                message = gettext_noop(f"{hook.name} yielded a scoring of the name {record.name}")
                advice = gettext_noop(
                    'names that begin with "=" are formulas as typed; give it another name'
                )
                faults.append(Refused("record", message, advice))
            else:
                records.append(record)
    except BaseException as error:
        let_go(error)
        message = gettext_noop(
            f"{hook.name} raised after {len(records)} records: {last_line(error)}"
        )
        advice = gettext_noop(f"report it to the authors of {source.distribution}, or update it")
        faults.append(Refused("call", message, advice))
    return records, faults

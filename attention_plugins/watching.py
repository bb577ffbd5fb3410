"""Whose code comes next: told beforehand to whoever watches over this process.

A plugin may hang or end the process where no ``except`` reaches. The watcher then knows whom to
blame, and starts the next process without it.
"""

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

Tell = Callable[[Mapping[str, Any] | None], None]


@dataclass(frozen=True)
class Origin:
    """Whose code it is.

    Args:
        name: of its entry point.
        distribution, version: of the package that brought it.
        module: what the entry point names.
        built_in: whether it comes with the workbench.
    """

    name: str
    distribution: str
    version: str
    module: str
    built_in: bool = False


class _Watch:
    tell: Tell | None = None
    quarantined: Mapping[tuple[str, str], str] = {}


def watch(tell: Tell, quarantined: Iterable[Mapping[str, str]] = ()) -> None:
    """Be told of every plugin from elsewhere before its code runs, and of None afterwards.

    Args:
        tell: gets ``plugin``, ``distribution`` and ``paths``: where its modules lie.
        quarantined: what must not be loaded: ``plugin``, ``distribution``, ``reason``.
    """
    _Watch.tell = tell
    _Watch.quarantined = {
        (entry["plugin"], entry["distribution"]): entry["reason"] for entry in quarantined
    }


def quarantined(suspect: Any) -> str:
    """Why a plugin, or what else has an :class:`Origin`'s fields, must not be loaded."""
    return _Watch.quarantined.get((suspect.name, suspect.distribution), "")


@contextmanager
def running(suspect: Any) -> Iterator[None]:
    """In here, code of that plugin runs."""
    if _Watch.tell is None or suspect.built_in:
        yield
        return
    known = {"plugin": suspect.name, "distribution": suspect.distribution}
    _Watch.tell({**known, "paths": _paths(suspect.module)})
    try:
        yield
    finally:
        _Watch.tell(None)


def _paths(module: str) -> list[str]:
    with suppress(Exception):  # a broken finder says so again when the import is tried
        spec = importlib.util.find_spec(module.partition(":")[0].partition(".")[0])
        if spec is not None:
            return [*(spec.submodule_search_locations or ()), *filter(None, [spec.origin])]
    return []

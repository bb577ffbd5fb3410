"""Whose code comes next: told beforehand to whoever watches over this process.

A plugin may hang or end the process where no ``except`` reaches. The watcher then knows whom to
blame, and starts the next process without it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Protocol

Tell = Callable[[Mapping[str, Any] | None], None]


class Suspect(Protocol):
    """What both a source and a plugin know of themselves."""

    @property
    def name(self) -> str:
        """Of its entry point."""
        ...

    @property
    def distribution(self) -> str:
        """The package that brought it."""
        ...

    @property
    def module(self) -> str:
        """What the entry point names."""
        ...

    @property
    def built_in(self) -> bool:
        """Whether it comes with the workbench."""
        ...


class _Watch:
    """Who is told in this process, and whom it must not load."""

    tell: Tell | None = None
    quarantined: Mapping[tuple[str, str], str] = {}


def watch(tell: Tell, quarantined: Iterable[Mapping[str, str]] = ()) -> None:
    """Be told of every plugin from elsewhere before its code runs, and of None afterwards.

    Args:
        tell: gets ``plugin``, ``distribution`` and ``paths``: where its modules lie.
        quarantined: plugins that must not be loaded: ``plugin``, ``distribution``, and the
            ``reason`` in a sentence.
    """
    _Watch.tell = tell
    _Watch.quarantined = {
        (entry["plugin"], entry["distribution"]): entry["reason"] for entry in quarantined
    }


def quarantined(suspect: Suspect) -> str:
    """Why the plugin must not be loaded in this process; empty if it may be."""
    return _Watch.quarantined.get((suspect.name, suspect.distribution), "")


@contextmanager
def running(suspect: Suspect) -> Iterator[None]:
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
    """The folders or the file of a module's top package, without importing it."""
    with suppress(Exception):  # a broken finder says so again when the import is tried
        spec = importlib.util.find_spec(module.partition(":")[0].partition(".")[0])
        if spec is not None:
            return [*(spec.submodule_search_locations or ()), *filter(None, [spec.origin])]
    return []

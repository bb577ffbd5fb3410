"""The pages, found through one door: the workbench's own, and those that packages bring.

A page is a Python package whose ``page.py`` declares ``PAGE``. A worker computes for it by
``perform(request, context)`` of its ``task.py``, and reads its ``OPTIONS`` from ``task_offer.py``;
texts in other languages lie beside both. What the menu says of it is an :class:`Entry`. Those of
the workbench stand in one table; a package names its own in the entry-point group
``attention_pages``, by the page's name in addresses, links and requests::

    [project.entry-points.attention_pages]
    sharpness = "attention_sharpness:ENTRY"

The page process imports such a page only after a process of its own has, see
:mod:`dashboard.ui.navigation`: it must be quick, and without torch. What it breaks costs it alone.
"""

import functools
import importlib
import os
import re
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import metadata

from packaging.utils import canonicalize_name

from dashboard.language import gettext_noop, look_beside, said_in
from dashboard.records.text import without_folders

GROUP = "attention_pages"
_BUILT_IN = "dashboard.features"  # whose ``ENTRIES`` are those of the workbench, by their names
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}\Z")
# Addresses of the server itself, and tasks that are no page's.
_RESERVED = {"app", "catalogue", "component", "formula", "media", "preview", "static"}
_ALLOW_LIST = "ATTENTION_PLUGINS"
_LONGEST = 300  # characters of what an exception says


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What the menu says of a page.

    Args:
        title, icon: in the menu; the icon is one of Material's.
        section: of the menu; a page of none stands in the menu itself.
        purpose: what it is for, in a few words.
        path: in the address; the page's name by default, and always of a page from elsewhere.
            Empty where the page has no address, and so no place in the menu.

    The rest is filled in where the page is found: the ``name``, the ``module`` (its package), the
    ``distribution`` and ``version`` of whoever brought it, the ``declared`` name of the entry, and
    the ``problem`` for which it is refused, in a sentence.
    """

    title: str
    icon: str = "extension"
    section: str = "Extend"
    purpose: str = ""
    path: str = ""
    name: str = ""
    module: str = ""
    distribution: str = ""
    version: str = ""
    declared: str = ""
    problem: str = ""
    built_in: bool = False

    def said(self, text: str, language: str) -> str:
        """One of its texts in one of the languages."""
        return said_in(language, text, self.module if self.built_in else f"{self.module}.page")


@functools.cache
def own() -> tuple[Entry, ...]:
    """The pages of the workbench; the first is where the bare address leads."""
    return tuple(
        replace(one, name=name, path=one.path or name, module=f"{_BUILT_IN}.{name}", built_in=True)
        for name, one in importlib.import_module(_BUILT_IN).ENTRIES.items()
    )


@functools.cache
def found() -> tuple[Entry, ...]:
    """Every page, ours first, as far as it is known before anything of a package is imported."""
    theirs = sorted(_declared(), key=lambda entry: (entry.distribution, entry.name))
    taken = {word for entry in own() for word in (entry.name, entry.path)} | _RESERVED
    offered = Counter(entry.name for entry in theirs)
    return (*own(), *(_refused(entry, taken, offered) for entry in theirs))


def _declared() -> Iterator[Entry]:
    for point in metadata.entry_points(group=GROUP):
        yield Entry(
            title=point.name.replace("_", " ").capitalize(), name=point.name, path=point.name,
            module=point.value.partition(":")[0].strip(), declared=point.value,
            distribution=point.dist.name if point.dist else gettext_noop("unknown distribution"),
            version=point.dist.version if point.dist else "",
        )  # fmt: skip


def _refused(entry: Entry, taken: set[str], offered: Counter[str]) -> Entry:
    allowed = os.environ.get(_ALLOW_LIST)
    listed = {canonicalize_name(name.strip()) for name in (allowed or "").split(",")}
    problem = ""
    if not _NAME.match(entry.name):
        problem = gettext_noop(
            "its name cannot stand in an address: need a letter, then up to 39 of a-z, 0-9, _, -"
        )
    elif entry.name in taken:
        problem = gettext_noop("its name is taken by the workbench: choose another")
    elif offered[entry.name] > 1:
        problem = gettext_noop("another package brings a page of this name: remove one of them")
    elif allowed is not None and canonicalize_name(entry.distribution) not in listed:
        problem = gettext_noop("its package is not on the allow-list ATTENTION_PLUGINS")
    return replace(entry, problem=problem, path="" if problem else entry.path)


def brought() -> list[Entry]:
    """The pages of packages whose names are valid; their modules may be faulty."""
    return [entry for entry in found() if not entry.built_in and not entry.problem]


look_beside(lambda: [entry.module for entry in brought()])


def error_line(error: BaseException) -> str:
    """What the error says, in a line, and where it was raised."""
    message = (str(error).strip().splitlines() or [""])[0][:_LONGEST]
    line = f"{type(error).__name__}: {message}"
    if not isinstance(error, SyntaxError):  # which says it by itself
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if not frame.filename.startswith("<frozen")]
        line = f"{line} ({os.path.basename(own[-1].filename)}, line {own[-1].lineno})"
    return without_folders(line)

"""Races at rest: those that are shipped, and those in the data folder, a folder each.

A race is made by ``python -m attention_plugins race``, or is taken in from another dashboard. Its
plan is read here, which takes no torch; its outcomes are read by a worker.
"""

import functools
import json
import re
import secrets
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from attention_plugins.home import SHIPPED as SHIPPED_FOLDER
from dashboard.records.text import without_folders
from dashboard.storage import files
from dashboard.storage.entries import parse_object
from dashboard.storage.files import StorageError

MOST_OF_ONE_OWNER = 100
_DRAFT = ".draft-"
_LONGEST = 48  # characters of a name that is made here, with room for a number
_MOST_OF_ONE_NAME = 100
_MB = 2**20


def add(name: str, parts: Mapping[str, bytes], owner: str, *, megabytes: int, total: int) -> str:
    """Take a race in; its name here, which differs where there is one of that name.

    ``parts`` are its :data:`PLAN` and its :data:`OUTCOMES`, as a worker has checked and written
    them. All that this owner took in may have so many ``megabytes``, that of all owners ``total``.

    ValueError: no room.
    """
    root, size = files.home() / FOLDER, sum(map(len, parts.values()))
    _see_room(root, owner, size, megabytes * _MB, total * _MB)
    draft = root / f"{_DRAFT}{secrets.token_hex(8)}"
    with files.writing(root):
        try:
            files.make_folder(draft)
            files.replace(draft / OUTCOMES, parts[OUTCOMES])
            note = {"owner": owner, "when": time.time()}
            files.replace(draft / IMPORTED, json.dumps(note).encode())
            files.replace(draft / PLAN, parts[PLAN])
            base = slug(name)
            for free in (base, *(f"{base}-{number}" for number in range(2, _MOST_OF_ONE_NAME))):
                with suppress(OSError):
                    (root / free).mkdir()  # nobody else takes the name now
                    draft.rename(root / free)  # over an empty folder
                    files.sync(root)
                    return free
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    raise StorageError(f"cannot name a race {name!r} in {root}; give the file another name")


def remove(name: str) -> None:
    """Delete a race that was taken in.

    ValueError: it was made here, or there is none: only its maker deletes its folder.
    """
    folder = folder_of(name)
    if name in shipped() or not (folder / IMPORTED).is_file():
        raise ValueError(f"the race {name!r} was not imported; delete its folder by hand")
    with files.writing(folder):
        shutil.rmtree(folder)


def slug(name: str) -> str:
    """A name of a race made of any text, such as that of a file."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:_LONGEST]
    return plain if NAME.match(plain) and plain not in shipped() else "race"


def _see_room(root: Path, owner: str, size: int, most: int, total: int) -> None:
    sizes: list[tuple[str | None, int]] = []
    if root.is_dir():
        for path in root.iterdir():
            with suppress(OSError, ValueError):
                held = [path / name for name in (PLAN, OUTCOMES) if (path / name).is_file()]
                sizes.append((owner_of(path), sum(each.stat().st_size for each in held)))
    if sum(whose == owner for whose, _ in sizes) >= MOST_OF_ONE_OWNER:
        raise ValueError(f"need at most {MOST_OF_ONE_OWNER} imported races; remove one first")
    own = sum(taken for whose, taken in sizes if whose == owner)
    every = sum(taken for whose, taken in sizes if whose is not None)
    if own + size > most:
        raise ValueError(
            f"need at most {most // _MB:,} MB of your imported races together, got "
            f"{own / _MB:.1f} MB and {size / _MB:.1f} MB more; remove one first"
        )
    if every + size > total:
        raise ValueError(
            f"need at most {total // _MB:,} MB of all imported races together, got "
            f"{every / _MB:.1f} MB and {size / _MB:.1f} MB more; remove one first"
        )


FOLDER = "races"  # in the data folder
SHIPPED = "shipped"  # the name of the first race that comes with the workbench
PLAN, OUTCOMES = "race.json", "outcomes.jsonl"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}\Z")
LARGEST_PLAN = 2**20  # bytes
IMPORTED = "imported.json"  # beside those that were taken in, and whose they are
_LONGEST_TEXT = 2_000  # characters of a fact
_KEPT = 64


class Entrant(NamedTuple):
    """A scoring with a normaliser in a model, as :class:`attention_plugins.race` names it."""

    model: str
    scoring: str
    normaliser: str = ""

    @property
    def name(self) -> str:
        """Scoring and normaliser, such as ``scaled_dot + sparsemax``."""
        return f"{self.scoring} + {self.normaliser}" if self.normaliser else self.scoring

    @property
    def key(self) -> str:
        """The name among those of all models, such as ``transformer.scaled_dot``."""
        return f"{self.model}.{self.name}"


@dataclass(frozen=True, kw_only=True)
class RaceRecord:
    """What is known of a race without its outcomes.

    Args:
        name: of its folder; of one that is shipped as :func:`shipped` says.
        version: another one after any of its files changed.
        tasks, entrants: the data sets' names, and who learns, in the order of the plan.
        budgets: of each task ``examples``, ``epochs``, ``batch_size`` and ``rates``.
        facts: texts on its making: ``command``, ``machine``, ``commit`` and so on.
        owner: who took it in; None for one that was made here.
    """

    name: str
    folder: Path
    version: str
    tasks: tuple[str, ...]
    budgets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    entrants: tuple[Entrant, ...]
    seeds: int
    facts: Mapping[str, str] = field(default_factory=dict)
    owner: str | None = None

    @property
    def by_key(self) -> Mapping[str, Entrant]:
        """The entrants by their keys."""
        return {one.key: one for one in self.entrants}

    def at_other_budgets(
        self, task: str, entrants: Collection[Entrant], among: Iterable["RaceRecord"]
    ) -> tuple["RaceRecord", ...]:
        """Those that have a task with the same data, and two of the entrants, at other epochs.

        Of each number of epochs the one that shares the most entrants.
        """
        found, (epochs, *data) = dict[int, tuple[int, RaceRecord]](), self._given(task)
        for one in among:
            other, *theirs = one._given(task)
            shared = len({*one.entrants} & {*entrants})
            if theirs == data and other != epochs and shared > found.get(other, (1,))[0]:
                found[other] = shared, one
        return tuple(one for _, one in found.values())

    def at_this_budget(self, task: str, among: Iterable["RaceRecord"]) -> tuple["RaceRecord", ...]:
        """Those that have a task with the same data, epochs and rates, and others who race."""
        own = self.budgets.get(task, {})
        return tuple(
            one
            for one in among
            if one._given(task) == self._given(task) and {*one.entrants} - {*self.entrants}
            and {*one.budgets[task].get("rates", ())} == {*own.get("rates", ())}
        )  # fmt: skip

    def _given(self, task: str) -> list[int]:
        own = self.budgets.get(task, {})
        return [own.get(name, 0) for name in ("epochs", "examples", "batch_size")]


def folder_of(name: str) -> Path:
    """The folder of a race, which need not exist. ValueError: no name of a race."""
    if name == SHIPPED or name in shipped():
        return SHIPPED_FOLDER / name.replace(SHIPPED, "race", 1)
    if not NAME.match(name):
        raise ValueError(
            f"need the name of a race, up to 60 letters, digits, dots and dashes: {name[:60]!a}"
        )
    return files.home() / FOLDER / name


def races(owner: str | None = None) -> tuple[list[RaceRecord], list[tuple[str, str]]]:
    """The races that can be read, shipped ones first, then by name; others with the reason.

    What others than ``owner`` have taken in is left out; nothing is where that is None.
    """
    found, damaged = [], []
    for name in _names():
        try:
            one = read(name)
        except FileNotFoundError:
            continue
        except (ValueError, OSError) as error:
            damaged.append((name, without_folders(str(error))))
            continue
        if owner is None or one.owner in (None, owner):
            found.append(one)
    return found, damaged


def read(name: str) -> RaceRecord:
    """What is known of a race.

    Raises:
        ValueError: no name of a race, or a plan that cannot be read.
        FileNotFoundError: there is no such race.
    """
    folder = folder_of(name)
    plan = folder / PLAN
    version = "-".join(_stamp(path) for path in (plan, folder / OUTCOMES))
    if not plan.is_file():
        raise FileNotFoundError(f"there is no race {name!r} here")
    return _read(name, folder, version)


def done(race: RaceRecord) -> int:
    """How many of its trainings are done by now."""
    try:
        return (race.folder / OUTCOMES).read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def shipped() -> tuple[str, ...]:
    """The races that come with the workbench: of each folder ``race…`` among what is shipped."""
    folder = SHIPPED_FOLDER
    return _shipped(folder, folder.stat().st_mtime_ns if folder.is_dir() else 0)


@functools.lru_cache(maxsize=_KEPT)
def _shipped(folder: Path, _: int) -> tuple[str, ...]:
    folders = sorted(path.parent.name for path in folder.glob(f"race*/{PLAN}"))
    return tuple(name.replace("race", SHIPPED, 1) for name in folders)


def _names() -> Iterator[str]:
    yield from shipped()
    with suppress(OSError):
        for path in sorted((files.home() / FOLDER).iterdir()):
            if NAME.match(path.name) and path.name not in shipped() and path.is_dir():
                yield path.name


def _stamp(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return "0"
    return f"{found.st_mtime_ns:x}.{found.st_size:x}"


@functools.lru_cache(maxsize=_KEPT)
def _read(name: str, folder: Path, version: str) -> RaceRecord:
    held = parse_object(files.read_bounded(folder / PLAN, LARGEST_PLAN), PLAN)
    try:
        plan = held["plan"]
        facts = held.get("facts")
        facts = facts if isinstance(facts, Mapping) else {}
        entrants = tuple(Entrant(**one) for one in plan["contestants"])
        budgets = {str(task): dict(budget) for task, budget in plan["tasks"].items()}
        if not entrants or not budgets:
            raise ValueError("need tasks and contestants")
        if not all(isinstance(part, str) for one in entrants for part in one):
            raise TypeError("need names that are texts")
        return RaceRecord(
            name=name, folder=folder, version=version, tasks=tuple(budgets), budgets=budgets,
            entrants=entrants, seeds=int(plan["seeds"]), owner=owner_of(folder),
            facts={str(key)[:60]: str(value)[:_LONGEST_TEXT] for key, value in facts.items()},
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{PLAN} is no plan of a race: {error}") from error


def owner_of(folder: Path) -> str | None:
    """Who took the race of a folder in; None if it was made here.

    ValueError: the note on it is damaged.
    """
    try:
        note = parse_object(files.read_bounded(folder / IMPORTED, LARGEST_PLAN), IMPORTED)
    except FileNotFoundError:
        return None
    return note["owner"] if isinstance(note["owner"], str) else ""

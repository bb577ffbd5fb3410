"""What each owner has uploaded; the files themselves lie in :mod:`dashboard.storage.blobs`."""

import hashlib
import json
import re
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dashboard.storage import files
from dashboard.storage.files import StorageError

FOLDER = "uploads"  # in the data folder
_LOCAL = "local"  # the user of this machine
_SECONDS_FOR_LOCK = 10.0
_MB = 2**20
_LARGEST_JSON = 2**20  # bytes
_NAMED = re.compile(r"upload(?::|%3[Aa])([0-9a-f]{64})")


@dataclass(frozen=True)
class Upload:
    """One file of an owner: its sha256, what they call it, what it was uploaded as, its bytes.

    ``when`` is in seconds since 1970; ``address`` is a digest of where its owner's browser was,
    empty for this machine.
    """

    digest: str
    name: str
    kind: str
    size: int
    when: float = field(default_factory=time.time)
    address: str = ""


@dataclass(frozen=True, kw_only=True)
class Room:
    """Megabytes that uploads may take: an owner's, those of all at one address, and all."""

    owner: int
    address: int
    total: int


class Uploads:
    """The uploads of one owner, who is empty for the user of this machine.

    Any number of processes may share a folder. Every method that changes it raises
    ``StorageError`` where it cannot be written.
    """

    def __init__(self, owner: str, root: Path | None = None) -> None:
        self._folder = (root or files.home()) / FOLDER
        name = hashlib.sha256(owner.encode()).hexdigest()[:32] if owner else _LOCAL
        self._path = self._folder / f"{name}.json"

    def list(self, kind: str = "") -> list[Upload]:
        """Return the owner's uploads, of one kind or all, the newest first."""
        found = [one for one in _read(self._path) if kind in ("", one.kind)]
        return sorted(found, key=lambda one: -one.when)

    def add(self, upload: Upload, room: Room) -> None:
        """Note an upload; one of the same content and kind is replaced.

        Who has uploads already takes no more than half of the room that others have left, and so
        do all owners at one address. So new owners find room, however many one visitor poses as.

        ValueError: more than there is room for.
        """
        with _changing(self._path) as known:
            same = (upload.digest, upload.kind)
            others = [one for one in known if (one.digest, one.kind) != same]
            used, after = _megabytes(others), _megabytes([*others, upload])
            if after > room.owner:
                raise ValueError(
                    f"need uploads of at most {room.owner:,} MB in all, got {used:.1f} MB and "
                    f"{after - used:.1f} MB more; remove one of yours first"
                )
            elsewhere = [
                one for path in self._folder.glob("*.json") if path != self._path
                for one in _read(path)
            ]  # fmt: skip
            if self._path.stem != _LOCAL:
                _check_share(used, after, _megabytes(elsewhere), room.total)
            if upload.address:
                near = [one for one in (*elsewhere, *others) if one.address == upload.address]
                far = [one for one in (*elsewhere, *others) if one.address != upload.address]
                before, together = _megabytes(near), _megabytes([*near, upload])
                if together > room.address:
                    raise ValueError(
                        f"need uploads of at most {room.address:,} MB from your network, got "
                        f"{before:.1f} MB and {together - before:.1f} MB more; remove one first"
                    )
                _check_share(before, together, _megabytes(far), room.total)
            known[:] = [*others, upload]

    def remove(self, digest: str) -> bool:
        """Forget an upload; whether nobody has it any more, so that its file may go."""
        with _changing(self._path) as known:
            known[:] = [one for one in known if one.digest != digest]
        return digest not in owned(self._folder)


def forget(digests: Collection[str], root: Path | None = None) -> None:
    """Forget uploads, whoever has them."""
    for path in ((root or files.home()) / FOLDER).glob("*.json"):
        if any(one.digest in digests for one in _read(path)):
            with _changing(path) as known:
                known[:] = [one for one in known if one.digest not in digests]


def named_uploads(text: str) -> set[str]:
    """The sha256 of every upload that a link, a request or a card names."""
    return set(_NAMED.findall(text))


def uploads_named_in(folder: Path) -> set[str]:
    """The sha256 of every upload that a JSON file names, one folder below this one."""
    found = set()
    for path in folder.glob("*/*.json"):
        with suppress(OSError, ValueError):
            found |= named_uploads(files.read_bounded(path, _LARGEST_JSON).decode("utf-8"))
    return found


@contextmanager
def _changing(path: Path) -> Iterator[list[Upload]]:
    with files.writing(path.parent):
        files.make_folder(path.parent)
        with files.locked(path.with_suffix(".lock"), _SECONDS_FOR_LOCK) as held:
            if not held:
                raise StorageError("the list of your uploads is in use; try again")
            known = list(_read(path))
            yield known
            files.replace(path, json.dumps([asdict(one) for one in known]).encode())


def _megabytes(uploads: Iterable[Upload]) -> float:
    return sum({one.digest: one.size for one in uploads}.values()) / _MB


def _check_share(before: float, after: float, others: float, total: int) -> None:
    """See that somebody who has some takes at most half of what others have left, in MB."""
    if before and after > before and after > (total - others) / 2:
        raise ValueError(
            f"no room: {total - others - before:.0f} MB are left on this server, and some of them "
            "are kept for others; remove one of yours first"
        )


def owned(folder: Path) -> set[str]:
    """The sha256 of every upload, by :data:`FOLDER` of the data folder."""
    return {one.digest for path in folder.glob("*.json") for one in _read(path)}


def name_of(digest: str, kind: str, root: Path | None = None) -> str:
    """What an uploaded file is called, whoever uploaded it last; empty where nobody has it.

    Whoever knows a digest was given a link with it: no two files share one.
    """
    paths = ((root or files.home()) / FOLDER).glob("*.json")
    every = (one for path in paths for one in _read(path))
    found = [one for one in every if (one.digest, one.kind) == (digest, kind)]
    return max(found, key=lambda one: one.when).name if found else ""


def _read(path: Path) -> Iterator[Upload]:
    with suppress(OSError, ValueError):
        for entry in json.loads(path.read_text("utf-8")):
            if isinstance(entry, dict) and _is_upload(entry):
                yield Upload(**entry)


def _is_upload(entry: dict[str, Any]) -> bool:
    types = {"digest": str, "name": str, "kind": str, "size": int, "when": float, "address": str}
    entry = {"address": "", **entry}  # older ones have none
    fits = entry.keys() == types.keys() and all(type(entry[n]) is t for n, t in types.items())
    return fits and bool(files.DIGEST.match(entry["digest"]))

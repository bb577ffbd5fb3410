"""Which code a plugin is: a name may stand for another formula tomorrow."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

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

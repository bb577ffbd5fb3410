"""Disks that are soon full, and disks whose power is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NEEDS_PROC = pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="names files through /proc"
)


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of that size at a folder. Where it cannot be mounted, the test is skipped."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    done = shutil.which("mount") and subprocess.run(command, capture_output=True, check=False)
    if not done or done.returncode:
        pytest.skip("needs the right to mount a small file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Disk:
    """Remembers what was synced; SQLite's own files count as synced, as it syncs each commit."""

    def __init__(self, root: Path, monkeypatch) -> None:
        self.root = root
        self.files: dict[int, bytes] = {}
        self.folders: dict[int, dict[str, int]] = {}
        self.steps: list[Path] = []
        fsync, move = os.fsync, os.replace

        def noting_fsync(descriptor):
            fsync(descriptor)
            self.note(Path(os.readlink(f"/proc/self/fd/{descriptor}")))
            self.cut()

        def noting_move(source, target):
            move(source, target)
            self.cut()

        monkeypatch.setattr(os, "fsync", noting_fsync)
        monkeypatch.setattr(os, "replace", noting_move)

    def note(self, path: Path) -> None:
        if path.is_dir():
            held = {each.name: each.stat().st_ino for each in path.iterdir()}
            self.folders[path.stat().st_ino] = held
        else:
            self.files[path.stat().st_ino] = path.read_bytes()

    def cut(self) -> Path:
        """Lose the power now; return the folder as it is found afterwards."""
        found = self.root.with_name(f"{self.root.name} after {len(self.steps)}")
        self._copy(self.root, found)
        self.steps.append(found)
        return found

    def _copy(self, folder: Path, target: Path) -> None:
        target.mkdir()
        synced = self.folders.get(folder.stat().st_ino, {})
        for each in folder.iterdir():
            if each.name.startswith("runs.db") and not each.name.endswith("-shm"):
                shutil.copy(each, target / each.name)
            elif synced.get(each.name) == each.stat().st_ino:
                if each.is_dir():
                    self._copy(each, target / each.name)
                else:
                    content = self.files.get(each.stat().st_ino, b"")
                    (target / each.name).write_bytes(content)

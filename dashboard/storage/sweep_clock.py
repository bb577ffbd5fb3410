"""A clock by which things may be deleted for good: one that does not believe in leaps."""

import json
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from dashboard.storage.files import StorageError, make_folder, read_bounded, replace, writing

_DAY = 86_400.0  # seconds
_UNDOUBTED = 3 * _DAY  # that may pass while no server runs, such as on a weekend
_LARGEST = 1000  # bytes of its file

_log = logging.getLogger(__name__)


class SweepClock:
    """Tells until when things have surely expired. Any number of processes may share its file.

    A machine whose clock was set wrong would delete all at once what expires. So of the time since
    the last look only as much is believed as this process has run, and three days. A later time is
    believed once servers have run for a day with it. Where there is no such file yet, the time is
    believed at which the ``newest`` thing was made, in seconds since 1970, or None if there is
    nothing. ``running`` are seconds that pass as they should, whatever the wall clock is set to.
    """

    def __init__(
        self, path: Path, newest: Callable[[], float | None], *,
        wall: Callable[[], float] | None = None, running: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._path, self._newest, self._running = path, newest, running
        self._wall = wall
        self._lock = threading.Lock()
        self._looked = running()
        self._doubts = False

    def now(self) -> float:
        """Return the time that may be relied on, in seconds since 1970.

        StorageError: what is asked for the newest thing cannot be read.
        """
        with self._lock:
            wall, running = (self._wall or time.time)(), self._running()
            passed, self._looked = running - self._looked, running
            believed, waited = self._read(wall)
            if wall <= believed + passed + _UNDOUBTED:
                believed, waited, self._doubts = wall, 0.0, False
            else:
                waited += passed if self._doubts else 0.0
                if not self._doubts:
                    _log.warning(
                        "the clock is %.0f days after the last look at what expires; nothing "
                        "expires until this server has run for a day", (wall - believed) / _DAY,
                    )  # fmt: skip
                self._doubts = True
                if waited >= _DAY:
                    believed, waited, self._doubts = wall, 0.0, False
            self._write(believed, waited)
            return believed

    def _read(self, wall: float) -> tuple[float, float]:
        with suppress(OSError, ValueError, TypeError, KeyError):
            held = json.loads(read_bounded(self._path, _LARGEST))
            return float(held["believed"]), float(held["waited"])
        newest = self._newest()
        return wall if newest is None else newest, 0.0

    def _write(self, believed: float, waited: float) -> None:
        with suppress(StorageError), writing(self._path):
            make_folder(self._path.parent)
            replace(self._path, json.dumps({"believed": believed, "waited": waited}).encode())

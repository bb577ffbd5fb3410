"""What all sessions of this process share: the workers, the trainings and the catalogue."""

from __future__ import annotations

import threading
from collections.abc import Collection

import streamlit as st

from dashboard.jobs.backend import Event, JobBackend
from dashboard.jobs.pool import LocalPool
from dashboard.jobs.sweeper import Sweeper
from dashboard.jobs.trainings import Trainings
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request
from dashboard.settings import settings
from dashboard.ui.connected import connected

_REFRESH_WAIT = 15.0  # seconds in which a worker starts and reads the catalogue


class Workbench:
    """The engine and the catalogue, shared by all sessions of this process."""

    def __init__(self, backend: JobBackend) -> None:
        self.backend = backend
        self.trainings = Trainings(taken_names=self._checkpoints, on_export=self.refresh)
        self.generation = 0
        self._lock = threading.Lock()
        self._job = ""
        self._catalogue: Catalogue | None = None

    def catalogue(self, patience: float = 0.0) -> Catalogue | Event | None:
        """What is installed; None while a worker still reads it, the event if that failed.

        Args:
            patience: seconds to wait for it.
        """
        with self._lock:
            known = self._catalogue
            if known is not None and not self._job:
                return known
            self._job = self._job or self.backend.submit(Request.make("catalogue"))
            job = self._job
        event = self.backend.wait(job, patience if known is None else 0.0)
        if event is None or event.result is None:
            return known or event
        with self._lock:
            if job == self._job:
                self._catalogue, self._job = Catalogue.of(event.result.facts), ""
            return self._catalogue

    def close(self) -> None:
        """End all workers; trainings that wait or run are found on disk by the next server."""
        self.backend.close()
        self.trainings.close()

    def reload(self) -> None:
        """Start new workers, which find newly installed plugins; forget everything computed."""
        self.backend.reload(retry_quarantined=True)
        self.trainings.reload()
        with self._lock:
            self._job, self._catalogue = "", None
            self.generation += 1

    def refresh(self) -> None:
        """Read the catalogue once more; the known one serves until then, and all jobs go on.

        Waits a few seconds, so that whoever follows a link to what is new finds it.
        """
        self.backend.reload()
        with self._lock:
            job = self._job = self.backend.submit(Request.make("catalogue"))
        self.backend.wait(job, _REFRESH_WAIT)

    def _checkpoints(self) -> Collection[str]:
        known = self.catalogue()
        return known.checkpoints if isinstance(known, Catalogue) else ()


def workbench() -> Workbench:
    """The one of this process; its workers start with it."""
    return _shared()


@st.cache_resource(show_spinner=False)
def _shared() -> Workbench:
    pool = LocalPool()
    Sweeper(pool, connected, settings().session_grace).start()
    return Workbench(pool)

"""What all sessions of this process share: the workers, the trainings and the catalogue."""

import threading
from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Literal

import streamlit as st
from streamlit import runtime

from dashboard.jobs.backend import Event
from dashboard.jobs.engine import Engine
from dashboard.jobs.pool import LocalPool, Sweeper, chosen_engine
from dashboard.jobs.racing import Racing
from dashboard.jobs.training_jobs import training_pool
from dashboard.jobs.trainings import Trainings
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request
from dashboard.settings import settings
from dashboard.ui.turns import TURNS


def connected(session: str) -> bool:
    """Whether a session is connected; True without a server to ask. Any thread may ask."""
    return not runtime.exists() or runtime.get_instance().is_active_session(session)


_CATALOGUE = Request.make("catalogue")


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """A job that reads the catalogue, maybe by new workers that then serve."""

    job: str
    renews: bool = False
    reloads: bool = False


class Workbench:
    """The workers, the trainings and the catalogue, shared by all sessions of this process.

    Attributes:
        trainings, racing: what its trainers do.
        generation: how often plugins were reloaded.
        failure: how the last reload of plugins ended, if it failed.
    """

    def __init__(self, backend: LocalPool, engine: Engine | None = None) -> None:
        self.backend = backend
        self.trainings = Trainings(
            make_backend=partial(training_pool, engine),
            taken_names=self._checkpoints, on_export=self.refresh,
        )  # fmt: skip
        self.racing = Racing(self.trainings.jobs.backend)
        self.generation = 0
        self.failure: Event | None = None
        self._lock = threading.Lock()
        self._reading: _Reading | None = None
        self._then: Literal["", "refresh", "reload"] = ""  # what follows the present reading
        self._catalogue: Catalogue | None = None

    def catalogue(self, patience: float = 0.0) -> Catalogue | Event | None:
        """What is installed; None while a worker still reads it, the event if that failed.

        While it is read once more, it is what was known before. ``patience`` is in seconds.
        """
        with self._lock:
            known, reading = self._catalogue, self._reading
            if reading is None:
                if known is not None:
                    return known
                reading = self._reading = _Reading(job=self.backend.submit(_CATALOGUE))
        with TURNS.waiting() if known is None and patience else nullcontext():
            event = self.backend.wait(reading.job, patience if known is None else 0.0)
        if event is not None and self._take(reading, event):
            self.trainings.jobs.reload()
        return self._catalogue or event

    def _take(self, reading: _Reading, event: Event) -> bool:
        """Take over what was read; whether the plugins are others now."""
        with self._lock:
            if reading is not self._reading:
                return False
            if event.result is None:
                self.failure = event if reading.reloads else self.failure
                if self._catalogue is not None:
                    self._reading = None
            else:
                self._catalogue, self._reading = Catalogue.of(event.result.facts), None
                self.generation += reading.reloads
            if self._then:
                self._renew(reloads=self._then == "reload")
            return reading.reloads and event.result is not None

    def _renew(self, *, reloads: bool) -> None:
        self._then = ""
        job = self.backend.renew(_CATALOGUE, retry_quarantined=reloads)
        self._reading = _Reading(job=job, renews=True, reloads=reloads)

    def close(self) -> None:
        """End all workers; trainings that wait or run are found on disk by the next server."""
        self.backend.close()
        self.trainings.close()

    def reload(self) -> None:
        """Have new workers take over, which find newly installed plugins, once they are ready.

        Until then everything goes on as before; then all that was computed is forgotten. Whoever
        asks meanwhile joins in.
        """
        found = self.catalogue()
        with self._lock:
            self.failure = None
            reading = self._reading
            if reading is None or not reading.renews or isinstance(found, Event):
                self._renew(reloads=True)
            elif not reading.reloads:
                self._then = "reload"

    def reloading(self) -> list[Event] | None:
        """What has happened since plugins are being reloaded; None if they are not."""
        found = self.catalogue()
        with self._lock:
            reading, then = self._reading, self._then
        if then == "reload":
            return []
        if reading is None or not reading.reloads or isinstance(found, Event):
            return None
        return self.backend.events(reading.job)

    def rereading(self) -> bool:
        """Whether the catalogue, which is known, is being read once more."""
        self.catalogue()  # takes over what was read meanwhile
        reading = self._reading
        return reading is not None and reading.renews

    def refresh(self) -> None:
        """Read the catalogue once more; the known one serves until then, and all jobs go on.

        It does not wait. Whoever asks for what is new before it was read sees by
        :meth:`rereading` that it may still come.
        """
        found = self.catalogue()
        with self._lock:
            reading = self._reading
            if reading is None or not reading.renews or isinstance(found, Event):
                self._renew(reloads=False)
            else:  # its workers may have read it before what is new was there
                self._then = self._then or "refresh"

    def _checkpoints(self) -> Collection[str]:
        known = self.catalogue()
        return known.checkpoints if isinstance(known, Catalogue) else ()


def workbench() -> Workbench:
    """The one of this process; its workers start with it."""
    return _shared()


@st.cache_resource(show_spinner=False)
def _shared() -> Workbench:
    engine = chosen_engine()
    pool = LocalPool(engine=engine)
    Sweeper(pool, connected, settings().session_grace).start()
    return Workbench(pool, engine)

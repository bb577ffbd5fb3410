"""What the messages of a crew's workers, and their ends, mean for what they compute."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from dashboard.jobs import errors
from dashboard.jobs.job import Computation
from dashboard.jobs.process import Message, WireError
from dashboard.jobs.quarantine import PluginSource
from dashboard.jobs.rehearsal import Ending
from dashboard.jobs.worker_state import WorkerState
from dashboard.language import gettext_noop

if TYPE_CHECKING:
    from dashboard.jobs.crew import Crew

_LOG = logging.getLogger(__name__)


class Listener:
    """Of one crew. The caller holds the lock.

    Args:
        crew: whose workers send the messages.
    """

    def __init__(self, crew: Crew) -> None:
        self._crew, self._watchdog = crew, crew.setup.watchdog
        self._origins: dict[str, tuple[str, ...]] = {}  # where plugins lie

    def handle(self, worker: WorkerState, computation: Computation, message: Message) -> None:
        """Do what a message asks for.

        Raises:
            WireError: no message that a worker sends.
        """
        worker.last_message = time.monotonic()
        match message.type:
            case "accepted":
                self._accepted(worker, computation)
            case "loading":
                worker.loading = PluginSource.from_facts(message.fields["facts"])
                self._origins[worker.loading.distribution] = worker.loading.paths
                if self._crew.rehearsing:
                    note = gettext_noop("loading {plugin}", plugin=worker.loading.distribution)
                    computation.publish("progress", note=note)
                self._watchdog.follow(worker)
            case "loaded":
                worker.loading, worker.plugin_timed_out = None, False
                self._watchdog.follow(worker)
            case "damaged":
                plugins = ", ".join(message.fields["facts"]["plugins"])
                _LOG.warning(
                    "a worker is replaced after %s: %s; it has loaded %s",
                    errors.job_name(computation.request), message.fields["note"], plugins,
                )  # fmt: skip
            case "progress":
                computation.publish("progress", **message.fields)
            case "cancelled" if computation.giving_way and not computation.stopping:
                worker.computation = None
                self._watchdog.check_in(worker)
                self._crew.requeue(computation)
            case "done" | "failed" | "cancelled" as stage:
                worker.computation = None
                self._watchdog.check_in(worker)
                computation.describe_failure(worker.process.stderr(), self._origins)
                ending = Ending(stage=stage, size=message.size, fields=message.fields)
                self._crew.finish(worker, computation, ending)
            case unknown:
                raise WireError(f"no type of message {unknown!r}")

    def _accepted(self, worker: WorkerState, computation: Computation) -> None:
        computation.started = worker.last_message
        worker.has_accepted = True
        self._crew.starts.note_job(counts=not worker.outdated)
        self._crew.setup.wakeup.notify_all()
        computation.publish("started")
        if computation.stopping:
            self._watchdog.ask_to_stop(worker, computation)
        else:
            self._watchdog.follow(worker)

    def ended(self, worker: WorkerState, code: int | None, stderr: str) -> None:
        """Find out what the end of a worker means.

        Args:
            worker: no longer one of its crew.
            code: its exit code.
            stderr: what it wrote during its last job.
        """
        crew = self._crew
        if computation := worker.computation:
            if worker.loading and not (worker.process.lost or computation.stopping):
                timeouts = crew.setup.timeouts
                reason = worker.plugin_failure(timeouts, code, stderr, self._origins)
                crew.quarantine_plugin(worker.loading, reason)
                crew.requeue(computation)
            elif computation.giving_way and not computation.stopping:
                crew.requeue(computation)
            elif computation.started or computation.stopping:
                self._end_with_worker(worker, computation, code, stderr)
            else:
                crew.requeue(computation)
        if not worker.has_accepted and not worker.outdated:
            reason = errors.last_line(stderr) or gettext_noop(
                "it ended with exit code {code}", code=code
            )
            crew.count_start_failure(reason)

    def _end_with_worker(
        self, worker: WorkerState, computation: Computation, code: int | None, stderr: str
    ) -> None:
        """End a computation whose worker has ended; try it again if only its machine was lost."""
        lost = worker.process.lost
        if lost and not computation.stopping and not computation.losses:
            computation.losses += 1
            self._crew.requeue(computation)
            return
        if lost:
            note, facts = errors.lost(computation.request, lost)
        else:
            note, facts = errors.died(computation.request, code, stderr, self._origins)
        computation.describe_failure(stderr, self._origins)
        fields = {"note": note, "facts": facts}
        self._crew.finish(worker, computation, Ending(stage="failed", fields=fields))

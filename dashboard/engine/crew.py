"""The workers of a pool: started, handed work, listened to, stopped, replaced."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from dashboard.engine import faults
from dashboard.engine.deadlines import Deadlines
from dashboard.engine.frames import FrameError
from dashboard.engine.jobs import Computation
from dashboard.engine.ledger import Ledger
from dashboard.engine.post import Patience, Post
from dashboard.engine.process import Answer, WorkerProcess
from dashboard.engine.protocol import Stage
from dashboard.engine.quarantine import Quarantine, Suspect

_STARTS_TRIED = 3
_SECONDS_TO_CLOSE = 5.0
_GONE = (EOFError, FrameError, OSError)


class Crew:
    """A thread for each worker, and one for all deadlines.

    Args:
        size: how many workers.
        command, environment: what starts one.
        ledger: where the work comes from, and where its end is written.
        ended: notified whenever jobs ended.
        lock: guards the ledger and is the one of ``ended``.
        patience: how long to wait for a worker.
    """

    def __init__(
        self,
        size: int,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        ledger: Ledger,
        ended: threading.Condition,
        lock: threading.RLock,
        patience: Patience,
    ) -> None:
        self._command, self._environment = command, environment
        self._ledger, self._lock, self._ended = ledger, lock, ended
        self._patience = patience
        self._quarantine = Quarantine()
        self._origins: dict[str, tuple[str, ...]] = {}  # where plugins lie
        self._offered = threading.Condition(lock)  # there is work, or a worker must go
        self._posts: list[Post] = []
        self._deadlines = Deadlines(self._posts, patience, ledger, lock)
        self._failed_starts = 0  # in a row
        self._generation = 0
        self._closed = False
        self._threads = [
            threading.Thread(target=self._serve, name=f"worker {number}", daemon=True)
            for number in range(size)
        ]
        watch = threading.Thread(target=self._deadlines.watch, name="deadlines", daemon=True)
        self._threads.append(watch)
        for thread in self._threads:
            thread.start()

    # What a pool calls, with the lock held except for close

    def offer(self) -> None:
        """Look at the queue; try again to start workers where that had failed."""
        if self._failed_starts >= _STARTS_TRIED:
            self._failed_starts = 0
        self._offered.notify_all()

    def stop(self, task: Computation) -> None:
        """Have a running computation end as cancelled."""
        if not task.stopping:
            post = next(post for post in self._posts if post.task is task)
            self._deadlines.stop(post, "cancelled")

    def count(self) -> tuple[int, int]:
        """Workers that live, and how many of them are busy."""
        return len(self._posts), sum(post.task is not None for post in self._posts)

    def replace(self, pardon: bool = False) -> None:
        """Put fresh workers in the place of all, of a busy one after its job.

        ``pardon`` has them load plugins again that ended a worker.
        """
        if pardon:
            self._quarantine.clear()
        self._generation += 1
        for post in self._posts:
            if post.task:
                self._ledger.seclude(post.task)
        self.offer()

    def close(self) -> None:
        """Cancel everything and end the workers."""
        with self._lock:
            self._closed = True
            running = [post.task for post in self._posts if post.task]
            for task in [*self._ledger.queue, *running]:
                self._ledger.conclude(task, "cancelled", note="the dashboard was closed")
            self._ledger.queue.clear()
            for post in self._posts:
                post.worker.kill()
            self._deadlines.close()
            self._ended.notify_all()
            self._offered.notify_all()
        for thread in self._threads:
            thread.join(_SECONDS_TO_CLOSE)

    # A worker's thread: start it, hand it work, pass on what it says, replace it

    def _serve(self) -> None:
        while self._may_start():
            try:
                post = self._start()
            except OSError as error:
                with self._lock:
                    self._start_failed(str(error))
                continue
            try:
                post.worker.receive()  # ready
                self._deadlines.extend(post)
                while task := self._next(post):
                    self._work(post, task)
                post.worker.kill()
            except _GONE:  # why is read from its exit code
                self._deadlines.extend(post)
            self._bury(post)

    def _may_start(self) -> bool:
        with self._lock:
            self._offered.wait_for(lambda: self._closed or self._failed_starts < _STARTS_TRIED)
            return not self._closed

    def _start(self) -> Post:
        with self._lock:
            generation = self._generation
            command = [*self._command, *self._quarantine.arguments()]
        worker = WorkerProcess(command, self._environment, self._wake)
        post = Post(worker=worker, generation=generation)
        with self._lock:
            self._posts.append(post)
            self._deadlines.extend(post, self._patience.start)
            if self._closed:
                worker.kill()
        return post

    def _wake(self) -> None:
        with self._lock:
            self._offered.notify_all()

    def _next(self, post: Post) -> Computation | None:
        """Wait for work; None when the worker is out of date, dead, or the pool closed."""
        with self._lock:
            self._offered.wait_for(lambda: self._ledger.queue or self._outdated(post))
            if self._outdated(post):
                return None
            post.task = self._ledger.queue.popleft()
            self._deadlines.extend(post, self._patience.start)
            return post.task

    def _outdated(self, post: Post) -> bool:
        replaced = post.generation != self._generation
        return self._closed or replaced or post.worker.ended

    def _work(self, post: Post, task: Computation) -> None:
        request = task.request.to_json()
        post.worker.send({"say": "work", "work": task.number, "request": request})
        while post.task:
            answer = post.worker.receive()
            with self._lock:
                self._hear(post, task, answer)

    def _hear(self, post: Post, task: Computation, answer: Answer) -> None:
        post.heard = time.monotonic()
        match answer.say:
            case "accepted":
                task.started = post.heard
                post.proven = True
                self._failed_starts = 0
                task.tell("started")
                if task.stopping:
                    self._deadlines.ask_to_stop(post)
                else:
                    self._deadlines.follow(post)
            case "runs":
                post.suspect = Suspect.of(answer.fields["facts"])
                self._origins[post.suspect.distribution] = post.suspect.paths
                self._deadlines.follow(post)
            case "ran":
                post.suspect, post.condemned = None, False
                self._deadlines.follow(post)
            case "progress":
                task.tell("progress", **answer.fields)
            case final:
                post.task = None
                self._deadlines.extend(post)
                task.explain(post.worker.words(), self._origins)
                self._conclude(task, final, answer.size, **answer.fields)

    def _bury(self, post: Post) -> None:
        code, stderr = post.worker.bury()
        with self._lock:
            self._posts.remove(post)
            if post.suspect and not self._closed and not post.task.stopping:
                self._lock_away(post, code, stderr)
            elif post.task and (post.task.started or post.task.stopping):
                note, facts = faults.died(post.task.request, code, stderr, self._origins)
                post.task.explain(stderr, self._origins)
                self._conclude(post.task, "failed", note=note, facts=facts)
            elif post.task:
                self._return(post.task)
            if not post.proven and post.generation == self._generation:
                reason = faults.last_words(stderr) or f"it ended with exit code {code}"
                self._start_failed(reason)

    def _lock_away(self, post: Post, code: int | None, stderr: str) -> None:
        """The plugin that a worker did not survive goes; the job is no worse for it."""
        reason = (
            faults.too_slow(self._patience.plugin, stderr, self._origins)
            if post.condemned
            else f"the process that loaded it {faults.ending(code, stderr, self._origins)}"
        )
        if self._quarantine.add(post.suspect, reason):
            self.replace()
            for other in self._posts:
                if other.suspect == post.suspect:
                    other.worker.kill()
        self._return(post.task)

    def _return(self, task: Computation) -> None:
        task.started = None
        self._ledger.queue.appendleft(task)
        self._offered.notify_all()

    def _start_failed(self, reason: str) -> None:
        self._failed_starts += 1
        if self._failed_starts >= _STARTS_TRIED and not self._posts:
            note, facts = faults.no_worker(reason)
            while self._ledger.queue:
                self._conclude(self._ledger.queue.popleft(), "failed", note=note, facts=facts)

    def _conclude(self, task: Computation, stage: Stage, size: int = 0, **fields: Any) -> None:
        self._ledger.conclude(task, stage, size, **fields)
        self._ended.notify_all()

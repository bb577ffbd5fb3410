"""When patience with a worker ends: it is asked to stop, then killed."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from dashboard.engine.ledger import Ledger
from dashboard.engine.post import Patience, Post
from dashboard.engine.protocol import Stage

_SECONDS_TO_DUMP = 0.5


class Deadlines:
    """Of all posts of a crew, kept by one thread, :meth:`watch`.

    Args:
        posts: of the crew, which changes them.
        patience: how long to wait for a worker.
        ledger: where a job that must stop is secluded.
        lock: guards all of these.
    """

    def __init__(
        self, posts: Sequence[Post], patience: Patience, ledger: Ledger, lock: threading.RLock
    ) -> None:
        self._posts, self._patience, self._ledger = posts, patience, ledger
        self._lock = lock
        self._changed = threading.Condition(lock)
        self._closed = False

    def watch(self) -> None:
        """Wait for deadlines until :meth:`close`."""
        with self._lock:
            while not self._closed:
                now = time.monotonic()
                for post in self._posts:
                    if post.deadline <= now:
                        self._expire(post)
                next_deadline = min((post.deadline for post in self._posts), default=math.inf)
                wait = next_deadline - time.monotonic()
                self._changed.wait(None if math.isinf(wait) else max(0.0, wait))

    def close(self) -> None:
        """Watch no more."""
        with self._lock:
            self._closed = True
            self._changed.notify_all()

    def extend(self, post: Post, seconds: float = math.inf) -> None:
        """Look after the worker in so many seconds; by default never."""
        with self._lock:
            post.deadline = time.monotonic() + seconds
            self._changed.notify()

    def follow(self, post: Post) -> None:
        """Look after the worker when patience with its job, or with a plugin in it, ends."""
        if not post.task.stopping:
            self.extend(post, post.left(self._patience, time.monotonic()))

    def stop(self, post: Post, stage: Stage) -> None:
        """Make the computation end in that stage: ask now, kill after the grace period."""
        post.task.stopping = stage
        self._ledger.seclude(post.task)
        self.extend(post, self._patience.grace)
        if post.task.started:
            self.ask_to_stop(post)

    def ask_to_stop(self, post: Post) -> None:
        """Tell the worker, which has accepted the job."""
        # Cannot block under the lock: a worker that accepted has emptied its pipe.
        with suppress(OSError):
            post.worker.send({"say": "stop", "work": post.task.number})

    def _expire(self, post: Post) -> None:
        if not post.can_wait():
            self.extend(post)
            post.worker.kill()
        elif (left := post.left(self._patience, time.monotonic())) > 0:
            self.extend(post, left)  # it was heard of, or a job that joined asked for more
        elif post.suspect:
            post.condemned = True
            post.worker.dump()
            self.extend(post, _SECONDS_TO_DUMP)
        else:
            post.worker.dump()
            post.task.verdict = post.verdict(self._patience, time.monotonic())
            self.stop(post, "failed")

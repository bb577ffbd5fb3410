"""Starts the workers of a pool on the nodes of a Ray cluster, through Ray's client.

With the client, this process is no part of the cluster: one that fails costs jobs, not the server.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import ray
from ray._private import auto_init_hook
from ray._private.authentication.authentication_utils import is_token_auth_enabled
from ray.util.client import ray as client

from dashboard.jobs import launch
from dashboard.jobs.engine import EngineError, Worker, WorkerOptions
from dashboard.jobs.ray_relay import Relay
from dashboard.jobs.ray_worker import RayWorker
from dashboard.storage import files

_LEASE = 15.0  # seconds
_SECONDS_TO_CONNECT = 5.0
_TRIES = 3  # Ray's client sometimes fails to begin where the next try succeeds
_CALLS_AT_ONCE = 4  # of an actor: one of them waits for messages


class RayEngine:
    """An :class:`~dashboard.jobs.engine.Engine` on a Ray cluster, connected when it is made.

    Each worker belongs to an actor, which ends with this server's connection. All nodes have the
    server's data folder at the same place, and the same versions of the workbench, Ray and Python.

    Args:
        address: of the cluster, such as ``ray://head.example:10001``.
        cpus: CPUs of a node that each worker takes.
        gpus: GPUs of a node that each worker takes; four share one of which each takes 0.25.
        lease: seconds without a word from the other side after which a worker counts as lost
            here, and is killed there.

    Raises:
        EngineError: authentication is off here, or no cluster there lets this server in.
    """

    def __init__(
        self, address: str, *, cpus: float = 1.0, gpus: float = 0.0, lease: float = _LEASE
    ) -> None:
        self._address, self._lease = address, lease
        self._lock = threading.Lock()
        if not is_token_auth_enabled():
            raise self._error(
                "needs RAY_AUTH_MODE=token and the cluster's token in RAY_AUTH_TOKEN, since a "
                "cluster without authentication runs what anybody sends"
            )
        self._cpus, self._gpus = cpus, gpus
        # Any call after a lost connection would start, or join, a cluster on this machine.
        auto_init_hook.enable_auto_connect = False
        # What it warns of is of no use to a reader of the server's log.
        logging.getLogger("ray").setLevel(logging.ERROR)
        # In the main thread Ray would take the signal that asks the server to end.
        with ThreadPoolExecutor(1) as other_thread:
            other_thread.submit(self._connect).result()

    def start(
        self, options: WorkerOptions, quarantined: Sequence[str], on_end: Callable[[], None]
    ) -> Worker:
        """See :meth:`dashboard.jobs.engine.Engine.start`."""
        variables = {
            **launch.variables_for_elsewhere(options.passed_on),
            files.VARIABLE: str(files.home().resolve()), **options.environment,
        }  # fmt: skip
        chosen = replace(options, environment=variables, passed_on=())
        return RayWorker(lambda: self._relay(chosen, quarantined), self._lease, on_end)

    def has_room_for(self, workers: int) -> bool:
        """No: what a cluster has free may be taken by another server at any time."""
        return False

    def _relay(self, options: WorkerOptions, quarantined: Sequence[str]) -> Any:
        self._connect()
        relay = ray.remote(Relay).options(
            num_cpus=self._cpus, num_gpus=self._gpus, max_concurrency=_CALLS_AT_ONCE,
            scheduling_strategy="SPREAD",
        )  # fmt: skip
        folder = files.folder_id(Path(options.environment[files.VARIABLE]), make=True)
        return relay.remote(asdict(options), list(quarantined), folder, self._lease)

    def _connect(self) -> None:
        with self._lock:
            if client.is_connected():
                return
            ray.shutdown()  # what a lost connection has left
            self._knock()
            for left in reversed(range(_TRIES)):
                try:
                    ray.init(self._address, logging_level=logging.ERROR, log_to_driver=False)
                except Exception as error:  # Ray's, its client's and gRPC's have no common base
                    if not left or "timeout" in str(error):
                        raise self._error(
                            "was reached, but did not let this server in; is its token the one "
                            "in RAY_AUTH_TOKEN, and has it the same Ray and Python? It said: "
                            f"{str(error).strip().splitlines()[-1]}"
                        ) from None
                else:
                    return

    def _knock(self) -> None:
        """Find out soon whether anybody listens there: Ray's client waits half a minute."""
        host, _, port = self._address.removeprefix("ray://").rpartition(":")
        try:
            socket.create_connection((host, int(port)), _SECONDS_TO_CONNECT).close()
        except OSError as error:
            raise self._error(f"does not answer: {error.strerror or error}") from None

    def _error(self, what: str) -> EngineError:
        return EngineError(f"the engine {self._address} (ATTENTION_ENGINE) {what}")

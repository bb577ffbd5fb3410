"""Figures of the server for Prometheus, at ``/metrics`` where the setting ``metrics`` is on."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from streamlit import runtime

from dashboard.jobs import job
from dashboard.jobs.backend import FINAL
from dashboard.ui import jobs
from dashboard.ui.workbench import workbench

_SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
_SESSIONS = "active_sessions"


class Metrics:
    """Counts the jobs of the journal, and asks workers and sessions when it is asked."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._jobs = Counter(
            "attention_jobs", "Jobs that have ended, by what they compute and how they ended.",
            ("task", "stage"), registry=self._registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "attention_result_seconds", "Seconds from a request to its result.", ("task",),
            buckets=_SECONDS, registry=self._registry,
        )  # fmt: skip
        self._pages = Histogram(
            "attention_page_seconds",
            "Seconds until a page's script has run, and from its request to a result.",
            ("page", "what"), buckets=_SECONDS, registry=self._registry,
        )  # fmt: skip
        self._registry.register(_Now())

    def count(self, entry: job.Entry) -> None:
        """Count a job of the journal once it has ended."""
        if entry.stage not in FINAL:
            return
        self._jobs.labels(entry.task, entry.stage).inc()
        if entry.stage == "done":
            self._seconds.labels(entry.task).observe(entry.seconds)

    def count_wait(self, wait: jobs.Wait) -> None:
        """Count a visitor's wait for a page."""
        self._pages.labels(wait.page, wait.what).observe(wait.seconds)

    def text(self) -> bytes:
        """All figures, in Prometheus's format."""
        return generate_latest(self._registry)


class _Now:
    def collect(self) -> Iterator[Metric]:
        bench = workbench()
        pools = {"jobs": bench.backend.capacity(), "trainings": bench.trainings.jobs.capacity()}
        for name, text in (
            ("queued", "Computations that wait for a worker."),
            ("running", "Computations that a worker works on."),
            ("workers", "Live worker processes."),
        ):
            values = {pool: getattr(found, name) for pool, found in pools.items()}
            yield _gauge(f"attention_{name}", text, "pool", values)
        memory = {name: sum(map(resident, each.processes)) for name, each in pools.items()}
        yield _gauge(
            "attention_memory_bytes", "Resident memory of the server and of its workers.",
            "process", {"server": resident(os.getpid()), **memory},
        )  # fmt: skip
        yield GaugeMetricFamily("attention_sessions", "Browsers connected.", value=_sessions())


def routes() -> list[Route]:
    """The route ``/metrics``, and a count of all jobs and waits from now on."""
    metrics = Metrics()
    job.listeners.append(metrics.count)
    jobs.listeners.append(metrics.count_wait)

    def answer(_request: Request) -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return [Route("/metrics", answer)]


def resident(process: int) -> int:
    """Bytes of memory that a process has in use; 0 if it is gone, or the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        status = Path(f"/proc/{process}/status").read_text("utf-8")
        return int(re.findall(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)[0]) * 1024
    return 0


def _sessions() -> float:
    if not runtime.exists():
        return 0.0
    found = runtime.get_instance().stats_mgr.get_stats(family_names=[_SESSIONS])
    return float(sum(getattr(each, "value", 0) for each in found.get(_SESSIONS, ())))


def _gauge(name: str, text: str, label: str, values: dict[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], float(value))
    return family

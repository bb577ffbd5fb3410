"""Jobs: a queue, workers in processes of their own, and events for the sessions that wait."""

from dashboard.jobs.backend import FINAL, Capacity, Event, JobBackend, Stage
from dashboard.jobs.pool import LocalPool

__all__ = ["FINAL", "Capacity", "Event", "JobBackend", "LocalPool", "Stage"]

"""Jobs: a queue, workers in processes of their own, events for whoever watches."""

from dashboard.engine.local import LocalPool
from dashboard.engine.protocol import FINAL, Capacity, Event, JobBackend, Stage

__all__ = ["FINAL", "Capacity", "Event", "JobBackend", "LocalPool", "Stage"]

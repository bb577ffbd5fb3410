"""The server's log on standard error, as text or as a JSON object on each line."""

import json
import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.jobs.job import digest
from dashboard.settings import Settings

_LOGGER = "dashboard"
_TEXT = "%(asctime)s %(levelname)s %(message)s"
_IDS = ("job", "training", "client")
_OFTEN, _SECONDS = 5, 60.0  # so many equal warnings in so many seconds are written


class TextLines(logging.Formatter):
    """The time, the level and the message, and behind it the ids of job, training and session."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields = _fields(record)
        ids = " ".join(f"{name}={fields[name]}" for name in _IDS if name in fields)
        head, *traceback = super().format(record).split("\n", 1)
        return "\n".join([f"{head} {ids}".rstrip(), *traceback])


class JsonLines(logging.Formatter):
    """One object for each record: its time in UTC, its level, logger and message, its fields.

    What is said while a page runs says the session too, by the same digest as its jobs.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(), "logger": record.name,
            "message": record.getMessage(), **_fields(record),
        }  # fmt: skip
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class Repeats(logging.Filter):
    """Leaves out warnings and errors that were written five times in the last minute.

    Else whoever can cause one, such as by opening connections, could fill the disk. The next one
    that is written says how many were left out. Warnings are equal if their texts are before
    values are put in, and those of jobs if they also have the same fields.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock, self._lock = clock, threading.Lock()
        self._written: dict[Any, list[float]] = {}
        self._left_out: dict[Any, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written."""
        if record.levelno < logging.WARNING or getattr(record, "counted", False):
            return True
        fields = json.dumps(getattr(record, "fields", {}), default=str)
        raised = record.exc_info[0] if record.exc_info else None
        what, now = (record.name, record.msg, raised, fields), self._clock()
        with self._lock:
            times = [each for each in self._written.get(what, ()) if each > now - _SECONDS]
            if len(times) >= _OFTEN:
                self._left_out[what] = self._left_out.get(what, 0) + 1
                return False
            for each, at in [*self._written.items()]:
                if at[-1] <= now - _SECONDS and each not in self._left_out:
                    del self._written[each]
            self._written[what] = [*times, now]
            if count := self._left_out.pop(what, 0):
                record.msg = f"{record.getMessage()} ({count:,} more like it were left out)"
                record.args = None
        record.counted = True  # it may come to other handlers, which have this filter too
        return True


def start(chosen: Settings) -> None:
    """Write the dashboard's log as the settings say; as JSON, so do Streamlit and uvicorn."""
    logger = logging.getLogger(_LOGGER)
    logger.setLevel(chosen.log_level.upper())
    logger.propagate = False
    handler = logging.StreamHandler()
    handler.setFormatter(TextLines(_TEXT))
    logger.handlers = [handler]
    named = [logging.getLogger(name) for name in logging.Logger.manager.loggerDict]
    handlers = [each for one in (logging.getLogger(), *named) for each in one.handlers]
    repeats = Repeats()
    for each in (*handlers, logging.lastResort):
        if each is not None:
            each.filters = [one for one in each.filters if not isinstance(one, Repeats)]
            each.addFilter(repeats)
    if chosen.log_format == "json":
        for name in [*logging.Logger.manager.loggerDict]:
            for each in logging.getLogger(name).handlers:
                each.setFormatter(JsonLines())


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """A record's own fields, and whose page was running if they do not say who asked."""
    context = get_script_run_ctx(suppress_warning=True)
    session = {"client": digest(context.session_id)} if context else {}
    return {**session, **getattr(record, "fields", {})}

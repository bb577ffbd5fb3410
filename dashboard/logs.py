"""The server's log on standard error, as text or as a JSON object on each line."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.jobs.journal import digest
from dashboard.settings import Settings

_LOGGER = "dashboard"
_TEXT = "%(asctime)s %(levelname)s %(message)s"
_IDS = ("job", "training", "client")


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
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def start(chosen: Settings) -> None:
    """Write the dashboard's log as the settings say; as JSON, so do Streamlit and uvicorn.

    Args:
        chosen: ``log_level`` and ``log_format``.
    """
    logger = logging.getLogger(_LOGGER)
    logger.setLevel(chosen.log_level.upper())
    logger.propagate = False
    handler = logging.StreamHandler()
    handler.setFormatter(TextLines(_TEXT))
    logger.handlers = [handler]
    if chosen.log_format == "json":
        for name in [*logging.Logger.manager.loggerDict]:
            for each in logging.getLogger(name).handlers:
                each.setFormatter(JsonLines())


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """A record's own fields, and whose page was running if they do not say who asked."""
    context = get_script_run_ctx(suppress_warning=True)
    session = {"client": digest(context.session_id)} if context else {}
    return {**session, **getattr(record, "fields", {})}

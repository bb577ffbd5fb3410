"""The server's log on standard error, as text or as a JSON object on each line."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from dashboard.settings import Settings

_LOGGER = "dashboard"
_TEXT = "%(asctime)s %(levelname)s %(message)s"


class JsonLines(logging.Formatter):
    """One object for each record: its time in UTC, its level, logger and message, its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
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
    handler.setFormatter(logging.Formatter(_TEXT))
    logger.handlers = [handler]
    if chosen.log_format == "json":
        for name in [*logging.Logger.manager.loggerDict]:
            for each in logging.getLogger(name).handlers:
                each.setFormatter(JsonLines())

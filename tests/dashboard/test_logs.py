"""The log: as text, and as an object on each line."""

import json
import logging
import sys

import pytest

from dashboard import logs
from dashboard.settings import settings


@pytest.fixture(autouse=True)
def _loggers():
    """Other tests see the loggers as they were."""
    names = [*logging.Logger.manager.loggerDict, "dashboard", "uvicorn.trial"]
    loggers = [logging.getLogger(name) for name in names]
    before = [(each, each.level, each.propagate, each.handlers) for each in loggers]
    formatters = [(one, one.formatter) for each in loggers for one in each.handlers]
    yield
    for each, level, propagate, handlers in before:
        each.setLevel(level)
        each.propagate, each.handlers = propagate, handlers
    for handler, formatter in formatters:
        handler.setFormatter(formatter)


def written(capsys):
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_each_line_is_an_object_with_the_records_fields(capsys):
    logs.start(settings(log_format="json", log_level="info"))
    fields = {"job": "00ff", "seconds": 0.25}
    logging.getLogger("dashboard.jobs").info("job %s", "done\nor", extra={"fields": fields})
    logging.getLogger("dashboard.jobs").debug("too much")
    (line,) = written(capsys)
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "info", "logger": "dashboard.jobs", "message": "job done\nor", **fields,
    }  # fmt: skip


def test_an_exception_stays_in_its_line(capsys):
    logs.start(settings(log_format="json"))
    try:
        raise ValueError("too\nlong")
    except ValueError:
        logging.getLogger("dashboard").exception("it raised")
    (line,) = written(capsys)
    assert line["exception"].startswith("Traceback")
    assert line["exception"].endswith("too\nlong")


def test_other_loggers_write_the_same(capsys):
    other = logging.getLogger("uvicorn.trial")
    other.handlers, other.propagate = [logging.StreamHandler(sys.stderr)], False
    logs.start(settings(log_format="json"))
    other.warning("from elsewhere")
    assert [line["message"] for line in written(capsys)] == ["from elsewhere"]


def test_text_is_the_default_and_failures_alone_are_written(capsys):
    logs.start(settings())
    logging.getLogger("dashboard.jobs").info("job done")
    logging.getLogger("dashboard.jobs").warning("job failed")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(" WARNING job failed")


def test_starting_twice_writes_once(capsys):
    for _ in range(2):
        logs.start(settings())
    logging.getLogger("dashboard").warning("once")
    assert capsys.readouterr().err.count("once") == 1

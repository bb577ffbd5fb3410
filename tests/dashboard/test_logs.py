"""The log: as text, and as an object on each line."""

import json
import logging
import sys
from types import SimpleNamespace

import pytest

from dashboard import logs
from dashboard.jobs.job import Job
from dashboard.jobs.journal import digest
from dashboard.records.request import Request
from dashboard.records.training import FOLDER
from dashboard.settings import settings

SESSION = "4fd3a1a2-a-session-that-can-be-taken-over"


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


def finished(client=SESSION):
    """Have a job of that session run to its end; its id."""
    job = Job(Request.make("training", options={FOLDER: "00aa"}), [], client)
    for stage in ("queued", "started", "done"):
        job.add(stage)
    return job.id


def test_each_line_of_a_job_says_its_id_and_its_session(capsys):
    logs.start(settings(log_format="json", log_level="info"))
    job = finished()
    lines = written(capsys)
    assert [line["stage"] for line in lines] == ["queued", "started", "done"]
    assert {(one["job"], one["client"], one["training"]) for one in lines} == {
        (job, digest(SESSION), "00aa"),
    }  # fmt: skip
    logs.start(settings(log_level="info"))
    job = finished()
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3
    ids = f" job={job} training=00aa client={digest(SESSION)}"
    assert all(line.endswith(ids) for line in said)
    assert not any(SESSION in line for line in said)


@pytest.mark.parametrize("form", ["json", "text"])
def test_what_a_page_logs_says_its_session(capsys, monkeypatch, form):
    page = SimpleNamespace(session_id=SESSION)
    monkeypatch.setattr(logs, "get_script_run_ctx", lambda **_: page)
    logs.start(settings(log_format=form))
    logging.getLogger("dashboard.ui").warning("a page says")
    try:
        raise ValueError("too\nlong")
    except ValueError:
        logging.getLogger("dashboard.ui").exception("a page raised")
    said = capsys.readouterr().err
    assert said.count(digest(SESSION)) == 2
    if form == "text":
        first, second, traceback, *_ = said.splitlines()
        assert first.endswith(f"a page says client={digest(SESSION)}")
        assert second.endswith(f"a page raised client={digest(SESSION)}")
        assert traceback.startswith("Traceback")


def test_starting_twice_writes_once(capsys):
    for _ in range(2):
        logs.start(settings())
    logging.getLogger("dashboard").warning("once")
    assert capsys.readouterr().err.count("once") == 1

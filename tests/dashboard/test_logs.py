"""The log: as text, and as an object on each line."""

import json
import logging
import sys
from types import SimpleNamespace

import pytest

from dashboard import logs
from dashboard.jobs.job import Job, digest
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
    handlers = [one for each in (logging.getLogger(), *loggers) for one in each.handlers]
    formatters = [(one, one.formatter, [*one.filters]) for one in handlers]
    last = logging.lastResort
    assert last is not None
    formatters.append((last, last.formatter, [*last.filters]))
    yield
    for each, level, propagate, handlers in before:
        each.setLevel(level)
        each.propagate, each.handlers = propagate, handlers
    for handler, formatter, filters in formatters:
        handler.setFormatter(formatter)
        handler.filters = filters


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
    of_another = {"fields": {"client": "00ff"}}
    logging.getLogger("dashboard.ui").warning("of whom", extra=of_another)
    try:
        raise ValueError("too\nlong")
    except ValueError:
        logging.getLogger("dashboard.ui").exception("a page raised")
    said = capsys.readouterr().err
    assert said.count(digest(SESSION)) == 2
    if form == "text":
        first, other, second, traceback, *_ = said.splitlines()
        assert other.endswith("of whom client=00ff")
        assert first.endswith(f"a page says client={digest(SESSION)}")
        assert second.endswith(f"a page raised client={digest(SESSION)}")
        assert traceback.startswith("Traceback")


def test_starting_twice_writes_once(capsys):
    for _ in range(2):
        logs.start(settings())
    logging.getLogger("dashboard").warning("once")
    assert capsys.readouterr().err.count("once") == 1


def test_what_is_said_again_and_again_is_counted_and_not_written(capsys):
    now = [0.0]
    logs.start(settings())
    for handler in logging.getLogger("dashboard").handlers:
        handler.filters = [logs.Repeats(lambda: now[0])]
    log = logging.getLogger("dashboard.trial")
    for number in range(1000):
        log.warning("no room for %d", number)
    log.warning("another")
    for job in range(10):
        log.warning("job failed", extra={"fields": {"job": f"{job}"}})
    lines = capsys.readouterr().err.splitlines()
    assert sum("no room for" in line for line in lines) == 5
    assert sum("another" in line for line in lines) == 1
    assert sum("job failed" in line for line in lines) == 10
    now[0] = 61.0
    log.warning("no room for %d", 1000)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("WARNING no room for 1000 (995 more like it were left out)")


def test_what_was_left_out_is_said_though_another_came_between(capsys):
    now, log = [0.0], logging.getLogger("dashboard.trial")
    repeats = logs.Repeats(lambda: now[0])
    logs.start(settings())
    for handler in logging.getLogger("dashboard").handlers:
        handler.filters = [repeats]
    for _ in range(9):
        log.warning("no room")
    log.warning("once")
    now[0] = 61.0
    log.warning("another")
    assert {what[1] for what in repeats._written} == {"no room", "another"}  # no more is kept
    log.warning("no room")
    assert "no room (4 more like it were left out)" in capsys.readouterr().err


def test_errors_of_one_text_are_alike_where_the_same_was_raised(capsys):
    logs.start(settings())
    for kind in (ValueError, KeyError):
        for _ in range(9):
            logging.getLogger("dashboard.trial").warning("it failed", exc_info=kind("why"))
    assert capsys.readouterr().err.count("it failed") == 10


def test_a_line_is_not_written_by_the_root_logger_too(capsys):
    logging.getLogger().addHandler(root := logging.StreamHandler(sys.stderr))
    try:
        logs.start(settings())
        logging.getLogger("dashboard.trial").warning("once")
    finally:
        logging.getLogger().removeHandler(root)
    assert capsys.readouterr().err.count("once") == 1


def test_so_are_errors_of_the_server_and_of_its_loop(caplog):
    logs.start(settings())
    for number in range(100):
        logging.getLogger("asyncio").error("socket.accept() out of system resource %d", number)
        logging.getLogger("asyncio").error("socket.accept() out of system resource")
    assert len(caplog.records) == 10


def test_each_start_and_end_of_a_job_is_written(capsys):
    logs.start(settings(log_level="info"))
    for _ in range(100):
        logging.getLogger("dashboard.jobs").info("job began")
    assert len(capsys.readouterr().err.splitlines()) == 100

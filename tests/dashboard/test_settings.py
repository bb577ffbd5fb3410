"""The settings of a server: what stands in the environment, what is given, what is refused."""

import re

import pytest
from support.documents import section

from attention_plugins.datasets import parallel
from dashboard import limits
from dashboard.features.regression.task_problem import ROW_LIMIT
from dashboard.settings import Settings, description, settings, variable

TABLE = section("hosting.md", "Settings")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in Settings.model_fields:
        monkeypatch.delenv(variable(name), raising=False)


@pytest.mark.parametrize(
    ("cores", "workers", "trainers"), [(1, 2, 1), (2, 2, 1), (3, 3, 2), (64, 4, 2)]
)
def test_workers_follow_the_cores_and_trainers_leave_some(monkeypatch, cores, workers, trainers):
    monkeypatch.setattr(limits, "cores", lambda: cores)
    found = settings(classroom=False)  # read anew: the environment alone is read once
    assert (found.workers, found.trainers) == (workers, trainers)


def test_what_is_given_wins_over_the_variable_and_that_over_the_default(monkeypatch):
    assert settings(plugin_limit=None).plugin_limit == 30
    monkeypatch.setenv("ATTENTION_PLUGIN_LIMIT", "7.5")
    assert settings(plugin_limit=None).plugin_limit == 7.5
    assert settings(plugin_limit=3).plugin_limit == 3


def test_all_workers_and_trainers_together_take_no_more_than_their_share(monkeypatch):
    monkeypatch.setattr(limits, "default_memory", lambda processes: 7000 // processes)
    assert settings(workers=3, trainers=4).worker_memory == 1000
    assert settings(workers=3, trainers=4, worker_memory=11).worker_memory == 11


def test_a_variable_that_is_set_later_counts(monkeypatch):
    assert settings() is settings()
    before = settings().free_work
    monkeypatch.setenv("ATTENTION_FREE_WORK", "11")
    assert (before, settings().free_work) == (6, 11)


def test_an_empty_variable_is_none(monkeypatch):
    monkeypatch.setenv("ATTENTION_SILENCE_LIMIT", "")
    assert settings().silence_limit is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *[("workers", text) for text in ("0", "-2", "two", "1.5")],
        *[("trainers", text) for text in ("0", "none")],
        *[("worker_memory", text) for text in ("-1", "12 MB")],
        *[("plugin_limit", text) for text in ("0", "-1", "soon", "nan")],
        *[("silence_limit", text) for text in ("0", "nan")],
        *[("engine", text) for text in ("ray", "ray://head", "http://head:1", "ray://a:1; b")],
        *[("worker_cpus", text) for text in ("0", "-1", "one")],
        *[("worker_gpus", text) for text in ("-0.5", "half")],
        *[("hosts", text) for text in ("https://a.example", "a.example:80", "a*.example", "-/")],
        *[("worker_environment", text) for text in ("A=1", "A,B")],
        *[("frame_ancestors", text) for text in (" ", "a.example; script-src *", "'unsafe'")],
    ],
)
def test_what_is_out_of_bounds_is_refused_by_its_variable_and_value(monkeypatch, name, text):
    monkeypatch.setenv(variable(name), text)
    with pytest.raises(ValueError, match=f"^{variable(name)} is {re.escape(repr(text))}: "):
        settings()


def test_every_wrong_setting_is_named_at_once(monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKERS", "0")
    monkeypatch.setenv("ATTENTION_FRAME_ANCESTORS", "'unsafe'")
    with pytest.raises(ValueError, match=r"WORKERS is '0'.*; .*ANCESTORS.*: need sites such as"):
        settings()


def test_what_the_largest_setting_lets_in_is_read():
    (most,) = [one.le for one in Settings.model_fields["data_rows"].metadata if hasattr(one, "le")]
    assert most == parallel.MOST_LINES == ROW_LIMIT


@pytest.mark.parametrize("name", Settings.model_fields)
def test_the_table_says_what_each_sets(name):
    row = f"| `{variable(name)}` | {description(name)} | "
    assert row in TABLE


@pytest.mark.parametrize("name", ["cookie_secret", "administrator_token"])
def test_a_short_secret_is_refused_without_being_said(monkeypatch, name):
    monkeypatch.setenv(variable(name), "hunter2")
    with pytest.raises(
        ValueError, match=f"^{variable(name)} is wrong: need 16 characters"
    ) as info:
        settings()
    assert "hunter2" not in str(info.value)
    monkeypatch.setenv(variable(name), "sixteen signs of")
    assert "sixteen" not in repr(settings())

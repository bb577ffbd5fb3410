import os
import sys

import pytest

from dashboard.jobs import launch, limits


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in (
        "ATTENTION_WORKERS", "ATTENTION_TRAINERS", "ATTENTION_WORKER_MEMORY", "OMP_NUM_THREADS",
        "PYTHONPATH", "ATTENTION_SILENCE_LIMIT", "ATTENTION_PLUGIN_LIMIT",
    ):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(limits, "cores", lambda: 7)
    monkeypatch.setattr(limits, "default_memory", lambda: 1709)


@pytest.mark.parametrize(("cores", "workers"), [(1, 2), (3, 3), (64, 4)])
def test_workers_follow_the_cores(monkeypatch, cores, workers):
    monkeypatch.setattr(limits, "cores", lambda: cores)
    assert launch.workers(None) == workers


@pytest.mark.parametrize(("cores", "trainers"), [(1, 1), (2, 1), (3, 2), (64, 2)])
def test_trainers_follow_the_cores_and_leave_some(monkeypatch, cores, trainers):
    monkeypatch.setattr(limits, "cores", lambda: cores)
    assert launch.trainers() == trainers
    monkeypatch.setenv("ATTENTION_TRAINERS", "5")
    assert launch.trainers() == 5


def test_a_niceness_is_passed_on():
    words = launch.command("x", 0, warm=False, nice=3)
    assert words[-3:] == ["--nice", "3", "--cold"]


def test_a_given_number_wins_over_the_variable_and_that_over_the_cores(monkeypatch):
    monkeypatch.setenv("ATTENTION_WORKERS", "5")
    assert launch.workers(None) == 5
    assert launch.workers(3) == 3


@pytest.mark.parametrize("text", ["0", "-2", "two", "1.5"])
def test_a_number_of_workers_that_is_none_is_refused(monkeypatch, text):
    monkeypatch.setenv("ATTENTION_WORKERS", text)
    with pytest.raises(ValueError, match=rf"at least 1, got {text} \(ATTENTION_WORKERS\)"):
        launch.workers(None)


def test_the_command_runs_this_python_and_says_who_started_it():
    words = launch.command("dashboard.jobs.tasks", None, warm=True)
    assert words[:3] == [sys.executable, "-m", "dashboard.jobs.worker"]
    assert words[3:] == ["--tasks", "dashboard.jobs.tasks", "--parent", str(os.getpid()), *MEMORY]
    assert launch.command("dashboard.jobs.tasks", None, warm=False)[-1] == "--cold"


MEMORY = ["--memory", "1709"]


def test_no_memory_limit_is_zero(monkeypatch):
    assert launch.command("x", 0, warm=True)[-1] == "0"
    monkeypatch.setenv("ATTENTION_WORKER_MEMORY", "503")
    assert launch.command("x", None, warm=True)[-1] == "503"
    with pytest.raises(ValueError, match="at least 0"):
        launch.command("x", -1, warm=True)


@pytest.mark.parametrize(("workers", "threads"), [(1, "7"), (2, "3"), (11, "1")])
def test_cores_are_shared_out(workers, threads):
    variables = launch.environment(workers, {})
    assert variables["OMP_NUM_THREADS"] == threads
    assert variables["OMP_WAIT_POLICY"] == "passive"


def test_the_users_variables_win_and_reach_the_workers(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.setenv("FLAVOUR", "plain")
    variables = launch.environment(2, {"FLAVOUR": "extra"})
    assert variables["OMP_NUM_THREADS"] == "5"
    assert variables["FLAVOUR"] == "extra"


def test_the_project_comes_before_the_users_path(monkeypatch):
    root = os.path.dirname(os.path.dirname(os.path.dirname(launch.__file__)))
    assert launch.environment(2, {})["PYTHONPATH"] == root
    variables = launch.environment(2, {"PYTHONPATH": "/plugins"})
    assert variables["PYTHONPATH"] == root + os.pathsep + "/plugins"


def test_limits_in_seconds_come_from_the_caller_the_variable_or_the_default(monkeypatch):
    assert (launch.silence(None, 61), launch.plugin_limit(None)) == (61, 30)
    monkeypatch.setenv("ATTENTION_SILENCE_LIMIT", "7.5")
    monkeypatch.setenv("ATTENTION_PLUGIN_LIMIT", "3")
    assert (launch.silence(None, 61), launch.silence(2, 61)) == (7.5, 2)
    assert (launch.plugin_limit(None), launch.plugin_limit(5)) == (3, 5)


@pytest.mark.parametrize("text", ["0", "-1", "soon", "nan"])
def test_a_limit_that_is_no_time_is_refused(monkeypatch, text):
    monkeypatch.setenv("ATTENTION_PLUGIN_LIMIT", text)
    with pytest.raises(ValueError, match=rf"above 0, got {text} \(ATTENTION_PLUGIN_LIMIT\)"):
        launch.plugin_limit(None)

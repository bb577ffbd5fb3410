import os
import sys

import pytest

from dashboard.jobs import launch, limits


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in ("OMP_NUM_THREADS", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(limits, "cores", lambda: 7)


def test_a_niceness_is_passed_on():
    words = launch.command("x", 0, warm=False, nice=3)
    assert words[-3:] == ["--nice", "3", "--cold"]


def test_the_command_runs_this_python_and_says_who_started_it():
    words = launch.command("dashboard.jobs.tasks", 1709, warm=True)
    assert words[:3] == [sys.executable, "-m", "dashboard.jobs.worker"]
    assert words[3:5] == ["--tasks", "dashboard.jobs.tasks"]
    assert words[5:] == ["--parent", str(os.getpid()), "--memory", "1709"]
    assert launch.command("dashboard.jobs.tasks", 1709, warm=False)[-1] == "--cold"


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

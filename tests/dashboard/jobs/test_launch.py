import os
import re
import sys
from pathlib import Path

import pytest

from dashboard import limits
from dashboard.jobs import engine
from dashboard.jobs.engine import WorkerOptions


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in ("OMP_NUM_THREADS", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(limits, "cores", lambda: 7)


def environment(**chosen):
    return engine.environment(WorkerOptions(**{"tasks": "x", "workers": 2, **chosen}))


def test_a_niceness_is_passed_on():
    words = engine.command(WorkerOptions(tasks="x", warm=False, nice=3))
    assert words[-3:] == ["--nice", "3", "--cold"]


def test_the_command_runs_this_python_and_says_who_started_it():
    words = engine.command(WorkerOptions(tasks="dashboard.jobs.tasks", memory=1709))
    assert words[:4] == [sys.executable, "-P", "-m", "dashboard.jobs.worker"]
    assert words[4:6] == ["--tasks", "dashboard.jobs.tasks"]
    assert words[6:] == ["--parent", str(os.getpid()), "--memory", "1709"]
    assert engine.command(WorkerOptions(tasks="dashboard.jobs.tasks", warm=False))[-1] == "--cold"


@pytest.mark.parametrize(("workers", "threads"), [(1, "7"), (2, "3"), (11, "1")])
def test_cores_are_shared_out(workers, threads):
    variables = environment(workers=workers)
    assert variables["OMP_NUM_THREADS"] == threads
    assert variables["OMP_WAIT_POLICY"] == "passive"


def test_the_users_variables_win_and_reach_the_workers(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.setenv("FLAVOUR", "plain")
    variables = environment(environment={"FLAVOUR": "extra"})
    assert variables["OMP_NUM_THREADS"] == "5"
    assert variables["FLAVOUR"] == "extra"


SECRETS = (
    "AWS_SECRET_ACCESS_KEY", "STREAMLIT_SERVER_COOKIE_SECRET", "HF_TOKEN",
    "HUGGING_FACE_HUB_TOKEN", "DATABASE_URL", "PGPASSWORD", "GITHUB_TOKEN", "OPENAI_API_KEY",
    "SSH_AUTH_SOCK", "KUBECONFIG", "ATTENTION_TOKEN", "ATTENTION_DATABASE", "ATTENTION_WORKERS",
)  # fmt: skip


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_of_the_server_reaches_no_worker(monkeypatch, name):
    monkeypatch.setenv(name, "hidden")
    assert name not in environment()


@pytest.mark.parametrize(
    "name",
    ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "PYTHONHASHSEED", "MKL_DEBUG_CPU_TYPE",
     "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "XDG_DATA_HOME",
     "HF_HOME", "https_proxy", "SSL_CERT_FILE", "SYSTEMROOT", "CONDA_PREFIX", "VIRTUAL_ENV",
     "ATTENTION_PLUGINS"],
)  # fmt: skip
def test_what_programs_need_reaches_them(monkeypatch, name):
    monkeypatch.setenv(name, "needed")
    assert environment()[name] == "needed"


def test_more_is_let_through_by_name_or_pattern(monkeypatch):
    for name in ("WANDB_KEY", "LAB_DATA", "LAB_KEY"):
        monkeypatch.setenv(name, "x")
    found = environment(passed_on=("WANDB_*", "LAB_DATA"))
    assert {"WANDB_KEY", "LAB_DATA"} <= found.keys()
    assert "LAB_KEY" not in found


def test_what_plugins_read_of_ours_is_passed_on_and_no_other_setting():
    """Every variable that attention_plugins reads, by its sources, and where logs lie."""
    sources = Path(engine.__file__).parents[2] / "attention_plugins"
    text = "\n".join(path.read_text("utf-8") for path in sources.rglob("*.py"))
    read = set(re.findall(r"[\"'](ATTENTION_[A-Z_]+)[\"']", text))
    read -= {"ATTENTION_CONTRACT", "ATTENTION_EXPECTED_FAILURES"}  # names in a plugin's module
    read.add("ATTENTION_LOGS")  # a task of a page reads them
    assert {name for name in engine.PASSED_ON if name.startswith("ATTENTION")} == read


def test_workers_elsewhere_get_what_plugins_read_and_what_is_named_alone(monkeypatch):
    for name in ("ATTENTION_PLUGINS", "ATTENTION_ENGINE", "WANDB_MODE", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    found = engine.variables_for_elsewhere(["WANDB_*"])
    assert found.keys() - {"ATTENTION_WORKBENCH_HOME"} == {"ATTENTION_PLUGINS", "WANDB_MODE"}


def test_the_project_comes_before_the_users_path(monkeypatch):
    root = os.path.dirname(os.path.dirname(os.path.dirname(engine.__file__)))
    assert environment()["PYTHONPATH"] == root
    variables = environment(environment={"PYTHONPATH": "/plugins"})
    assert variables["PYTHONPATH"] == root + os.pathsep + "/plugins"


def test_the_code_that_a_worker_runs_sees_no_secret(make_pool, request_for, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden")
    for more, flavour in (("", None), ("FLAV*", "plain")):
        monkeypatch.setenv("FLAVOUR", "plain")
        monkeypatch.setenv("ATTENTION_WORKER_ENVIRONMENT", more)
        pool = make_pool()
        found = pool.wait(pool.submit(request_for("environment")), 60).result.facts
        assert (found["AWS_SECRET_ACCESS_KEY"], found["FLAVOUR"]) == (None, flavour)

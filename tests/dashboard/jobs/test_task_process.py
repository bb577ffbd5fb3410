from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from attention_plugins.contract import CONTRACT_VERSION
from dashboard.jobs import task_process, tasks
from dashboard.jobs.task_process import environment
from dashboard.records.request import Request


class Context:
    """Takes reports, and is never cancelled."""

    def report(self, fraction, note="", facts=None):
        assert 0 <= fraction <= 1


@pytest.fixture(autouse=True)
def _asked_anew():
    task_process._commit.cache_clear()
    yield
    task_process._commit.cache_clear()


def checkout(folder, monkeypatch):
    monkeypatch.setattr(task_process, "_ROOT", folder)
    who = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    for command in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    head = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    return subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()


def test_every_result_says_what_it_was_made_with():
    result = tasks.perform(Request.make("norms"), Context())
    made = result.facts["environment"]
    assert made["contract"] == ".".join(map(str, CONTRACT_VERSION))
    assert (made["torch"], made["threads"]) == (torch.__version__, torch.get_num_threads())
    assert {**result.facts} | {"environment": environment()} == {**result.facts}


def test_the_commit_is_that_of_the_checkout_and_says_whether_it_was_changed(tmp_path, monkeypatch):
    head = checkout(tmp_path, monkeypatch)
    found = environment()["commit"]
    assert len(found) >= 7
    assert head.startswith(found)
    (tmp_path / "new.py").write_text("x = 1")
    subprocess.run(["git", "-C", str(tmp_path), "add", "new.py"], check=True)
    task_process._commit.cache_clear()
    assert environment()["commit"] == f"{found}-dirty"


def test_without_a_checkout_or_git_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(task_process, "_ROOT", tmp_path)
    assert environment()["commit"] == ""
    (tmp_path / ".git").mkdir()
    task_process._commit.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment()["commit"] == ""


_JOB = """
import sys
from dashboard.jobs import task_process
task_process.import_torch()
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request
class Context:
    def report(self, *given): pass
    def stopped(self): return False
result = perform(Request.make("regression", data="sine", scoring="gaussian"), Context())
assert result.tables["curve"].num_rows == 50
print("torch" in sys.modules, "pandas" in sys.modules)
import pandas as pd
import pyarrow as pa
print(pa.array(pd.Series([1.5, 2.5])).to_pylist(), pa.table({"a": [1]}).to_pandas()["a"].tolist())
"""


@pytest.mark.slow
def test_a_worker_has_torch_and_no_pandas_unless_a_plugin_wants_it():
    done = subprocess.run([sys.executable, "-c", _JOB], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["True False", "[1.5, 2.5] [1]"]

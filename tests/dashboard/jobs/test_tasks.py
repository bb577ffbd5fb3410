from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dashboard import features
from dashboard.jobs.tasks import TASKS, perform
from dashboard.records.request import Request

FOLDERS = Path(features.__file__).parent


def test_a_folder_with_a_task_is_a_task():
    found = {path.parent.name for path in FOLDERS.glob("*/task.py")}
    assert set(TASKS) == {"catalogue", "formula", "sweep", *found}
    assert {"regression", "translation", "plugins"} <= found
    assert "nowhere" not in TASKS


def test_a_task_that_is_not_there_is_refused():
    with pytest.raises(
        ValueError, match="no task 'nowhere'; there are catalogue, formula, sweep, alignment"
    ):
        perform(Request.make("nowhere"), None)


def test_a_job_loads_its_own_task_alone():
    code = """
import sys
from dashboard.jobs.tasks import perform
from dashboard.records.request import Request
assert "torch" not in sys.modules
class Context:
    def report(self, *given): pass
perform(Request.make("norms"), Context())
print(*(name for name in sys.modules if name.startswith("dashboard.features.")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [name for name in done.stdout.split() if name.rpartition(".")[2] == "task"]
    assert loaded == ["dashboard.features.norms.task"]

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dashboard import features
from dashboard.jobs import tasks
from dashboard.jobs.tasks import TASKS, perform
from dashboard.records.request import Request, Result

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


def test_a_result_says_what_it_was_made_with_unless_it_is_the_catalogue(monkeypatch):
    module = SimpleNamespace(perform=lambda request, context: Result(facts={"own": 1}))
    monkeypatch.setattr(tasks.importlib, "import_module", lambda name: module)
    facts = perform(Request.make("norms"), None).facts
    assert facts == {"environment": tasks.environment(), "own": 1}
    assert perform(Request.make("catalogue"), None).facts == {"own": 1}
    monkeypatch.setattr(tasks, "brought", lambda: [SimpleNamespace(name="mine")])
    with pytest.raises(ValueError, match=r"there are catalogue, .*, mine$"):
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


@pytest.mark.slow
def test_preparing_imports_what_most_jobs_need_step_by_step_and_nothing_large():
    code = """
import sys
from dashboard.jobs import task_process, tasks
del tasks.TASKS["anatomy"]
tasks.TASKS["broken"] = "nowhere.task"  # costs its own jobs a sentence, the others nothing
tasks.TASKS["norms"] = tasks.TASKS.pop("norms")
steps = [{*sys.modules} for _ in tasks.prepare()]
assert len(steps) == len(tasks.TASKS) - 2 + 1
own = {name for name, module in tasks.TASKS.items() if module in steps[-1]}
assert own == {*tasks.TASKS} - {"race", "runs", "broken"}, own
assert [tasks.TASKS["norms"] in step for step in steps][-3:] == [False, True, True]
assert "attention_plugins.models" in steps[0]
assert not {"scipy", "pandas"} & steps[-1]
assert task_process._commit.cache_info().currsize == 1  # asking git is over, too
"""
    subprocess.run([sys.executable, "-c", code], check=True)

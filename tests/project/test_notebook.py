"""The notebook of the documentation is small, and every cell of it runs in order."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest
from support.documents import ROOT

PATH = ROOT / ".github/docs/notebook.ipynb"
NOTEBOOK = json.loads(PATH.read_text("utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]

# As a notebook does: the value of a cell's last line is what it shows.
RUN = """
import ast, json, sys
names = {}
for cell in json.load(sys.stdin):
    *statements, last = ast.parse(cell).body
    exec(compile(ast.Module(statements, []), "cell", "exec"), names)
    if isinstance(last, ast.Expr):
        shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        print("shows", type(shown).__name__)
    else:
        exec(compile(ast.Module([last], []), "cell", "exec"), names)
print("loss", names["model"].history.to_pandas()["loss"].tail(30).mean())
print("verdicts", sorted(names["table"]["verdict"]))
"""


def test_it_is_a_notebook_of_two_screens_without_outputs():
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 4)
    assert len(CODE) <= 12
    for cell in NOTEBOOK["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
        assert all(isinstance(line, str) for line in cell["source"])
    assert sum(cell.count("\n") + 1 for cell in CODE) <= 40
    assert PATH.stat().st_size < 10_000


def test_it_takes_nothing_but_the_door_and_torch():
    taken = {
        alias.name if isinstance(node, ast.Import) else node.module
        for cell in CODE
        for node in ast.walk(ast.parse(cell))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert taken == {"dashboard.notebook", "torch"}


@pytest.mark.slow
def test_every_cell_runs_in_order(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", RUN], input=json.dumps(CODE), capture_output=True, text=True,
        cwd=ROOT, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("shows LayerChart") == 5
    assert done.stdout.count("shows DataFrame") == 2
    assert "h b a c c c" in done.stdout  # it did learn to write backwards
    loss = float(done.stdout.partition("loss ")[2].split()[0])
    assert loss < 0.2
    assert "'reference'" in done.stdout

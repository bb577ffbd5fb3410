"""The command ``attention-workbench``, without a server and without a plugin."""

import os
import subprocess
import sys

import pytest

from dashboard import command_line, serving


@pytest.fixture
def served(monkeypatch):
    """What the server was asked to serve."""
    monkeypatch.setattr(sys, "argv", ["pytest"])  # other commands replace it
    monkeypatch.setenv("OMP_WAIT_POLICY", "")
    monkeypatch.delenv("OMP_WAIT_POLICY")
    asked = []
    monkeypatch.setattr(serving, "run", asked.append)
    return asked


@pytest.mark.parametrize(
    ("words", "host", "port"),
    [
        ([], "localhost", 8501),
        (["serve"], "localhost", 8501),
        (["--port", "8600"], "localhost", 8600),
        (["serve", "--host", "0.0.0.0", "--port", "8601"], "0.0.0.0", 8601),
    ],
)
def test_it_serves_unless_another_command_is_named(words, host, port, served):
    assert command_line.main(words) == 0
    (given,) = served
    assert (given.host, given.port) == (host, port)


def test_what_else_a_server_is_told_arrives(served):
    command_line.main(["serve"])
    command_line.main(["--processes", "64", "--logs", "here"])
    told = [(given.processes, given.logs) for given in served]
    assert told == [(1, None), (64, "here")]


def test_the_arguments_are_those_of_this_process(served, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["attention-workbench", "--port", "8602"])
    assert command_line.main() == 0
    assert [given.port for given in served] == [8602]


@pytest.mark.parametrize("words", [["serve", "--port", "many"], ["--colour"], ["dance"]])
def test_what_it_does_not_know_is_refused(words, served, capsys):
    with pytest.raises(SystemExit, match="2"):
        command_line.main(words)
    assert served == []
    assert words[-1] in capsys.readouterr().err


def test_other_commands_are_those_of_the_plugins(served, capsys):
    with pytest.raises(SystemExit, match="2"):
        command_line.main(["translate", "--checkpoint", "nowhere", "i am here ."])
    assert capsys.readouterr().err.startswith("attention-workbench translate: ")
    assert served == []
    assert os.environ["OMP_WAIT_POLICY"] == "passive"


def test_help_names_both(served, capsys):
    with pytest.raises(SystemExit, match="0"):
        command_line.main(["--help"])
    said = capsys.readouterr().out
    assert said.startswith("usage: attention-workbench")
    assert said.count("usage:") == 1
    commands = [line.split()[0] for line in said.splitlines() if line.startswith("    ")]
    assert {"serve", "list", "train"} <= {*commands}
    assert "What runs where no command is given." in " ".join(said.split())


def test_serves_own_help_says_how_to_stop_and_nothing_of_its_inside(served, capsys):
    with pytest.raises(SystemExit, match="0"):
        command_line.main(["serve", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "Serve the dashboard in the browser until Ctrl+C." in said
    assert "Leads links" not in said


def test_a_server_loads_no_torch_and_no_plugin():
    code = (
        "import sys; from dashboard import command_line, serving; serving.run = print;"
        "command_line.main([]);"
        "print({m for m in sys.modules if m.partition('.')[0] in ('torch', 'attention_plugins')}"
        " - {'attention_plugins', 'attention_plugins.marking', 'attention_plugins.home'})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "set()"

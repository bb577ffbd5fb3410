"""Several page servers behind nginx: their shares, what nginx reads, and one that is killed."""

import asyncio
import os
import shutil
import signal
import sys
import time

import pytest
from support.processes import alive, children, command, descendants
from support.server import serving
from support.wheel import ROOT

from dashboard import command_line, limits, servers
from dashboard import serving as server_of_ours
from dashboard.settings import settings


def test_together_they_take_what_one_would(monkeypatch):
    monkeypatch.setattr(limits, "cores", lambda: 8)
    monkeypatch.setattr(limits, "default_memory", lambda processes: 16_000 // processes)
    given = servers.variables(4, settings(workers=8, trainers=4, trainings=100))
    assert given == {
        "ATTENTION_WORKERS": "2", "ATTENTION_TRAINERS": "1", "ATTENTION_TRAININGS": "25",
        "ATTENTION_WORKER_MEMORY": str(16_000 // 12), "OMP_NUM_THREADS": "1",
        "ATTENTION_HOSTS": "localhost",
    }  # fmt: skip
    few = servers.variables(4, settings(workers=1, worker_memory=700, hosts="lab.example"))
    assert (few["ATTENTION_WORKERS"], few["ATTENTION_HOSTS"]) == ("1", "lab.example")
    assert "ATTENTION_WORKER_MEMORY" not in few


def test_nginx_reads_the_same_file_with_its_own_servers(monkeypatch):
    monkeypatch.setenv("ATTENTION_UPLOAD_MEGABYTES", "7")
    text = servers.configuration("127.0.0.1:80", [1001, 1002], "/here", 4096)
    for line in (
        "server 127.0.0.1:1001 max_fails=0;", "server 127.0.0.1:1002 max_fails=0;",
        "listen 127.0.0.1:80;", 'proxy_cache_path "/here/cache" ', "client_max_body_size 7m;",
        "hash $visitor consistent;", "worker_connections 4096;",
    ):  # fmt: skip
        assert text.count(line) == 1
    assert "workbench:8501" not in text
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("number", ["0", "-2", "many", "65"])
def test_a_number_of_processes_that_cannot_be_is_refused(number, monkeypatch, capsys):
    monkeypatch.setattr(server_of_ours, "run", pytest.fail)
    with pytest.raises(SystemExit, match="2"):
        command_line.main(["serve", f"--processes={number}"])
    assert f"need a number from 1 to 64, got '{number}'" in capsys.readouterr().err


def test_without_nginx_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(servers, "_PATH", "")
    with pytest.raises(SystemExit, match="apt-get install nginx"):
        servers.run(None, "")


@pytest.mark.parametrize("at_start", [True, False])
def test_what_ends_is_started_again_unless_it_never_was_ready(at_start, tmp_path, monkeypatch):
    monkeypatch.setattr(servers, "_SECONDS_BEFORE_NEXT", 0.01)
    starts = tmp_path / "starts"

    async def happens():
        ready = asyncio.Event()
        if not at_start:
            ready.set()
        kept = asyncio.create_task(
            servers._keep(["sh", "-c", f"echo >>{starts}"], os.environ, ready)
        )
        while not at_start and (not starts.exists() or len(starts.read_text()) < 2):
            await asyncio.sleep(0.01)
        if at_start:
            assert await kept == 1
        kept.cancel()
        await asyncio.gather(kept, return_exceptions=True)  # it ends its program first

    asyncio.run(asyncio.wait_for(happens(), 20))
    assert (len(starts.read_text()) == 1) == at_start


def _kept(program, tmp_path, stops):
    """What :class:`servers._Servers` ends with over a page server and a proxy of that program."""
    log, before = tmp_path / "log", {*children(os.getpid())}

    async def happens():
        listens = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        port = listens.sockets[0].getsockname()[1]
        commands = [["sh", "-c", f"echo {name} $WHO >>{log}; {program}"] for name in "ab"]
        kept = servers._Servers(commands[0], {port: commands[1]}, {**os.environ, "WHO": "me"})

        async def stop():
            while not log.exists() or len(log.read_text().splitlines()) < 2:
                await asyncio.sleep(0.01)
            os.kill(os.getpid(), signal.SIGTERM)

        stopping = asyncio.create_task(stop()) if stops else None
        async with listens:
            code = await asyncio.wait_for(kept.run("127.0.0.1", port, "welcome"), 20)
        assert stopping is None or stopping.done()
        return code

    code = asyncio.run(happens())
    assert {*children(os.getpid())} <= before, "a program outlives the command"
    return code, sorted(log.read_text().splitlines())


def test_all_programs_run_until_the_command_is_asked_to_end(tmp_path, capsys):
    assert _kept("exec sleep 60", tmp_path, stops=True) == (0, ["a me", "b me"])
    assert capsys.readouterr().out == "welcome"


def test_a_program_that_ends_at_its_start_ends_the_command(tmp_path, monkeypatch):
    async def never(*_):
        await asyncio.sleep(60)

    monkeypatch.setattr(servers, "_listening", never)
    assert _kept("exit 3", tmp_path, stops=False) == (1, ["b me"])


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("nginx"), reason="needs nginx")
def test_one_that_is_killed_comes_back_and_none_outlives_the_command(tmp_path):
    start = [
        sys.executable, "-m", "dashboard.command_line", "serve", "--processes", "2",
        "--port", "{port}",
    ]  # fmt: skip
    own = {"ATTENTION_WORKBENCH_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}

    def pages(server):
        # A page process that starts another is, until that one runs, there twice: look at its own.
        return [each for each in children(server.process.pid) if "serve" in command(each)]

    with serving(start, tmp_path, {**os.environ, **own}) as server:
        first = pages(server)
        assert len(first) == 2
        os.kill(first[0], signal.SIGKILL)
        for _ in range(20):
            assert server.text("/_stcore/health") == "ok"
        end = time.monotonic() + 60
        while len(pages(server)) < 2 or first[0] in pages(server):
            assert time.monotonic() < end, "it was not started again"
            time.sleep(0.1)
        every = descendants(server.process.pid)
        server.process.kill()
        server.process.wait()
        end = time.monotonic() + 30
        while any(map(alive, every)):
            assert time.monotonic() < end, "a process outlives the command"
            time.sleep(0.1)

"""Several page servers on this machine behind one nginx: started, kept up and ended together.

One process draws the pages of all its visitors under one lock, so further cores help only further
processes. They share the data folder. nginx.conf says which visitor meets which of them.
"""

import argparse
import asyncio
import functools
import logging
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from dashboard import limits, logs
from dashboard.settings import Settings, settings, variable

_CONFIGURATION = Path(__file__).with_name("nginx.conf")
_WHOLE = """\
daemon off;
pid nginx.pid;
events {{ worker_connections {files}; }}
http {{
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi;
{servers}}}
"""
_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
_HERE = "127.0.0.1"
MOST = 64  # processes
_SECONDS_BEFORE_NEXT = 1.0  # of a program that has ended
_SECONDS_TO_END = 15.0

_log = logging.getLogger(__name__)


def variables(processes: int, chosen: Settings) -> dict[str, str]:
    """Of the environment of each server: its share of what one server would take.

    Each has a worker and a trainer at least. Without a proxy, browsers may ask by name as for one.
    """
    shares = {
        name: max(1, getattr(chosen, name) // processes)
        for name in ("workers", "trainers", "trainings")
    }
    crowd = processes * (shares["workers"] + shares["trainers"])
    if "worker_memory" not in chosen.model_fields_set:
        shares["worker_memory"] = limits.default_memory(crowd)
    threads = max(1, limits.cores() // (processes * shares["workers"]))
    return {
        "OMP_NUM_THREADS": str(threads), variable("hosts"): chosen.hosts or "localhost",
        **{variable(name): str(share) for name, share in shares.items()},
    }  # fmt: skip


def configuration(address: str, ports: Iterable[int], folder: str, files: int) -> str:
    """What nginx reads.

    Args:
        address: to listen at, with its port.
        ports: of the servers.
        folder: that it may write.
        files: that it may open.
    """
    text = _CONFIGURATION.read_text("utf-8")
    (line,) = re.findall(r".*workbench:8501.*\n", text)
    for old, new in {
        line: "".join(line.replace("workbench:8501", f"{_HERE}:{port}") for port in ports),
        "listen 80;": f"listen {address};",
        "/var/cache/attention-workbench": f'"{folder}/cache"',
        "client_max_body_size 50m;": f"client_max_body_size {settings().upload_megabytes}m;",
    }.items():
        text = text.replace(old, new)
    return _WHOLE.format(files=files, servers=text)


def run(given: argparse.Namespace, welcome: str) -> int:
    """Serve until SIGTERM or Ctrl+C; return the exit code.

    Args:
        given: ``processes``, ``host`` and ``port``.
        welcome: said once visitors may come.
    """
    nginx = shutil.which("nginx", path=_PATH)
    if nginx is None:
        sys.exit("--processes needs nginx, which is not on PATH: apt-get install nginx")
    logs.start(settings())
    host = _HERE if given.host == "localhost" else given.host
    try:
        socket.create_server((host, given.port), family=_family(host)).close()
    except OSError as error:
        sys.exit(f"cannot listen at {host}, port {given.port}: {error.strerror}")
    with ExitStack() as held:  # free ones
        free = (socket.create_server((_HERE, 0)) for _ in range(given.processes))
        ports = [held.enter_context(each).getsockname()[1] for each in free]
    environment = {**os.environ, **variables(given.processes, settings())}
    # -P: the folder that the server was started in may hold any modules.
    serve = [sys.executable, "-P", "-m", "dashboard.command_line", "serve", "--host", _HERE]
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    with tempfile.TemporaryDirectory(prefix="attention-workbench-") as folder:
        # nginx that root started works as another user.
        os.chmod(folder, 0o711)  # nosec B103
        address = f"[{host}]:{given.port}" if ":" in host else f"{host}:{given.port}"
        text = configuration(address, ports, folder, limits.raise_open_files())
        Path(folder, "nginx.conf").write_text(text, "utf-8")
        proxy = [nginx, "-p", folder, "-c", f"{folder}/nginx.conf", "-e", "stderr"]
        servers = {port: [*serve, "--port", str(port)] for port in ports}
        return asyncio.run(_Servers(proxy, servers, environment).run(host, given.port, welcome))


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


class _Servers:
    """The command lines of the proxy and, by their ports, of the servers."""

    def __init__(
        self, proxy: Sequence[str], servers: Mapping[int, Sequence[str]],
        environment: Mapping[str, str],
    ) -> None:  # fmt: skip
        self._proxy, self._servers, self._environment = proxy, servers, environment
        self._stopped, self._ready, self._open = (asyncio.Event() for _ in range(3))

    async def run(self, host: str, port: int, welcome: str) -> int:
        """Start all, and end all when asked to or when one ended at its start."""
        for each in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(each, self._stopped.set)
        kept = [_keep(each, self._environment, self._ready) for each in self._servers.values()]
        awaited = [self._stop(), self._let_in(), self._greet(host, port, welcome), *kept]
        tasks = [asyncio.create_task(each) for each in awaited]
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return max(each.result() for each in done)

    async def _stop(self) -> int:
        await self._stopped.wait()
        return 0

    async def _let_in(self) -> int:
        for port in self._servers:
            await _listening(_HERE, port)
        self._ready.set()
        return await _keep(self._proxy, self._environment, self._open)

    async def _greet(self, host: str, port: int, welcome: str) -> int:
        await _listening(host, port)
        self._open.set()
        sys.stdout.write(welcome)
        sys.stdout.flush()
        return await self._stop()


async def _listening(host: str, port: int) -> None:
    """Return once a program takes connections there, which it does when it has started."""
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection(host, port)
            writer.close()
            return
        await asyncio.sleep(0.1)


async def _keep(
    command: Sequence[str], environment: Mapping[str, str], ready: asyncio.Event
) -> int:
    """Run a program, again whenever it ends, and end it when this is cancelled.

    Returns:
        1 if it ended before it was ready.
    """
    die = functools.partial(limits.die_with, os.getpid(), signal.SIGTERM)
    while True:
        process = await asyncio.create_subprocess_exec(
            *command, env=environment, stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True, preexec_fn=die,
        )  # fmt: skip
        try:
            code = await process.wait()
        finally:
            if process.returncode is None:
                process.terminate()
                with suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), _SECONDS_TO_END)
                with suppress(ProcessLookupError):
                    process.kill()
        if not ready.is_set():
            return 1
        name, port = Path(command[0]).name, "--server.port"
        if port in command:
            name = f"the page server at port {command[command.index(port) + 1]}"
        _log.warning("%s ended with %d and is started again", name, code)
        await asyncio.sleep(_SECONDS_BEFORE_NEXT)

"""The files for hosts: each line of the Dockerfile runs, and they agree with each other."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError

import pytest
from packaging.specifiers import SpecifierSet
from support.documents import section
from support.server import Visit, serving
from support.wheel import ROOT, environment, plain
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from dashboard import command_line
from dashboard import serving as server_of_ours

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
COMPOSE = (ROOT / ".github/compose.yaml").read_text("utf-8")
NGINX = (ROOT / "dashboard/nginx.conf").read_text("utf-8")
UNIT = (ROOT / ".github/attention-workbench.service").read_text("utf-8")
SETTINGS = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))
PORT = 8501


class Step(NamedTuple):
    """An instruction of the Dockerfile."""

    name: str
    text: str


STEPS = [
    Step(*line.split(" ", 1))
    for line in DOCKERFILE.replace("\\\n", " ").splitlines()
    if line and not line.startswith("#")
]


def of(name: str) -> list[str]:
    return [step.text for step in STEPS if step.name == name]


def command(text: str) -> list[str]:
    return json.loads(text) if text.startswith("[") else shlex.split(text)


def test_the_image_has_a_python_that_will_do():
    (base,) = of("FROM")
    version = re.fullmatch(r"python:(3\.\d+)-slim", base)[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert SpecifierSet(project["requires-python"]).contains(version)


def test_nobody_is_root_in_the_image():
    assert "--uid 1000" in of("RUN")[0]
    names = [step.name for step in STEPS]
    assert names.index("USER") > max(i for i, name in enumerate(names) if name == "RUN")


def test_only_what_is_needed_is_sent_to_the_builder():
    """All is left out but what a line with an exclamation mark lets in."""
    first, *others = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert first == "*"
    let_in = {line[1:] for line in others if line.startswith("!")}
    assert let_in == {
        ".github/requirements.lock", ".streamlit/config.toml", "LICENSE", "README.md",
        "attention_plugins", "dashboard", "pyproject.toml", "requirements.txt",
        "streamlit_app.py", "trained",
    }  # fmt: skip
    assert [name for name in let_in if not (ROOT / name).exists()] == []


@pytest.fixture
def served(monkeypatch):
    asked = []
    monkeypatch.setattr(server_of_ours, "run", asked.append)
    return asked


def test_every_file_starts_the_server_on_the_same_port(served):
    start = re.search(r"^ExecStart=(.+)$", UNIT, re.MULTILINE)[1]
    for program, *words in (command(of("CMD")[0]), shlex.split(start)):
        assert Path(program).name == "attention-workbench"
        assert command_line.main(words) == 0
    assert [(given.host, given.port) for given in served] == [
        ("0.0.0.0", PORT), ("127.0.0.1", PORT),
    ]  # fmt: skip
    assert of("EXPOSE") == [str(PORT)]
    assert f"server workbench:{PORT} " in NGINX


def test_the_proxy_takes_what_the_server_takes():
    assert f"client_max_body_size {SETTINGS['server']['maxUploadSize']}m;" in NGINX
    for line in (
        "proxy_http_version 1.1;", "proxy_set_header Upgrade $http_upgrade;",
        "proxy_set_header Connection $connection_upgrade;", "proxy_set_header Host $http_host;",
        "proxy_buffering off;", "location ~ /metrics$ { return 404; }",
    ):  # fmt: skip
        assert line in NGINX
    assert int(re.search(r"proxy_read_timeout (\d+)s;", NGINX)[1]) > 30


def test_what_a_crowd_takes_follows_from_what_was_measured():
    text = section("hosting.md", "A crowd")
    rows = map(float, re.findall(r"^\| .+? \| ([\d.]+)(?: ms| [kMG]B|) \|$", text, re.MULTILINE))
    change, session, process, files, frames, making, cores, processes, memory, each, sent = rows
    visitors, pause = 10_000, 20
    assert cores == round(visitors / pause * change / 1000, 1)
    assert processes == math.ceil(2 * cores)
    assert memory == round((visitors * session + processes * process) / 1000, 1)
    assert each == math.ceil(visitors * files / processes)
    assert f"{cores} cores, where memory" in text
    assert sent == round(visitors * frames / 1e6, 1)
    assert f"as much as {making / change:.0f} changes" in text
    class_of_30 = section("hosting.md", "How many students")
    assert f"| {change} ms |" in class_of_30
    assert f"need 15 × {change} ms each second, three fifths of a core," in class_of_30
    assert round(30 / 2 * change / 1000 * 5) == 3


def test_on_one_machine_the_proxy_finds_the_service():
    """The recipe changes the server's name in nginx.conf, which is the composition's."""
    text = section("hosting.md", "On a Linux server")
    recipe = re.search(r"sed 's/([^/]+)/server ([^/]+)/' dashboard/nginx\.conf", text)
    there, here = recipe.groups()
    assert NGINX.count(there) == 1
    host, _, port = here.partition(":")
    assert f"serve --host {host} --port {port}\n" in UNIT


def test_the_parts_of_the_composition_find_each_other():
    services = re.findall(r"^  (\w+):\n    (?:build|image):", COMPOSE, re.MULTILINE)
    assert services == ["workbench", "database", "proxy"]
    assert "@database/workbench" in COMPOSE
    assert "- ../dashboard/nginx.conf:/etc/nginx/conf.d/default.conf:ro" in COMPOSE
    assert "build: ..\n" in COMPOSE


def test_every_service_has_limits():
    services = COMPOSE.partition("\nvolumes:")[0].split("\n  workbench:")[1]
    for limit in ("mem_limit", "cpus", "pids_limit"):
        assert len(re.findall(rf"^    {limit}: \S+$", services, re.MULTILINE)) == 3
    assert "    ulimits:\n      nofile: 65536\n" in services
    for limit in ("LimitNOFILE=65536", "MemoryMax=", "MemoryHigh=", "TasksMax="):
        assert re.search(rf"^{limit}", UNIT, re.MULTILINE)


def test_only_where_a_proxy_alone_reaches_the_server_is_everybody_believed():
    """What says where visitors are could say anything elsewhere."""
    assert 'FORWARDED_ALLOW_IPS: "*"' in COMPOSE
    assert COMPOSE.count("ports:") == 1 < COMPOSE.index("ports:") - COMPOSE.index("  proxy:")
    assert "FORWARDED_ALLOW_IPS" not in DOCKERFILE + UNIT
    assert SETTINGS["server"]["address"] == "127.0.0.1"
    assert 'delete the line `address = "127.0.0.1"`' in section(
        "hosting.md", "On Streamlit Community Cloud"
    )


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_takes_the_unit(tmp_path):
    program = tmp_path / "attention-workbench"
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    text = UNIT.replace("/opt/attention-workbench/bin/attention-workbench", str(program))
    (tmp_path / "attention-workbench.service").write_text(text, "utf-8")
    said = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "attention-workbench.service")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    ours = [line for line in said.stderr.splitlines() if "attention-workbench.service" in line]
    assert ours == []


class Builder:
    """Runs the Dockerfile's lines in a folder that stands for the image's root.

    Users are not made and nobody becomes one: ``useradd`` and ``chown`` are written down only.
    The packages are those of the environment that runs the tests, which must satisfy every line
    but that of the lock, since the environment may have newer ones.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root
        self.programs = environment(root / "python")
        self.arguments: dict[str, str] = {}
        self.variables: dict[str, str] = {}
        pip = (
            'case "$*" in *--require-hashes*) test -s "$4"; exit; esac; '
            f'exec "{sys.executable}" -m pip --python "{self.programs}/python" "$@"'
        )
        for name, does in (("pip", pip), ("useradd", ""), ("chown", "")):
            (self.programs / name).write_text(
                f'#!/bin/sh\necho {name} "$@" >>{root}/said\n{does}\n'
            )
            (self.programs / name).chmod(0o755)

    def inside(self, text: str) -> str:
        """The text with the image's paths as they are here."""
        return re.sub(r"(?<![\w.:/])/(?=data|app)", f"{self.root}/", text)

    def environment(self) -> dict[str, str]:
        offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
        path = os.pathsep.join([str(self.programs), os.environ["PATH"]])
        return plain({**self.arguments, **self.variables, **offline, "PATH": path})

    def take(self, step: Step) -> None:
        """Do what an instruction says."""
        match step.name:
            case "ARG":
                self.arguments |= dict([step.text.split("=", 1)])
            case "ENV":
                words = shlex.split(self.inside(step.text))
                self.variables |= dict(word.split("=", 1) for word in words)
            case "WORKDIR":
                self.folder = Path(self.inside(step.text))
                self.folder.mkdir(parents=True)
            case "COPY":
                source, target = step.text.split()
                assert target == "./"
                self.copy(source)
            case "RUN":
                done = subprocess.run(
                    ["sh", "-ec", self.inside(step.text)], cwd=self.folder,
                    env=self.environment(), capture_output=True, text=True, check=False,
                )  # fmt: skip
                assert done.returncode == 0, f"{step.text}\n{done.stdout}{done.stderr}"
            case "FROM" | "USER" | "VOLUME" | "EXPOSE" | "HEALTHCHECK" | "CMD":
                pass
            case unknown:
                raise AssertionError(f"no instruction {unknown!r} is known here")

    def copy(self, source: str) -> None:
        lines = (ROOT / ".dockerignore").read_text("utf-8").split()
        for name in (line[1:] for line in lines if line.startswith("!")):
            if source == ".":
                self.put(name, name)
            elif source == name:
                self.put(name, Path(name).name)

    def put(self, name: str, target: str) -> None:
        (self.folder / target).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            left = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, self.folder / target, ignore=left)
        else:
            shutil.copyfile(ROOT / name, self.folder / target)


@pytest.mark.slow
def test_every_line_of_the_dockerfile_runs_and_the_server_is_healthy(tmp_path):
    builder = Builder(tmp_path)
    for step in STEPS:
        builder.take(step)
    said = (tmp_path / "said").read_text("utf-8")
    assert "useradd --create-home --uid 1000 workbench" in said
    assert f"chown workbench {tmp_path}/data" in said
    assert "pip install --index-url https://download.pytorch.org/whl/cpu torch==" in said
    assert "pip install --require-hashes --requirement requirements.lock" in said
    program, *words = command(of("CMD")[0])
    words = [{str(PORT): "{port}", "0.0.0.0": "127.0.0.1"}.get(word, word) for word in words]
    variables = {**builder.environment(), "HOME": str(tmp_path)}
    with serving([builder.programs / program, *words], builder.folder, variables) as server:
        with Visit(server) as visit:
            visit.until(charts=1)
        port = server.url.rpartition(":")[2]
        check = of("HEALTHCHECK")[0].partition(" CMD ")[2].replace(str(PORT), port)
        assert subprocess.run(["sh", "-c", check], env=variables, check=False).returncode == 0
        wrong = check.replace("_stcore/health", "healthz")
        assert subprocess.run(
            ["sh", "-c", wrong], env=variables, check=False, capture_output=True
        ).returncode  # fmt: skip
    for line in server.log.read_text("utf-8").splitlines():
        if line.startswith("{"):
            assert json.loads(line)["level"] in ("info", "warning")


GUARD = """
import os, socket

def guarded(name):
    made = getattr(socket.socket, name)
    def connect(self, address):
        if self.type & socket.SOCK_STREAM and isinstance(address, tuple):
            if address[0] not in ("127.0.0.1", "::1", "localhost"):
                open(os.environ["ASKED"], "a").write(f"{address}\\n")
        return made(self, address)
    return connect

for name in ("connect", "connect_ex"):
    setattr(socket.socket, name, guarded(name))
find = socket.getaddrinfo

def getaddrinfo(host, *others, **more):
    if host not in (None, "", "127.0.0.1", "::1", "localhost", "0.0.0.0"):
        open(os.environ["ASKED"], "a").write(f"{host}\\n")
    return find(host, *others, **more)

socket.getaddrinfo = getaddrinfo
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc")
@pytest.mark.parametrize("address", ["", "0.0.0.0"])
def test_streamlit_run_asks_nobody_and_answers_this_machine_alone(tmp_path, address):
    (tmp_path / "sitecustomize.py").write_text(GUARD, "utf-8")
    (tmp_path / "asked").write_text("", "utf-8")
    told = ["--server.address", address] if address else []
    start = [
        sys.executable, "-m", "streamlit", "run", ROOT / "streamlit_app.py",
        "--server.port", "{port}", *told,
    ]  # fmt: skip
    own = {
        "ATTENTION_WORKBENCH_HOME": str(tmp_path), "PYTHONPATH": str(tmp_path),
        "ASKED": str(tmp_path / "asked"),
    }  # fmt: skip
    with serving(start, tmp_path, {**os.environ, **own}) as server:
        port = int(server.url.rpartition(":")[2])
        listening = [
            words[1] for words in map(str.split, Path("/proc/net/tcp").read_text().splitlines())
            if words[3] == "0A" and words[1].endswith(f":{port:04X}")
        ]  # fmt: skip
        assert listening == [f"{'00000000' if address else '0100007F'}:{port:04X}"]
        with Visit(server) as visit:
            visit.until(charts=1)
        foreign = {"Origin": "https://evil.example"}
        with pytest.raises(InvalidStatus, match="403"):
            connect(f"ws://127.0.0.1:{port}/_stcore/stream", additional_headers=foreign)
        told = json.loads(server.text("/_stcore/host-config"))
        assert told["allowedOrigins"] == [], "a site that embeds the page may send it commands"
    assert (tmp_path / "asked").read_text("utf-8") == ""
    assert f":{port}/" in server.log.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("nginx"), reason="needs nginx")
def test_a_visitor_comes_through_the_proxy_and_figures_do_not(tmp_path):
    start = [
        sys.executable, "-m", "streamlit", "run", ROOT / "streamlit_app.py",
        "--server.address", "127.0.0.1", "--server.port", "{port}",
    ]  # fmt: skip
    own = {"ATTENTION_WORKBENCH_HOME": str(tmp_path), "ATTENTION_METRICS": "true"}
    with serving(start, tmp_path, {**os.environ, **own}) as server:
        assert "attention_sessions" in server.text("/metrics")
        behind = server.url.removeprefix("http://")
        ours = NGINX.replace(f"workbench:{PORT}", behind).replace("listen 80;", "listen {port};")
        ours = ours.replace("/var/cache/attention-workbench", f"{tmp_path}/cache")
        configuration = tmp_path / "nginx.conf"
        proxy = [
            "sh", "-c",
            f"sed 's/{{{{port}}}}/{{port}}/' {tmp_path}/template > {configuration} && "
            f"exec nginx -p {tmp_path} -c {configuration} -e stderr",
        ]  # fmt: skip
        (tmp_path / "template").write_text(
            "daemon off; pid nginx.pid; events {} http { access_log off;\n" + ours + "}\n", "utf-8"
        )
        with serving(proxy, tmp_path, dict(os.environ)) as front, Visit(front) as visit:
            visit.until(charts=1)
            for path in ("/metrics", "/_stcore/metrics"):
                with pytest.raises(HTTPError, match="404"):
                    front.text(path)

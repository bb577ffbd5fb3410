"""The image that the Dockerfile makes, built and run by docker or podman where one of them works.

``IMAGE_BUILD_OPTIONS`` and ``IMAGE_RUN_OPTIONS`` hold further options, such as a proxy's.
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from support.server import START_SECONDS, Server, Visit
from support.wheel import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

BASE = re.search(r"^FROM (\S+)$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)[1]
LARGEST = 2_000_000_000  # bytes


def works(*command: str) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def program() -> str:
    """The first builder that works here, and can have the base."""
    for name in filter(shutil.which, ("docker", "podman")):
        if works(name, "info"):
            if works(name, "image", "inspect", BASE) or works(name, "pull", BASE):
                return name
            pytest.skip(f"{name} cannot pull {BASE}")
    pytest.skip("needs docker or podman")


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def image(program) -> Iterator[str]:
    name = f"attention-workbench-test-{secrets.token_hex(4)}"
    options = shlex.split(os.environ.get("IMAGE_BUILD_OPTIONS", ""))
    run(program, "build", *options, "--tag", name, str(ROOT))
    yield name
    run(program, "rmi", "--force", name)


def test_it_is_small_and_holds_what_it_needs(program, image):
    assert int(run(program, "image", "inspect", "--format", "{{.Size}}", image)) < LARGEST
    there = run(program, "run", "--rm", image, "ls", "-A", "/app").split()
    lines = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert {*there} == {line[1:].split("/")[0] for line in lines if line.startswith("!")}


@pytest.fixture
def container(program, image) -> Iterator[tuple[str, Server]]:
    """A container with a new volume, whose own files nobody can change, and its server."""
    name = f"{image}-{secrets.token_hex(4)}"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = shlex.split(os.environ.get("IMAGE_RUN_OPTIONS", ""))
    process = subprocess.Popen([
        program, "run", "--name", name, "--read-only", "--tmpfs", "/tmp",
        "--publish", f"127.0.0.1:{port}:8501", "--volume", f"{name}:/data", *options, image,
    ])  # fmt: skip
    server = Server(f"http://127.0.0.1:{port}", process, Path())
    try:
        wait_for_health(server)
        yield name, server
    finally:
        run(program, "rm", "--force", name)
        run(program, "volume", "rm", name)
        process.wait(timeout=60)


def wait_for_health(server: Server) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert server.process.poll() is None, "the container ended at its start"
        with suppress(OSError):
            if server.text("/_stcore/health") == "ok":
                return
        time.sleep(0.2)
    raise AssertionError(f"not healthy after {START_SECONDS} s")


def test_it_serves_visitors_without_rights_and_ends_when_it_is_asked_to(program, container):
    name, server = container
    with Visit(server) as visit:
        visit.until(charts=5)
    with Visit(server, page="translation") as visit:
        visit.until(charts=3)
    assert run(program, "exec", name, "id", "--user", "--name") == "workbench"
    assert run(program, "exec", name, "stat", "--format", "%U", "/data") == "workbench"
    assert "owners.key" in run(program, "exec", name, "ls", "/data")
    before = time.monotonic()
    run(program, "stop", "--time", "30", name)
    assert time.monotonic() - before < 20
    assert run(program, "inspect", "--format", "{{.State.ExitCode}}", name) == "0"

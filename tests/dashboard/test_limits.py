import math
import os
import subprocess
import sys
import time

import pytest

from dashboard import limits

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(limits.__file__)))
linux = pytest.mark.skipif(sys.platform != "linux", reason="uses what Linux offers")


def python(code):
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )


@pytest.fixture
def container(monkeypatch, tmp_path):
    """Writes the limits that a container would see."""
    monkeypatch.setattr(limits, "_CGROUP", tmp_path)
    return lambda name, text: (tmp_path / name).write_text(text)


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("max 100000", 11), ("150000 100000", 2), ("5000 100000", 1), ("9900000 100000", 11)],
)
def test_cores_are_those_of_the_container(container, monkeypatch, quota, cores):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(11)), raising=False)
    container("cpu.max", quota + "\n")
    assert limits.cores() == cores


@linux
def test_memory_is_a_share_of_the_machine_or_of_the_container(container):
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
    assert limits.default_memory(1) == math.floor(whole * 0.7)
    container("memory.max", "max\n")
    assert limits.default_memory(1) == math.floor(whole * 0.7)
    container("memory.max", f"{10_000 * 2**20}\n")
    assert limits.default_memory(1) == 7000
    assert limits.default_memory(3) == 2333
    assert limits.default_memory(50) == 1024


@linux
@pytest.mark.parametrize(
    ("limit", "megabytes", "works"), [(300, 500, 0), (300, 100, 1), (0, 500, 1)]
)
def test_an_allocation_over_the_limit_is_a_memory_error(limit, megabytes, works):
    code = f"""
from dashboard import limits
limits.limit_memory({limit})
try:
    bytearray({megabytes} * 2**20)
    print("works")
except MemoryError:
    print("refused")
"""
    assert python(code).stdout == ("works\n" if works else "refused\n")


@linux
def test_extra_memory_ends_with_its_context():
    code = """
from dashboard import limits
with limits.extra_memory(100):
    bytearray(50 * 2**20)
    try:
        bytearray(300 * 2**20)
    except MemoryError:
        print("refused")
bytearray(300 * 2**20)
print("works")
"""
    assert python(code).stdout == "refused\nworks\n"


@linux
def test_a_process_dies_with_the_one_that_started_it():
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"""
import subprocess, sys, os, time
child = subprocess.Popen([sys.executable, "-c",
    "from dashboard import limits\\n"
    f"limits.die_with({{os.getpid()}})\\n"
    "print('bound', flush=True)\\nimport time\\ntime.sleep(60)"],
    cwd={ROOT!r}, stdout=subprocess.PIPE, text=True)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(60)
""",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    with parent:
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.kill()
    assert _gone_within(child, seconds=5)


@linux
def test_a_process_whose_starter_is_gone_already_ends_at_once():
    result = python("from dashboard import limits; limits.die_with(1); print('lives')")
    assert (result.returncode, result.stdout) == (0, "")


def _gone_within(process, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with open(f"/proc/{process}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def test_free_memory_is_what_the_machine_and_the_container_have_left(container, monkeypatch):
    meminfo = limits._CGROUP / "meminfo"
    monkeypatch.setattr(limits, "_MEMINFO", meminfo)
    assert limits.free_memory() == math.inf
    assert limits.has_room_for(99)
    meminfo.write_text("MemTotal: 8192000 kB\nMemAvailable:    5242880 kB\n")
    assert limits.free_memory() == 5120
    container("memory.max", "max\n")
    container("memory.current", f"{2**30}\n")
    container("memory.stat", "active_file 7\n")
    assert limits.free_memory() == 5120
    container("memory.max", f"{3 * 2**30}\n")
    assert limits.free_memory() == 2048
    container("memory.stat", f"anon 5\ninactive_file {2**29}\n")
    assert limits.free_memory() == 2560
    assert limits.has_room_for(2)
    assert not limits.has_room_for(3)

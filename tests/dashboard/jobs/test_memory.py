import ctypes
import subprocess
import sys
import time

import pytest
from support.processes import megabytes

from dashboard.jobs import worker

gnu = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not GNU's"
)

SCRIPT = """
import re
from pathlib import Path
from dashboard.jobs import worker

def resident():
    return int(re.findall(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())[0])

blocks = [bytes(2000) for _ in range(40_000)]
kept = blocks[::100]
del blocks
before = resident()
worker.give_back()
print(before - resident())
"""


@gnu
def test_freed_memory_between_used_blocks_goes_back():
    """Of 80 MB a hundredth stays in use, spread over all of it."""
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=120
    )
    assert int(ran.stdout) > 40_000  # kB


@gnu
def test_an_idle_worker_gives_back_what_its_job_freed(make_local_pool, request_for):
    pool = make_local_pool()

    def done(task):
        event = pool.wait(pool.submit(request_for(task)), 120)
        assert event.stage == "done", event.note
        return event.result.facts["pid"]

    pid = done("echo")
    before = megabytes(pid)
    assert done("scatter") == pid
    end = time.monotonic() + 120
    while megabytes(pid) > before + 40:
        assert time.monotonic() < end, f"{before:.0f} MB became {megabytes(pid):.0f}"
        time.sleep(0.02)


def test_another_c_library_costs_nothing(monkeypatch):
    asked = []
    monkeypatch.setattr(ctypes, "CDLL", asked.append)  # and finds a library without it
    worker.give_back()
    assert asked == [None]

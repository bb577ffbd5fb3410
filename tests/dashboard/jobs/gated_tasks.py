"""Tasks of workers that a test holds up, or lets fail, by files in the folder ``GATE``."""

import os
import sys
import time
from pathlib import Path

from fake_tasks import perform as perform_fake

from dashboard.records.request import Result

GATE = Path(os.environ["GATE"])


def _note(what):
    with (GATE / what).open("a") as file:
        file.write(f"{os.getpid()}\n")


CODE = (GATE / "code").read_text()  # what a plugin is, as this worker has loaded it
if (GATE / "broken").exists():
    raise ImportError("the new code cannot be imported")
_note("loaded")


def perform(request, context):
    if request.task != "catalogue":
        return perform_fake(request, context)
    _note("begun")
    while (GATE / "closed").exists():
        if context.stopped():
            return Result(facts={"late": True})
        time.sleep(0.005)
    if (GATE / "failing").exists():
        raise RuntimeError("the plugins cannot be listed")
    if (GATE / "crashing").exists():
        sys.stderr.write("about to crash\n")
        os._exit(5)
    _note("done")
    return Result(facts={"code": CODE, "pid": os.getpid(), "cacheable": False})

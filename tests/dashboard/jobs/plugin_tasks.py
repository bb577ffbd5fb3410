"""Tasks of a worker that loads plugins and reports each one before its code runs."""

import ctypes
import os
import time

from dashboard.records.result import Result

STATE = {"loaded": None}


def watch(report, quarantined):
    STATE.update(report=report, quarantined=[entry["plugin"] for entry in quarantined])


def perform(request, context):
    options = dict(request.options)
    if STATE["loaded"] is None:
        STATE["loaded"] = [name for name in options["plugins"].split() if _load(name)]
    return Result(facts={"loaded": STATE["loaded"], "cacheable": False})


def _load(name):
    if name in STATE["quarantined"]:
        return False
    STATE["report"]({"plugin": name, "distribution": f"dist-{name}", "paths": [__file__]})
    PLUGINS[name]()
    STATE["report"](None)
    return True


def _hang():
    while True:
        time.sleep(0.01)


PLUGINS = {
    "fine": lambda: None,
    "slow": lambda: time.sleep(0.4),
    "hang": _hang,
    "crash": lambda: ctypes.string_at(0),
    "exit": lambda: os._exit(3),
}

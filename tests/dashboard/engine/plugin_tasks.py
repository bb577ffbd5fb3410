"""Tasks of a worker that loads plugins: ``watch`` is told of each before its code runs."""

import ctypes
import os
import time

from dashboard.runs.result import Result

STATE = {"loaded": None}


def watch(tell, quarantined):
    STATE.update(tell=tell, quarantined=[entry["plugin"] for entry in quarantined])


def perform(request, context):
    options = dict(request.options)
    if STATE["loaded"] is None:
        STATE["loaded"] = [name for name in options["plugins"].split() if _load(name)]
    return Result(facts={"loaded": STATE["loaded"], "cacheable": False})


def _load(name):
    if name in STATE["quarantined"]:
        return False
    STATE["tell"]({"plugin": name, "distribution": f"dist-{name}", "paths": [__file__]})
    PLUGINS[name]()
    STATE["tell"](None)
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

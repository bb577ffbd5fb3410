"""Tasks of a worker that loads plugins and reports each one before its code runs."""

import ctypes
import os
import threading
import time

import torch

from dashboard.records.request import Result

STATE = {"loaded": None}


def watch(report, quarantined):
    STATE.update(report=report, quarantined=[entry["plugin"] for entry in quarantined])


def perform(request, context):
    options = dict(request.options)
    if STATE["loaded"] is None:
        STATE["loaded"] = [name for name in options["plugins"].split() if _load(name)]
    facts = {"loaded": STATE["loaded"], "pid": os.getpid(), "cacheable": False}
    facts["ones"] = torch.ones(3).sum().item()
    if does := options.get("does"):
        DOES[does]()
    return Result(facts=facts)


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


def _patch():
    torch.ones = torch.zeros


def _spin():
    def forever():
        while True:
            pass

    threading.Thread(target=forever, daemon=True).start()


def _spin_later():
    threading.Timer(0.3, _spin).start()


DOES = {
    "patches": _patch, "spins": _spin, "spins later": _spin_later, "nothing": lambda: None,
    "waits in a thread": lambda: threading.Timer(60, print).start(),
    "default": lambda: torch.set_default_dtype(torch.float64),
}  # fmt: skip
PLUGINS = {
    "patch": _patch,
    "fine": lambda: None,
    "slow": lambda: time.sleep(0.4),
    "hang": _hang,
    "crash": lambda: ctypes.string_at(0),
    "exit": lambda: os._exit(3),
}

"""Tasks that do everything a plugin may do wrong; a worker under test runs them."""

import os
import re
import signal
import sys
import threading
import time

import pyarrow as pa

from dashboard.jobs.tasks import Cancelled
from dashboard.records.request import Result


def perform(request, context):
    return TASKS[request.task](dict(request.options), context)


def prepare():
    """What a warm worker does until somebody asks: creates a file, where a test names one."""
    yield
    if "PREPARED" in os.environ:
        open(os.environ["PREPARED"], "w").close()
    yield


def echo(options, context):
    return Result(facts={"echo": options, "pid": os.getpid()})


def uncacheable(options, context):
    return Result(facts={"pid": os.getpid(), "time": time.time_ns(), "cacheable": False})


def count(options, context):
    """Adds a line to a file, so that a test sees how often it ran."""
    with open(options["file"], "a") as file:
        file.write("ran\n")
    _obey(options["seconds"], context)
    return Result(facts={"time": time.time_ns()})


def count_until(options, context):
    """Adds a line to a file, and runs until another file is there."""
    with open(options["file"], "a") as file:
        file.write("ran\n")
    while not os.path.exists(options["gate"]):
        _obey(0.002, context)
    return Result()


_KEPT = []


def scatter(options, context):
    """Frees 80 MB, of which a hundredth, spread over all of it, stays in use."""
    blocks = [bytes(2000) for _ in range(40_000)]
    _KEPT.extend(blocks[::100])
    return Result(facts={"pid": os.getpid()})


def sleep(options, context):
    _obey(options["seconds"], context)
    return Result()


def _obey(seconds, context):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if context.stopped():
            raise Cancelled
        time.sleep(0.002)


def hang(options, context):
    context.report(0.5, "hanging")
    while True:
        time.sleep(0.01)


def hold_lock(options, context):
    """Stays in native code that keeps Python's lock, so that no other thread runs."""
    context.report(0.5, "searching")
    re.match(r"(a+)+$", "a" * 60 + "b")


def ignore_stop(options, context):
    """Finishes its work although it was asked to stop."""
    while not context.stopped():
        time.sleep(0.002)
    return Result(facts={"late": True})


def segfault(options, context):
    sys.stderr.write("about to crash\n")
    os.kill(os.getpid(), signal.SIGSEGV)


def oom(options, context):
    os.kill(os.getpid(), signal.SIGKILL)


def exit_now(options, context):
    if options.get("words"):
        sys.stderr.write(options["words"] + "\n")
    os._exit(options.get("code", 7))


def system_exit(options, context):
    sys.exit(3)


def interrupt(options, context):
    raise KeyboardInterrupt


def refuse(options, context):
    raise ValueError('need 2 <= n, got n=1 (field "training points")')


def error(options, context):
    raise RuntimeError("first line\nsize 3 does not match size 5")


def chatter(options, context):
    print("words on stdout", flush=True)
    sys.stdout.buffer.write(b"\x00" * 100_000)
    sys.stdout.buffer.flush()
    os.write(1, b"more words")
    os.write(2, b"x" * 300_000)
    return Result(facts={"stdin": sys.stdin.read()})


def allocate(options, context):
    block = bytearray(options["megabytes"] * 2**20)
    return Result(facts={"size": len(block)})


def flood(options, context):
    for step in range(options["reports"]):
        context.report(step / options["reports"], f"step {step}", {"step": step})
    return Result()


def pause(options, context):
    """Two reports at once, then silence: the second must be seen before the end."""
    context.report(0.1, "first")
    context.report(0.2, "second")
    _obey(options["seconds"], context)
    return Result()


def table(options, context):
    column = pa.array(range(options["rows"]), type=pa.int64())
    return Result(tables={"numbers": pa.table({"n": column})})


def not_a_result(options, context):
    return {"n": 1}


def nan_facts(options, context):
    return Result(facts={"loss": float("nan")})


def fork_and_die(options, context):
    """Leaves a child behind that holds every file of ours."""
    child = os.fork()
    if child == 0:
        time.sleep(600)
        os._exit(0)
    with open(options["file"], "w") as file:
        file.write(str(child))
    os._exit(9)


def leave_thread(options, context):
    threading.Thread(target=time.sleep, args=(600,)).start()
    raise MemoryError


def environment(options, context):
    names = ("OMP_NUM_THREADS", "FLAVOUR", "AWS_SECRET_ACCESS_KEY", "CUDA_VISIBLE_DEVICES")
    return Result(facts={name: os.environ.get(name) for name in names})


TASKS = {name: thing for name, thing in globals().items() if callable(thing)}

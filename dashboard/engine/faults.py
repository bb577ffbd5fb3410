"""What went wrong with a job, in one sentence and a few facts."""

from __future__ import annotations

import signal
import sys
import traceback
from importlib.metadata import packages_distributions
from types import TracebackType
from typing import Any

from dashboard.runs.request import Request

Fault = tuple[str, dict[str, Any]]

_OURS = {"dashboard", "attention_plugins", "__main__", "torch"} | set(sys.stdlib_module_names)
_LINES = 15
_LONGEST_LINE = 500


def what(request: Request) -> str:
    """Which job it was, such as ``translation with bahdanau and additive``."""
    names = [name for name in (request.model, request.scoring) if name]
    return f"{request.task} with {' and '.join(names)}" if names else request.task


def refused(request: Request, error: ValueError) -> Fault:
    """Input that a task did not accept: the note is the task's own sentence."""
    note = _short(str(error)) or f"{what(request)} refused its input without saying why"
    return note, {"refused": True}


def raised(request: Request, error: BaseException, memory: int) -> Fault:
    """An exception that nobody foresaw; ``memory`` is the worker's limit in megabytes."""
    lines = str(error).strip().splitlines()
    shown = ": ".join([type(error).__name__, *(_short(line) for line in lines[-1:])])
    facts: dict[str, Any] = {"traceback": _tail(error)}
    if culprit := _culprit(error.__traceback__):
        facts["culprit"] = culprit
    hint = f"; a worker may use {memory:,} MB" if out_of_memory(error) and memory else ""
    return f"{what(request)}: {shown}{hint}", facts


def out_of_memory(error: BaseException) -> bool:
    """Whether memory was refused; torch says so with a ``RuntimeError``."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error)


def died(request: Request, code: int | None, stderr: str) -> Fault:
    """A worker that ended in the middle of a job, by signal (``code < 0``) or exit code."""
    note = f"{what(request)}: its process {_ending(code)}"
    if words := last_words(stderr):
        note += f": {_short(words)}"
    facts: dict[str, Any] = {"stderr": "\n".join(stderr.splitlines()[-_LINES:])}
    if culprit := request.scoring or request.model:
        facts["culprit"] = culprit
    return note, facts


def took_too_long(request: Request, limit: float) -> Fault:
    """A job over its time limit in seconds."""
    note = (
        f"{what(request)} took longer than {limit:g} s and was stopped; fewer points, a shorter "
        "text or fewer epochs would be right"
    )
    return note, {"time_limit": limit}


def no_worker(reason: str) -> Fault:
    """A job that no worker could take, since none would start."""
    note = f"no worker starts: {reason}; repair that, then ask again"
    return note, {"reason": reason}


def last_words(stderr: str) -> str:
    """The line of a dying process that says most: where it crashed, else the last it printed."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    _, dumped, stack = stderr.partition("(most recent call first):\n")
    if dumped:  # written by faulthandler: the innermost call comes first
        return stack.splitlines()[0].strip() if stack else ""
    return lines[-1] if lines else ""


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        known = {number.value: number.name for number in signal.Signals}
        name = known.get(-code, f"signal {-code}")
        reason = ", most likely for lack of memory" if name == "SIGKILL" else ""
        return f"was killed by {name}{reason}"
    return f"ended with exit code {code}"


def _tail(error: BaseException) -> str:
    lines = "".join(traceback.format_exception(error)).rstrip().splitlines()
    return "\n".join(_short(line) for line in lines[-_LINES:])


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + "…"


def _culprit(trace: TracebackType | None) -> str:
    """The distribution of the first caller outside this project; its module where it has none."""
    for frame, _ in traceback.walk_tb(trace):
        module = frame.f_globals.get("__name__", "").partition(".")[0]
        if module and module not in _OURS:
            return packages_distributions().get(module, [module])[0]
    return ""

"""What went wrong with a job, in one sentence and a few facts."""

from __future__ import annotations

import os
import re
import signal
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

from dashboard.runs.request import Request

Fault = tuple[str, dict[str, Any]]
Origins = Mapping[str, Sequence[str]]  # the folders and files of a distribution's modules
NOWHERE: Origins = {}

SILENCE, LOADING = "ATTENTION_SILENCE_LIMIT", "ATTENTION_PLUGIN_LIMIT"
_OURS = {"dashboard", "attention_plugins", "__main__", "torch"} | set(sys.stdlib_module_names)
_LINES = 15
_LONGEST_LINE = 500
_DUMPED = "(most recent call first):\n"  # by faulthandler: the innermost call comes first
_FRAME = re.compile(r'^ *File "(?P<path>.+)", line (?P<line>\d+) in (?P<name>.+)$', re.M)


def what(request: Request) -> str:
    """Which job it was, such as ``translation with bahdanau and additive``."""
    names = [name for name in (request.model, request.scoring) if name]
    return f"{request.task} with {' and '.join(names)}" if names else request.task


def refused(request: Request, error: ValueError) -> Fault:
    """Input that a task did not accept: the note is the task's own sentence."""
    note = _short(str(error)) or f"{what(request)} refused its input without saying why"
    return note, {"refused": True}


def raised(
    request: Request, error: BaseException, memory: int, origins: Origins = NOWHERE
) -> Fault:
    """An exception that nobody foresaw; ``memory`` is the worker's limit in megabytes."""
    lines = str(error).strip().splitlines()
    shown = ": ".join([type(error).__name__, *(_short(line) for line in lines[-1:])])
    facts: dict[str, Any] = {"traceback": _tail(error)}
    culprit = _culprit(error.__traceback__, origins)
    if culprit:
        facts["culprit"] = culprit
    if out_of_memory(error) and memory:
        shown = (
            f"{culprit or 'it'} asked for more memory than a worker may use, {memory:,} MB "
            f"(ATTENTION_WORKER_MEMORY): {shown}"
        )
    return f"{what(request)}: {shown}", facts


def out_of_memory(error: BaseException) -> bool:
    """Whether memory was refused; torch says so with a ``RuntimeError``."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error)


def died(request: Request, code: int | None, stderr: str, origins: Origins = NOWHERE) -> Fault:
    """A worker that ended in the middle of a job, by signal (``code < 0``) or exit code."""
    facts: dict[str, Any] = {"stderr": "\n".join(stderr.splitlines()[-_LINES:])}
    culprit, _ = whereabouts(stderr, origins)
    if culprit := culprit or request.scoring or request.model:
        facts["culprit"] = culprit
    return f"{what(request)}: its process {ending(code, stderr, origins)}", facts


def ending(code: int | None, stderr: str, origins: Origins = NOWHERE) -> str:
    """How a process ended, and in which line if that is known: ``was killed by SIGSEGV: …``."""
    words = whereabouts(stderr, origins)[1] or last_words(stderr)
    return _ending(code) + (f": {_short(words)}" if words else "")


def took_too_long(
    request: Request, limit: float, stderr: str = "", origins: Origins = NOWHERE
) -> Fault:
    """A job over its time limit in seconds."""
    note = (
        f"{what(request)} took longer than {limit:g} s and was stopped; fewer points, a shorter "
        "text or fewer epochs would be right"
    )
    culprit, _ = whereabouts(stderr, origins)
    return note, {"time_limit": limit, **({"culprit": culprit} if culprit else {})}


def silent(request: Request, limit: float, stderr: str = "", origins: Origins = NOWHERE) -> Fault:
    """A job that reported nothing for so many seconds; ``stderr`` holds where it was then."""
    culprit, line = whereabouts(stderr, origins)
    place = f" in {culprit}" if culprit else ""
    line = line or last_words(stderr)
    note = (
        f"{what(request)}: it computed for {limit:g} s without a sign of life{place} and was "
        f"stopped{f' ({_short(line)})' if line else ''}; {SILENCE} sets how long that may take"
    )
    facts: dict[str, Any] = {"silence": limit}
    if culprit := culprit or request.scoring or request.model:
        facts["culprit"] = culprit
    return note, facts


def whereabouts(stderr: str, origins: Origins) -> tuple[str, str]:
    """Of the innermost call into a plugin, the distribution and the line; else twice nothing."""
    stack = stderr.rpartition(_DUMPED)[2]
    frames = list(_FRAME.finditer(stack)) if _DUMPED in stderr else []
    for frame in frames:
        if culprit := _owner([frame["path"]], origins):
            path = os.path.basename(frame["path"])
            return culprit, f"{path}, line {frame['line']}, in {frame['name']}"
    return "", ""


def too_slow(limit: float, stderr: str, origins: Origins) -> str:
    """A plugin that was not loaded in so many seconds; ``stderr`` holds where it was then."""
    line = whereabouts(stderr, origins)[1] or last_words(stderr)
    place = f" ({_short(line)})" if line else ""
    return f"it was not loaded after {limit:g} s{place}; {LOADING} sets how long that may take"


def no_worker(reason: str) -> Fault:
    """A job that no worker could take, since none would start."""
    note = f"no worker starts: {reason}; repair that, then ask again"
    return note, {"reason": reason}


def last_words(stderr: str) -> str:
    """The line of a dying process that says most: where it crashed, else the last it printed."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    _, dumped, stack = stderr.rpartition(_DUMPED)
    if dumped:
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


def _culprit(trace: TracebackType | None, origins: Origins) -> str:
    """The plugin of the innermost call into one; else the first caller outside this project.

    Of the latter its distribution, or its module where it has none.
    """
    # Only here, since it takes a sixth of a worker's start.
    from importlib.metadata import packages_distributions

    frames = [frame for frame, _ in traceback.walk_tb(trace)]
    if owner := _owner((frame.f_code.co_filename for frame in reversed(frames)), origins):
        return owner
    for frame in frames:
        module = frame.f_globals.get("__name__", "").partition(".")[0]
        if module and module not in _OURS:
            return packages_distributions().get(module, [module])[0]
    return ""


def _owner(paths: Iterable[str], origins: Origins) -> str:
    """The distribution to which the first path of a plugin belongs."""
    for path in paths:
        for distribution, places in origins.items():
            if any(path == place or path.startswith(place + os.sep) for place in places):
                return distribution
    return ""

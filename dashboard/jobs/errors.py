"""Describes why a job failed: one sentence for the reader, and a few facts."""

import os
import re
import signal
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

from dashboard.language import gettext_noop
from dashboard.records.beside import beside
from dashboard.records.request import Request
from dashboard.records.text import without_folders

_SAID = beside(__file__, "words.toml")["errors"]
_FIT = beside(__file__, "words.toml")["fit"]
Failure = tuple[str, dict[str, Any]]  # the note and the facts of a failed event
Origins = Mapping[str, Sequence[str]]  # the folders and files of each distribution's modules
NO_ORIGINS: Origins = {}

SILENCE_VARIABLE = "ATTENTION_SILENCE_LIMIT"
PLUGIN_VARIABLE = "ATTENTION_PLUGIN_LIMIT"
_NOT_PLUGINS = {"dashboard", "attention_plugins", "__main__", "torch", *sys.stdlib_module_names}
_MAX_LINES = 15
_MAX_LINE_LENGTH = 500
_STACK_HEADER = "(most recent call first):\n"  # of faulthandler: the innermost call comes first
_STACK_FRAME = re.compile(r'^ *File "(?P<path>.+)", line (?P<line>\d+) in (?P<name>.+)$', re.M)


def job_name(request: Request) -> str:
    """Name a job, such as ``translation with bahdanau and additive``."""
    names = [name for name in (request.model, request.scoring) if name]
    if not names:
        return request.task
    if len(names) == 1:
        return gettext_noop("{task} with {name}", task=request.task, name=names[0])
    return gettext_noop(
        "{task} with {model} and {scoring}",
        task=request.task, model=request.model, scoring=request.scoring,
    )  # fmt: skip


def refused(request: Request, error: ValueError) -> Failure:
    """Describe input that a task refused; the note is the task's own sentence."""
    silent = gettext_noop("{job} refused its input without saying why", job=job_name(request))
    return _shortened(str(error)) or silent, {"refused": True, **getattr(error, "facts", {})}


def raised(
    request: Request, error: BaseException, memory: int, origins: Origins = NO_ORIGINS
) -> Failure:
    """Describe an unexpected exception; ``origins`` say where the modules of plugins lie."""
    lines = str(error).strip().splitlines()
    message = ": ".join([type(error).__name__, *(_shortened(line) for line in lines[-1:])])
    trace = "".join(traceback.format_exception(error)).rstrip().splitlines()[-_MAX_LINES:]
    facts: dict[str, Any] = {"traceback": "\n".join(map(_shortened, trace))}
    if culprit := _culprit(error.__traceback__, origins):
        facts["culprit"] = culprit
    if out_of_memory(error) and memory:
        note = gettext_noop(
            _SAID["memory"], job=job_name(request), culprit=culprit or gettext_noop("it"),
            memory=memory, message=message,
        )  # fmt: skip
        return note, facts
    return f"{job_name(request)}: {message}", facts


def out_of_memory(error: BaseException) -> bool:
    """Whether an allocation failed; torch raises a ``RuntimeError`` then."""
    return isinstance(error, MemoryError) or "allocate memory" in str(error)


def died(
    request: Request, code: int | None, stderr: str, origins: Origins = NO_ORIGINS
) -> Failure:
    """Describe a worker that ended during a job; a negative code is a signal's number."""
    facts: dict[str, Any] = {
        "stderr": without_folders("\n".join(stderr.splitlines()[-_MAX_LINES:]))
    }
    culprit, _ = plugin_call(stderr, origins)
    if culprit := culprit or request.scoring or request.model:
        facts["culprit"] = culprit
    return gettext_noop(
        "{job}: its process {ending}", job=job_name(request), ending=ending(code, stderr, origins),
    ), facts  # fmt: skip


def lost(request: Request, reason: str) -> Failure:
    """Describe a job whose worker was lost with its machine, after it had been tried again."""
    note = gettext_noop(_SAID["lost"], job=job_name(request), reason=_shortened(reason))
    return note, {"reason": reason}


def ending(code: int | None, stderr: str, origins: Origins = NO_ORIGINS) -> str:
    """Return how a process ended, and in which line if known: ``was killed by SIGSEGV: …``."""
    detail = _shortened(plugin_call(stderr, origins)[1] or last_line(stderr))
    if code is None or code >= 0:
        if detail:
            return gettext_noop("ended with exit code {code}: {detail}", code=code, detail=detail)
        return gettext_noop("ended with exit code {code}", code=code)
    name = {number.value: number.name for number in signal.Signals}.get(-code, f"signal {-code}")
    if name == "SIGKILL":
        if detail:
            return gettext_noop(_SAID["killed"], detail=detail)
        return gettext_noop("was killed by SIGKILL, most likely for lack of memory")
    if detail:
        return gettext_noop("was killed by {signal}: {detail}", signal=name, detail=detail)
    return gettext_noop("was killed by {signal}", signal=name)


def timed_out(
    request: Request, limit: float, stderr: str = "", origins: Origins = NO_ORIGINS
) -> Failure:
    """Describe a job that ran longer than its time limit, in seconds."""
    options, form = dict(request.options), _SAID["too_long"]
    if request.task == "regression":
        folds = "folds_" * (options.get("validation.method") == "folds")
        form = _FIT[f"{'learning_' * bool(options.get('learn'))}{folds}too_long"]
    note = gettext_noop(form, job=job_name(request), limit=limit)
    culprit, _ = plugin_call(stderr, origins)
    return note, {"time_limit": limit, **({"culprit": culprit} if culprit else {})}


def unresponsive(
    request: Request, limit: float, stderr: str = "", origins: Origins = NO_ORIGINS
) -> Failure:
    """Describe a job that reported nothing for ``limit`` seconds; ``stderr`` has its stack."""
    culprit, line = plugin_call(stderr, origins)
    line = line or last_line(stderr)
    note = _SAID["silent_plugin" if culprit else "silent_line" if line else "silent"].format(
        job=job_name(request), limit=limit, culprit=culprit, line=_shortened(line),
        variable=SILENCE_VARIABLE,
    )  # fmt: skip
    facts: dict[str, Any] = {"silence": limit}
    if culprit := culprit or request.scoring or request.model:
        facts["culprit"] = culprit
    return note, facts


def plugin_timed_out(limit: float, stderr: str, origins: Origins) -> str:
    """Describe a plugin that was not loaded within ``limit`` seconds; ``stderr`` has its stack."""
    line = plugin_call(stderr, origins)[1] or last_line(stderr)
    form = _SAID["loading_line" if line else "loading"]
    return form.format(limit=limit, line=_shortened(line), variable=PLUGIN_VARIABLE)


def no_worker(reason: str) -> Failure:
    """Describe a job that could not run because no worker started."""
    note = gettext_noop(
        "no worker starts: {reason}; repair that, then ask again", reason=_shortened(reason)
    )
    return note, {"reason": reason}


def plugin_call(stderr: str, origins: Origins) -> tuple[str, str]:
    """Find the innermost call into a plugin on the last stack that was written to stderr.

    Returns the plugin's distribution and the line, such as ``kernel.py, line 7, in forward``; two
    empty strings if there is no such call.
    """
    stack = stderr.rpartition(_STACK_HEADER)[2]
    for frame in list(_STACK_FRAME.finditer(stack)) if _STACK_HEADER in stderr else []:
        if owner := _owner([frame["path"]], origins):
            return owner, gettext_noop(
                "{path}, line {line}, in {function}",
                path=os.path.basename(frame["path"]), line=frame["line"], function=frame["name"],
            )  # fmt: skip
    return "", ""


def last_line(stderr: str) -> str:
    """Return the innermost call of the last stack on stderr, or else the last line printed."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    _, header, stack = stderr.rpartition(_STACK_HEADER)
    if header:
        return stack.splitlines()[0].strip() if stack else ""
    return lines[-1] if lines else ""


def _shortened(line: str) -> str:
    """What strangers may read of a line: its beginning, without the folders of this machine."""
    line = without_folders(line)
    return line if len(line) <= _MAX_LINE_LENGTH else line[:_MAX_LINE_LENGTH] + "…"


def _culprit(trace: TracebackType | None, origins: Origins) -> str:
    """Return the plugin of the innermost call into one, or the first caller outside this project.

    A caller outside this project is named by its distribution, or by its module if it has none.
    """
    # Imported late: it takes a sixth of the time in which a worker starts.
    from importlib.metadata import packages_distributions

    frames = [frame for frame, _ in traceback.walk_tb(trace)]
    if owner := _owner((frame.f_code.co_filename for frame in reversed(frames)), origins):
        return owner
    for frame in frames:
        module = frame.f_globals.get("__name__", "").partition(".")[0]
        if module and module not in _NOT_PLUGINS:
            return packages_distributions().get(module, [module])[0]
    return ""


def _owner(paths: Iterable[str], origins: Origins) -> str:
    for path in paths:
        for distribution, places in origins.items():
            if any(path == place or path.startswith(place + os.sep) for place in places):
                return distribution
    return ""

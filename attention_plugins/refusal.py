"""Why a plugin, or a part of one, was not taken in: its stage, a sentence, an advice."""

from __future__ import annotations

import importlib
import signal
import traceback
from importlib import metadata
from pathlib import Path
from typing import Literal

import torch

_LONGEST_MESSAGE = 300
_OURS, _TORCH = Path(__file__).parent, Path(torch.__file__).parent
_MACHINERY = {
    Path(__file__), _OURS / "discovery.py", Path(importlib.__file__), Path(metadata.__file__),
}  # fmt: skip

Stage = Literal[
    "blocked", "quarantine", "import", "contract", "hooks", "call", "record", "clash",
    "duplicate", "describe",
]  # fmt: skip


class Refused(Exception):
    """A plugin, or a part of one, that cannot be taken in."""

    def __init__(self, stage: Stage, message: str, advice: str) -> None:
        super().__init__(message)
        self.stage: Stage = stage
        self.message, self.advice = message, advice


def let_go(error: BaseException) -> None:
    """Pass on the user's Ctrl-C; where the signal means something else, a plugin raised it."""
    if isinstance(error, KeyboardInterrupt) and (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        raise error


def last_line(error: BaseException) -> str:
    """The last line of the error's traceback and, where a file is to blame, its place."""
    lines = traceback.format_exception_only(error)[-1].strip().splitlines() or [repr(error)]
    line = lines[-1].removeprefix(f"{type(error).__module__}.")[:_LONGEST_MESSAGE]
    places = [(Path(f.filename), f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((Path(error.filename), error.lineno))
    places = [place for place in places if place[0].is_absolute() and place[0] not in _MACHINERY]
    # The contract and torch raise on behalf of a plugin: they are to blame only if alone.
    outside = [place for place in places if not {_OURS, _TORCH} & {*place[0].parents}] or places
    return f"{line} ({outside[-1][0].name}, line {outside[-1][1]})" if outside else line

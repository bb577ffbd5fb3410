"""Tries a page that a package brings, in a process of its own: the task of that process.

A page that imports torch or ``attention_plugins`` is refused here.
"""

import importlib
import pkgutil
import sys
from collections.abc import Callable
from typing import Any

from streamlit.string_util import validate_icon_or_emoji

from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.pages import error_line
from dashboard.records.request import Request, Result
from dashboard.ui.page import Page

_HEAVY = ("torch", "attention_plugins")


def perform(request: Request, context: Context) -> Result:
    """Try a page, in a process of its own: import it as the page process would.

    Args:
        request: the page's name as the task, and how its entry point declares it.
        context: of a worker.

    Returns:
        Facts: what its :class:`Entry` says of it.

    Raises:
        ValueError: the page cannot be shown, with the reason.
    """
    declared = str(dict(request.options)["declared"])
    module = f"{declared.partition(':')[0].strip()}.page"
    sys.modules.pop("attention_plugins", None)  # loaded for its marks; who imports it shows
    entry = _attempt(lambda: pkgutil.resolve_name(declared), declared)
    page = _attempt(lambda: importlib.import_module(module).PAGE, module)
    if heavy := [name for name in _HEAVY if name in sys.modules]:
        raise ValueError(gettext_noop(
            "{module} imports {heavy}: only its task.py may, which runs in workers",
            module=module, heavy=heavy[0],
        ))  # fmt: skip
    if not isinstance(page, Page) or page.name != request.task:
        raise ValueError(gettext_noop(
            "need PAGE in {module} to be a Page of the name {name}, as the entry point has it",
            module=module, name=request.task,
        ))  # fmt: skip
    told = {name: getattr(entry, name, None) for name in ("title", "icon", "section", "purpose")}
    if not all(isinstance(text, str) for text in told.values()) or not str(told["title"]).strip():
        raise ValueError(gettext_noop("{declared} must be an Entry of texts", declared=declared))
    _attempt(lambda: validate_icon_or_emoji(f":material/{entry.icon}:"), declared)
    return Result(facts=told)


def _attempt(action: Callable[[], Any], what: str) -> Any:
    try:
        return action()
    except BaseException as error:  # it may ask the process to exit
        raise ValueError(
            gettext_noop("{what} raised {error}", what=what, error=error_line(error))
        ) from error

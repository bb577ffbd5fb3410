"""Finds texts that a page shows without asking for a translation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.texts import DECLARED, ROOT, in_worker

# What a visitor reads, by the name of the method that shows it: its first arguments.
SINKS = {
    "badge": 1, "button": 1, "caption": 1, "checkbox": 1, "download_button": 1, "error": 1,
    "expander": 1, "feedback": 1, "file_uploader": 1, "form_submit_button": 1, "header": 1,
    "info": 1, "link_button": 1, "markdown": 1, "metric": 1, "multiselect": 1, "number_input": 1,
    "pills": 1, "popover": 1, "radio": 1, "segmented_control": 1, "select_slider": 1,
    "selectbox": 1, "setting": 1, "slider": 1, "status": 1, "subheader": 1, "success": 1,
    "tabs": 1, "text": 1, "text_area": 1, "text_input": 1, "title": 1, "toast": 1, "toggle": 1,
    "warning": 1, "Column": 1, "NumberColumn": 1, "TextColumn": 1, "LinkColumn": 1,
    "CheckboxColumn": 1, "ProgressColumn": 1,
}  # fmt: skip
NAMED = {"help", "label", "placeholder", "title"}
# They speak to whoever runs the server, or write files.
ELSEWHERE = (
    "command_line", "headers", "hosts", "latency", "logs", "metrics", "publish", "serving",
    "settings", "starting",
)  # fmt: skip
_NOT_PAGES = {"parser", "log", "_LOG", "logger", "_log"}
_WORD = re.compile(r"[A-Za-z]{2,}")
# Icons, commands of TeX, code in Markdown, style sheets and tags are no words.
_NO_WORDS = re.compile(r":[a-z_/-]+:|:[a-z]+\[|\\[A-Za-z]+|`[^`]*`|\$[^$]*\$|<[^>]*>|\{[^}]*\}")
# The workbench's own name, and formats of files.
NAMES = {
    "Attention Workbench", "JSON", "CSV", "PDF", "PNG", "PNG, 300 dpi", "SVG", "HTML", "Vega-Lite",
    "BibTeX", "LaTeX",
}  # fmt: skip


def pages() -> list[Path]:
    """The modules of the page process."""
    return sorted(
        path for path in (ROOT / "dashboard").rglob("*.py")
        if not in_worker(path) and path.stem not in ELSEWHERE
    )  # fmt: skip


def bare_texts(path: Path) -> Iterator[str]:
    """``path:line: text`` of every text that would be shown in English to everybody."""
    for line, text in of_source(path.read_text("utf-8")):
        yield f"{path.relative_to(ROOT).as_posix()}:{line}: {text}"


def of_source(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of the same in the source of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            for shown in _shown(node):
                yield from ((node.lineno, text) for text in _bare(shown))


def _shown(call: ast.Call) -> Iterator[ast.expr]:
    name = getattr(call.func, "attr", None) or getattr(call.func, "id", "")
    if name in DECLARED:
        return
    receiver = getattr(getattr(call.func, "value", None), "id", "")
    if isinstance(call.func, ast.Attribute) and receiver not in _NOT_PAGES:
        yield from call.args[: SINKS.get(name, 0)]
    yield from (each.value for each in call.keywords if each.arg in NAMED)


def _bare(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if _has_words(text):
            yield text
        case ast.JoinedStr(values=parts):
            text = "".join(str(getattr(part, "value", "")) if isinstance(part, ast.Constant)
                           else "{}" for part in parts)  # fmt: skip
            if _has_words(text):
                yield text
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*_bare(body), *_bare(orelse))
        case ast.BinOp(left=left, right=right):
            yield from (*_bare(left), *_bare(right))
        case ast.BoolOp(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
            for value in values:
                yield from _bare(value)


def _has_words(text: str) -> bool:
    if text in NAMES or "datum." in text:  # an expression of Vega
        return False
    return bool(_WORD.search(_NO_WORDS.sub(" ", text)))

"""Finds the texts of the code that visitors read, for the catalogues of translations.

Pages mark theirs by ``gettext``, or declare them. What workers and plugins say is found by where
it stands: in a ``raise``, or as the title, the help or the description of something.
"""

from __future__ import annotations

import ast
import functools
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MARKS = {"gettext", "gettext_noop"}
# What describes a plugin, a parameter, a metric or a page, by the name of its argument.
TOLD = {"title", "description", "help", "unit", "advice", "explanation", "purpose", "section",
        "noun", "sides", "message", "placeholder"}  # fmt: skip
# Where a call says it by its place, the places.
PLACES = {
    "Refused": (1, 2), "FormulaError": (0,), "unknown": (), "wrong_at": (1,), "_misplaced": (),
    "Meaning": (0,), "Function": (2,), "_each": (0,), "_own": (2,), "_part": (1,),
}  # fmt: skip
# What pages and settings declare; their texts go through ``gettext`` where they are shown.
DECLARED = {"Entry", "Page", "Parameter", "Metric", "Field", "Choice", "Text",
            "NormaliserName"}  # fmt: skip
# What tables beside the code say. Where there are no tables, as in the glossary, all are texts,
# and so are all values of one that is called ``words.toml``.
IN_TABLES = {
    *TOLD, "papers", "idea", "question", "choices", "reason", "now", "goal", "missed",
    "conclusion", "tries", "step_text", "caption", "file", "heading", "unnamed",
    "not_here", "no_signs", "additions", "unlabelled",
}  # fmt: skip
# Their texts are read in a terminal or by those who write plugins.
NOT_SHOWN = (
    *(f"attention_plugins/{name}/" for name in ("commands", "templates", "checking")),
    *(f"dashboard/jobs/{name}.py" for name in ("process", "wire", "worker", "rehearsal")),
    "dashboard/jobs/task_process.py",
)
# They speak English to workers and pages alike; a page translates what it shows of them.
_ENGLISH = ("attention_plugins/", "dashboard/jobs/", "dashboard/records/", "dashboard/storage/")
_COMMON = {"len", "str", "repr", "join", "shown", "sorted", "map", "self", "format"}
_WORDS = re.compile(r"[A-Za-z]{2}")
_MARKED = re.compile(r"gettext|" + "|".join(rf"\b{name}\(" for name in DECLARED))


@dataclass(frozen=True)
class Text:
    """A text of the code.

    Args:
        one: in English, with placeholders.
        many: the same for several things; empty where it does not depend on a number.
        place: ``path:line``.
    """

    one: str
    many: str
    place: str


def catalogues() -> list[Path]:
    """The folders that have a catalogue of their own: those of :func:`folder_of`."""
    return sorted({folder_of(path) for path in _sources()})


@functools.cache
def folder_of(path: Path) -> Path:
    """The folder in whose catalogue the texts of a module stand.

    A feature's, or else the package directly below ``dashboard`` or ``attention_plugins``.
    """
    parts = path.relative_to(ROOT).parts[:-1]
    depth = 3 if parts[:2] == ("dashboard", "features") else 2
    return ROOT.joinpath(*parts[:depth])


def texts(folder: Path) -> dict[str, Text]:
    """The texts of a folder's modules by their English, in the order in which they stand."""
    found: dict[str, Text] = {}
    for path in _sources():
        if folder_of(path) == folder:
            for text in of_module(path):
                found.setdefault(text.one, text)
    return found


def of_module(path: Path) -> Iterator[Text]:
    """The texts of one module."""
    source, worker = path.read_text("utf-8"), in_worker(path)
    if path.suffix == ".toml":
        tables = tomllib.loads(source)
        plain = chain.from_iterable(each for each in tables.items() if isinstance(each[1], str))
        said = _leaves(tables) if path.name == "words.toml" else (*plain, *_of_table(tables))
        for text in said:
            one, many = (text["one"], text["many"]) if isinstance(text, dict) else (text, "")
            if _WORDS.search(one):
                yield Text(one, many, path.relative_to(ROOT).as_posix())
        return
    if not worker and not _MARKED.search(source):
        return
    tree = ast.parse(source)
    at = path.relative_to(ROOT).as_posix()
    for node in ast.walk(tree):
        for one, many in _of_node(node, worker):
            if _WORDS.search(one):
                yield Text(one, many, f"{at}:{getattr(node, 'lineno', 0)}")


def in_worker(path: Path) -> bool:
    """Whether a module runs in workers too, where nobody knows the visitor's language."""
    at = path.relative_to(ROOT).as_posix()
    return at.startswith(_ENGLISH) or path.name.startswith("task")


@functools.cache
def _sources() -> list[Path]:
    found = (path for package in ("dashboard", "attention_plugins")
             for ending in ("*.py", "*.toml")
             for path in (ROOT / package).rglob(ending))  # fmt: skip
    return sorted(
        path for path in found if not path.relative_to(ROOT).as_posix().startswith(NOT_SHOWN)
    )


def _of_table(table: dict[str, Any]) -> Iterator[str]:
    for name, held in table.items():
        if name not in IN_TABLES:
            yield from _of_table(held) if isinstance(held, dict) else ()
        elif name != "choices" or isinstance(held, dict):  # else names, as a parameter has them
            yield from _leaves(held)


def _leaves(held: Any) -> Iterator[Any]:
    """All texts of a table that holds nothing else; of a number those for one and for many."""
    if isinstance(held, str) or (isinstance(held, dict) and held.keys() == {"one", "many"}):
        yield held
        return
    for each in held.values() if isinstance(held, dict) else held:
        yield from _leaves(each)


def _of_node(node: ast.AST, worker: bool) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Call(func=ast.Name(id="ngettext"), args=[one, many, *_]):
            yield from zip(literals(one), literals(many), strict=True)
            return
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in MARKS:
            held = [first]
        case ast.Call(func=ast.Name(id=kind), keywords=given) if kind in DECLARED and not worker:
            held = [each.value for each in given if each.arg in TOLD]
        case _:
            held = _said(node) if worker else []
    yield from ((text, "") for each in held for text in literals(each))


def _said(node: ast.AST) -> list[ast.expr]:
    """What a node of a module that speaks English says to people."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=args) if name in PLACES:
            return [args[place] for place in PLACES[name] if place < len(args)]
        case (
            ast.Raise(exc=ast.Call() as made)
            | ast.Return(value=ast.Call(func=ast.Name()) as made)
        ):  # fmt: skip
            name = getattr(made.func, "id", "")
            raised = isinstance(node, ast.Raise) or name.endswith("Error")
            return made.args if raised and name not in PLACES else []
        case ast.Call(func=ast.Attribute(attr="__init__"), args=args):
            return args
        case ast.keyword(arg=str(name), value=value):
            return [value] if name in TOLD else []
        case ast.Dict(keys=keys, values=values):
            names = (getattr(key, "value", None) for key in keys)
            return [value for name, value in zip(names, values, strict=True) if name in TOLD]
    return []


def literals(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may be, with placeholders for what is put in."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr():
            yield _template(node)
        case ast.IfExp(body=body, orelse=orelse):
            yield from (*literals(body), *literals(orelse))
        case ast.Tuple(elts=elements):
            for element in elements:
                yield from literals(element)
        case ast.Dict(values=values):
            for value in values:
                yield from literals(value)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            for one in literals(left):
                yield from (one + other for other in literals(right))


def _template(node: ast.JoinedStr) -> str:
    """``need {n} heads`` of ``f"need {len(n):,} heads"``."""
    made, names = "", dict[str, str]()
    for part in node.values:
        if isinstance(part, ast.Constant):
            made += str(part.value).replace("{", "{{").replace("}", "}}")
        elif isinstance(part, ast.FormattedValue):
            spelled = ast.unparse(part.value)
            if spelled not in names:
                name = _name(part.value)
                taken = name in names.values()
                names[spelled] = f"{name}_{len(names) + 1}" if taken else name
            made += f"{{{names[spelled]}}}"
    return made


def _name(value: ast.expr) -> str:
    """A name for a placeholder: the last one that its expression has."""
    found = [one for one in ast.walk(value) if isinstance(one, (ast.Name, ast.Attribute))]
    names = [one.attr if isinstance(one, ast.Attribute) else one.id for one in found]
    return next((one.strip("_") for one in names if one not in _COMMON), "value")

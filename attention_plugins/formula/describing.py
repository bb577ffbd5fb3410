"""A formula for a page: its record in plain types, or what is wrong and where; completions."""

import re
from typing import Any

from attention_plugins.formula.lexer import FormulaError
from attention_plugins.formula.names import FUNCTIONS, NAMES, parameter
from attention_plugins.formula.package import slug_of
from attention_plugins.formula.scoring import read, spec_of
from attention_plugins.formula.tree import Call, Node, axes, is_vector, spelled
from attention_plugins.marking import gettext_noop

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def described(text: str) -> dict[str, Any]:
    """All that a page shows of a formula while it is typed, in types that JSON has.

    Returns ``name`` (``=`` and its one spelling), ``slug``, ``title``, ``formula`` (LaTeX),
    ``parameters`` as in the catalogue, ``same_size``, ``tasks``, ``shapes`` (each operation as
    spelled, and its shape, from the inside out), and ``error``: None, or ``sentence``, ``start``,
    ``end`` (characters, from 0) and ``suggestion``. With an error all others are missing.
    """
    try:
        spec, formula = spec_of(text), read(text)
    except FormulaError as error:
        fields = ("sentence", "start", "end", "suggestion")
        return {"error": {name: getattr(error, name) for name in fields}}
    return {
        "name": spec.name, "slug": slug_of(text), "title": spec.title, "formula": spec.formula,
        "parameters": [parameter.described() for parameter in spec.parameters],
        "same_size": spec.same_size, "tasks": list(spec.tasks),
        "shapes": [[spelled(part), _shape(part)] for part in _inside_out(formula.tree)],
        "error": None,
    }  # fmt: skip


def completions(text: str, position: int) -> list[dict[str, str]]:
    """What the word that ends at a character may become.

    ``position``: of the cursor, from 0; as many characters stand before it.

    Returns each with ``word``, ``insert`` (what is still missing) and ``help``; methods alone
    behind a point; elsewhere the parameters of the rest of the text, names and functions.
    """
    before = text[:position]
    rest = re.sub(rf"{_WORD.pattern}\Z", "", before)
    begun = before[len(rest) :]
    offered = {name: function.help for name, function in FUNCTIONS.items()}
    if not re.search(r"[\w)|]\s*\.\Z", rest):
        words = _WORD.findall(f"{rest} {text[position:]}")
        parameters = {
            word: gettext_noop("a parameter of this formula") for word in words if parameter(word)
        }
        names = {name: meaning.help for name, meaning in NAMES.items()}
        offered = {**parameters, **names, **offered}
    return [
        {"word": word, "insert": (word + "(" * (word in FUNCTIONS))[len(begun) :], "help": told}
        for word, told in offered.items()
        if word.startswith(begun)
    ]


def _inside_out(node: Node) -> list[Call]:
    if not isinstance(node, Call):
        return []
    inner = [part for argument in node.arguments for part in _inside_out(argument)]
    return list(dict.fromkeys([*inner, node]))


def _shape(node: Node) -> str:
    along = axes(node)
    shape = ["n_q" if "q" in along else "1", "n_k" if "k" in along else "1"]
    return f"({', '.join([*shape, *(['d'] * is_vector(node))])})"

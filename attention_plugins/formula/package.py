"""A formula as a package that others can install: the plugin it would be, with its test."""

from __future__ import annotations

import keyword
import sys

from attention_plugins.contract import ContractError, Parameter
from attention_plugins.formula.scoring import read, spec_of
from attention_plugins.formula.source import source_of
from attention_plugins.scaffold import filled, names_of

_SQUARES = "\nfrom attention_plugins.distances import squared_distances"


def package_of(text: str, name: str) -> dict[str, str]:
    """The files of a package whose scoring is a formula, written out in torch.

    Args:
        text: the formula.
        name: of the package, such as ``my-scoring``; the scoring is then called ``my_scoring``.

    Returns:
        By file name: the module, its test, ``pyproject.toml`` and ``README.md``.

    Raises:
        FormulaError: it is no formula.
        ContractError: the name cannot be a package's and a scoring's.
    """
    names, formula = names_of(name), read(text)
    if keyword.iskeyword(names.module) or names.module in sys.stdlib_module_names:
        raise ContractError(f"{name!r} is a word or a module of Python already; take another name")
    spec, source = spec_of(formula.text, name=names.module), source_of(formula.plan)
    positions = formula.names("i", "j")
    needs = '("positions",)' if positions else "()"
    elements = "None" if formula.vectors else "1"
    filling = {
        "text": formula.text,
        "quoted": f'"{names.title}"',
        "latex": spec.formula,
        "parameters": "".join(f"\n        {_parameter(p)}," for p in spec.parameters)
        + "\n    " * bool(spec.parameters),
        "same_size": str(spec.same_size),
        "tasks": "(" + ", ".join(f'"{task}"' for task in spec.tasks) + ",)",
        "needs": f"needs = {needs}\n"
        f"    elements_per_pair = {elements}  # numbers made of a query and a key",
        "arguments": ", *, positions" if positions else "",
        "weights": "".join(f"        {_weight(p.name)}\n" for p in spec.parameters),
        "lines": "\n".join(f"        {line}" for line in source.lines),
        "helpers": "\n".join(source.helpers),
        "squares": _SQUARES if source.squares else "",
    }
    return filled(names, filling, "formula.py.txt")


def _parameter(p: Parameter) -> str:
    return (
        f'Parameter(\n            name="{p.name}", title="{p.title}", default={p.default}, '
        f"low={p.low}, high={p.high},\n            step={p.step}, learnable=True, "
        f'help="{p.help}",\n        )'
    )


def _weight(name: str) -> str:
    value = f'nn.Parameter(torch.tensor(values["{name}"]))'
    return (
        f'self.register_parameter("{name}", {value})'
        if keyword.iskeyword(name)
        else f"self.{name} = {value}"
    )

"""A formula as a package that others can install: the plugin it would be, with its test."""

import hashlib
import keyword
import re
import sys
from inspect import getsource

from attention_plugins.contract import ContractError, Parameter
from attention_plugins.formula import tree
from attention_plugins.formula.evaluation import constant, log, log1p, norm, sqrt
from attention_plugins.formula.names import NAMES
from attention_plugins.formula.scoring import read, spec_of
from attention_plugins.scaffold import filled, names_of

_WORDS = 23  # characters of the formula in its slug


def slug_of(text: str) -> str:
    """A name of a formula for folders, modules and packages: ``formula_abs_q_k_1a2b3c4d``.

    Lower-case letters, digits and ``_``, at most 40; equal formulas have equal slugs.
    FormulaError: it is no formula.
    """
    spelling = read(text).text
    words = re.sub(r"[^a-z0-9]+", "_", spelling.lower()).strip("_")[:_WORDS].strip("_")
    digest = hashlib.sha256(spelling.encode()).hexdigest()[:8]
    return f"formula_{words}_{digest}"


# Functions that torch lacks, or whose slope it gives as infinite where a formula says 0.
_HELPERS = {function.__name__: function for function in (log, log1p, sqrt, norm)}
_COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
_OF_TWO = {"maximum", "minimum", "logaddexp"}  # functions of tensors alone
_CONSTANTS = {"e": "torch.e", "pi": "torch.pi", "inf": "torch.inf"}
_LINES = {
    "n": "n = keys.shape[-2]",
    "H": "H = self.heads",
    "h": "h = torch.arange(1, self.heads + 1, dtype=wide, device=queries.device)\n"
    "        h = h.reshape(-1, 1, 1) if self.heads > 1 else h[0]  # the third axis from last",
    "i": "i = positions.queries[:, None].to(wide)  # (n_q, 1)",
    "j": "j = positions.keys.to(wide)  # (n_k,)",
}


def _body_of(plan: tree.Node) -> tuple[list[str], list[str]]:
    """The lines that compute ``scores`` of a lowered tree, and the helpers that they call.

    From queries and keys in at least float32 and their size ``d``.
    """
    lines = [line for name, line in _LINES.items() if name in tree.names_in(plan)]
    scores = _unbracketed(_tensor(_written(plan, False), plan))
    if tree.axes(plan) != {"q", "k"}:  # one for every pair, as every score is
        scores = f"{scores} + torch.zeros_like(queries[..., :1] + keys[..., :1].mT)"
    lines.append(f"scores = {scores}")
    calls = "\n".join(lines)
    helpers = {name for name in _HELPERS if f"{name}(" in calls.replace(f".{name}(", "")}
    if "norm" in helpers:
        helpers.add("sqrt")
    return lines, [f"\n{getsource(_HELPERS[name])}" for name in _HELPERS if name in helpers]


def _unbracketed(text: str) -> str:
    depth = 0
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return text[1:-1] if text[0] == "(" and place == len(text) - 1 else text
    return text


def _written(node: tree.Node, apart: bool) -> str:
    """An expression, in brackets if it has an operator.

    ``apart``: for queries or keys alone, ``(..., n, d)`` and ``(..., n, 1)``, rather than for
    their pairs, ``(..., n_q or 1, n_k or 1, d)`` and ``(..., n_q or 1, n_k or 1)``.
    """
    if isinstance(node, tree.Number):
        return tree.number(node.value)
    if isinstance(node, tree.Name):
        return _name(node.name, apart)
    assert isinstance(node, tree.Call)
    name, given = node.function, node.arguments
    if name == "product":
        return f"({_written(given[0], True)} @ {_written(given[1], True)}.mT)"
    if name == "squares":
        return f"squared_distances({_written(given[0], True)}, {_written(given[1], True)})"
    if name in tree.REDUCING:
        vector, more = _written(given[0], apart), ", keepdim=True" * apart
        return f"norm({vector}{more})" if name == "norm" else f"{vector}.{name}(-1{more})"
    if name == "^":
        return _power(node, apart)
    return _applied(name, [_beside(argument, node, apart) for argument in given], given)


def _applied(name: str, each: list[str], given: tuple[tree.Node, ...]) -> str:
    if name == "neg":
        return f"(-{each[0]})"
    if name in ("+", "-", "*"):
        return f"({each[0]} {name} {each[1]})"
    if name == "/" or name in _COMPARISONS:
        left = each[0] if any(map(_is_tensor, given)) else f"queries.new_tensor({each[0]})"
        return f"({left} / {each[1]})" if name == "/" else f"({left} {name} {each[1]}).to(wide)"
    tensors = list(map(_tensor, each, given))
    if name == "where":
        return f"torch.where({tensors[0]} != 0, {tensors[1]}, {tensors[2]})"
    if name in _OF_TWO:
        return f"torch.{name}({tensors[0]}, {tensors[1]})"
    if name == "unit":
        return f"nn.functional.normalize({tensors[0]}, dim=-1, eps=1e-6)"
    if name == "softplus":
        return f"nn.functional.softplus({tensors[0]})"
    return f"{name}({tensors[0]})" if name in _HELPERS else f"{tensors[0]}.{name}()"


def _power(node: tree.Call, apart: bool) -> str:
    base, exponent = node.arguments
    left, right = _tensor(_beside(base, node, apart), base), _beside(exponent, node, apart)
    known = {0.5: f"sqrt({left})", 2.0: f"{left}.square()"}
    return known.get(constant(exponent) or 0.0, f"({left} ** {right})")


def _name(name: str, apart: bool) -> str:
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    if name not in NAMES:
        return f'self.get_parameter("{name}")' if keyword.iskeyword(name) else f"self.{name}"
    in_pairs = {"q": "queries.unsqueeze(-2)", "k": "keys.unsqueeze(-3)"}
    alone = {"q": "queries", "k": "keys", "j": "j[:, None]"}
    return (alone if apart else in_pairs).get(name, name)


def _beside(node: tree.Node, whole: tree.Node, apart: bool) -> str:
    """A part as it meets the others: a number for each pair goes with each feature."""
    text = _written(node, apart)
    if apart or tree.is_vector(node) or not tree.is_vector(whole):
        return text
    spread = bool(tree.axes(node)) or "h" in tree.names_in(node)
    return f"{text}[..., None]" if spread else text


def _is_tensor(node: tree.Node) -> bool:
    return any(name in "qkijh" or name not in NAMES for name in tree.names_in(node)) or any(
        isinstance(part, tree.Call) and part.function not in ("+", "-", "*", "neg")
        for part in tree.parts(node)
    )


def _tensor(text: str, node: tree.Node) -> str:
    return text if _is_tensor(node) else f"queries.new_tensor({text})"


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
    spec, (lines, helpers) = spec_of(formula.text, name=names.module), _body_of(formula.plan)
    positions = formula.names("i", "j")
    elements = None if formula.vectors else 1
    squares = "squared_distances(" in lines[-1]
    by_size = squares and not formula.vectors
    radial = "elements_of_squares, squared_distances" if by_size else "squared_distances"
    filling = {
        "text": formula.text,
        "quoted": f'"{names.title}"',
        "latex": spec.formula,
        "parameters": "".join(f"\n        {_parameter(p)}," for p in spec.parameters)
        + "\n    " * bool(spec.parameters),
        "same_size": str(spec.same_size),
        "tasks": "(" + ", ".join(f'"{task}"' for task in spec.tasks) + ",)",
        "needs": ('needs = ("positions",)' if positions else "needs = ()")
        + f"\n    elements_per_pair = {elements}  # numbers made of a query and a key"
        * (not by_size),
        "arguments": ", *, positions" if positions else "",
        "weights": "".join(f"        {_weight(p.name)}\n" for p in spec.parameters)
        + "        self.elements_per_pair = elements_of_squares(sizes.key)\n" * by_size,
        "lines": "\n".join(f"        {line}" for line in lines),
        "helpers": "\n".join(helpers),
        "squares": f"\nfrom attention_plugins.radial import {radial}" * squares,
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

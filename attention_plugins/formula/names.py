"""Every word of the language: names, functions, and how both are written and drawn."""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from attention_plugins.beside import beside

_TABLES = beside(__file__, "vocabulary.toml")


class Meaning(NamedTuple):
    """What a name stands for.

    Attributes:
        help: one phrase for whoever types.
        latex: how it is drawn.
        axis: ``"q"`` for one per query, ``"k"`` for one per key, empty for one for all.
        vector: whether it is a vector over the features.
    """

    help: str
    latex: str
    axis: str = ""
    vector: bool = False


NAMES = {name: Meaning(**facts) for name, facts in _TABLES["names"].items()}
CONSTANTS = {"e": math.e, "pi": math.pi, "inf": math.inf}

_GREEK_SMALL = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "η": "eta",
    "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ρ": "rho", "σ": "sigma",
    "τ": "tau", "φ": "phi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
GREEK = {**_GREEK_SMALL, "π": "pi", "µ": "mu", "ϕ": "phi"}
_LETTER = re.compile(r"([a-z]|" + "|".join(_GREEK_SMALL.values()) + r")([0-9]{0,2})\Z")


class Function(NamedTuple):
    """A function that may be called, ``f(x)`` or ``x.f()``.

    Attributes:
        help: one phrase.
        core: the operation of the tree.
        arguments: how many it takes at least and at most.
        reduces: whether it makes one number of a vector.
    """

    help: str
    core: str
    arguments: Sequence[int] = (1, 1)
    reduces: bool = False


FUNCTIONS = {name: Function(**{"core": name, **row}) for name, row in _TABLES["functions"].items()}
ALIASES = {"ln": "log", "amax": "max", "amin": "min", "maximum": "max", "minimum": "min",
           "cosine_similarity": "cosine", "arctan": "atan"}  # fmt: skip

# What is asked for most, and does not belong into a scoring; signs that formulas have elsewhere.
NOT_HERE, NO_SIGNS = _TABLES["not_here"], _TABLES["no_signs"]


def parameter(name: str) -> str:
    """A parameter's own name, such as ``w`` or ``w1``; empty if no parameter is called so."""
    found = _LETTER.match(name)
    return "" if not found or found[1] in NAMES else name


def parameter_latex(name: str) -> str:
    """How a parameter is drawn."""
    found = _LETTER.match(name)
    letter, index = (found[1], found[2]) if found else (name, "")
    drawn = letter if len(letter) == 1 else "\\" + letter
    return f"{drawn}_{{{index}}}" if index else drawn

"""Every word of the language: names, functions, and how both are written and drawn."""

import math
import re
from typing import NamedTuple

from attention_plugins.marking import gettext_noop


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


NAMES = {
    "q": Meaning("the query, a vector", "q", "q", True),
    "k": Meaning("the key, a vector", "k", "k", True),
    "d": Meaning("the number of features of the query", "d"),
    "i": Meaning("the query's position, from 0", "i", "q"),
    "j": Meaning("the key's position, from 0", "j", "k"),
    "h": Meaning("the head's number, from 1", "h"),
    "H": Meaning("the number of heads", "H"),
    "n": Meaning("the number of keys", "n"),
    "e": Meaning("2.718…", "e"),
    "pi": Meaning("3.142…", r"\pi"),
    "inf": Meaning("infinity; a score of -inf rules a key out", r"\infty"),
}
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
        arguments: how many it takes at least and at most.
        core: the operation of the tree.
        help: one phrase.
        reduces: whether it makes one number of a vector.
    """

    arguments: tuple[int, int]
    core: str
    help: str
    reduces: bool = False


def _each(help_: str, core: str) -> Function:
    return Function((1, 1), core, help_)


# With two arguments or more, max and min take the largest and smallest of these.
FUNCTIONS = {
    "abs": _each("absolute value of each number", "abs"),
    "exp": _each("e to the power of", "exp"),
    "log": _each("natural logarithm; of 0 and below it is -inf and rules the key out", "log"),
    "log1p": _each("log(1 + x)", "log1p"),
    "sqrt": _each("square root, with slope 0 at 0", "sqrt"),
    "square": _each("x^2", "square"),
    "tanh": _each("hyperbolic tangent", "tanh"),
    "relu": _each("x above 0, else 0", "relu"),
    "sigmoid": _each("1 / (1 + exp(-x))", "sigmoid"),
    "softplus": _each("log(1 + exp(x))", "softplus"),
    "sin": _each("sine", "sin"),
    "cos": Function((1, 2), "cos", "cosine; of two vectors that of their angle"),
    "atan": _each("arc tangent", "atan"),
    "sum": Function((1, 1), "sum", "sum over the features", True),
    "mean": Function((1, 1), "mean", "mean over the features", True),
    "norm": Function((1, 1), "norm", "Euclidean length of a vector", True),
    "max": Function((1, 4), "max", "largest feature, or largest of several", True),
    "min": Function((1, 4), "min", "smallest feature, or smallest of several", True),
    "dot": Function((2, 2), "dot", "dot product"),
    "cosine": Function((2, 2), "cosine", "cosine of the angle of two vectors"),
    "logaddexp": Function((2, 2), "logaddexp", "log(exp(a) + exp(b)), however large both are"),
    "where": Function((3, 3), "where", "where(c, a, b): a where c is not 0, else b"),
    "pow": Function((2, 2), "^", "x to the power of y"),
    "clamp": Function((3, 3), "clamp", "clamp(x, low, high): x kept between both"),
}
ALIASES = {"ln": "log", "amax": "max", "amin": "min", "maximum": "max", "minimum": "min",
           "cosine_similarity": "cosine", "arctan": "atan"}  # fmt: skip

# What is asked for most, and does not belong into a scoring.
NOT_HERE = {
    "softmax": gettext_noop(
        "a formula gives scores; the normaliser beside it makes weights of them"
    ),
    "mask": gettext_noop("a formula gives scores; models mask them"),
    "dropout": gettext_noop("nothing is drawn at random in a formula"),
    "rand": gettext_noop("nothing is drawn at random in a formula"),
    "randn": gettext_noop("nothing is drawn at random in a formula"),
}


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

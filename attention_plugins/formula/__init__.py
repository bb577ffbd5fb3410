"""A scoring that is typed: the language of formulas, on one page.

::

    q @ k.T / sqrt(d)                     -max(abs(q - k))
    -|q - k|^2 / (2 w^2)                  q.k / sqrt(d) - 2^(-8h/H) |i - j|
    log(max(1 - |q - k|^2 / (d w^2), 0))  where(|i - j| <= 3, q·k, -inf)

A formula says the score of one query and one key. It is no Python: it is read by a parser of its
own into a tree, and the tree is computed by a short list of operations of torch
(:mod:`~attention_plugins.formula.evaluation`). There are no attributes, no assignments, no loops.

**Names.** ``q`` and ``k`` are the query and the key, vectors. ``d`` is the number of features of
the query, ``i`` and ``j`` the positions of query and key from 0, ``h`` the head's number from 1,
``H`` how many heads there are, ``n`` the number of keys; ``e``, ``pi`` and ``inf`` are numbers.
Any other small letter, with a number behind it or not (``w``, ``w1``, ``w_1``, ``w₁``), and Greek
ones (``σ`` or ``sigma``) are parameters: 1 at first, from 0.01 to 10, and learned. Parameters that
must be able to be negative are written with a minus, or as a difference.

**Numbers and vectors.** Every part is a number or a vector over the features. ``+ - * / ^``,
comparisons and functions of one number go element by element, and a number goes with every element
of a vector. Queries and keys are never paired by hand: ``q - k`` is the difference of each query
and each key. A score is one number: what is a vector at the end is refused.

**Operators**, from the loosest: comparisons ``< <= > >= == !=``, which give 1 or 0 and are not
chained; ``+ -``; a sign, ``-a / b`` being ``-(a / b)``; ``* / @ ·``, from left to right, and what
stands side by side is multiplied (``1/2 w`` is ``(1/2) w``); ``^`` or ``**``, from right to left;
``√x``; methods.

**Dot products** are ``q.k``, ``q·k``, ``q @ k``, ``q @ k.T``, ``qᵀk``, ``q^T k``, ``dot(q, k)``.
``q * k`` is a vector. **Bars**: ``|x|`` is the length of a vector (``norm(x)``, ``‖x‖``) and the
absolute value of a number; ``abs(x)`` is the absolute value of each feature.

**Functions**, as ``f(x)`` or ``x.f()``, with ``torch.`` in front or not: ``abs exp log log1p sqrt
square tanh relu sigmoid softplus sin cos atan``. Of the features of a vector ``sum mean max min
norm``, with ``dim=-1`` or not. ``max(a, b)``, ``min(a, b)``, ``clamp(x, low, high)``,
``pow(x, y)``, ``cosine(a, b)`` (a vector of length 0 has 0), ``logaddexp(a, b)``,
``where(c, a, b)``.

**Where mathematics has no answer.** ``log`` of 0 and below is minus infinity, without a slope: the
key is ruled out. The slope of a root and of a length at 0 is 0. A division by 0 is infinite or no
number, as in torch; the conformance kit finds it.

**Bounds**: 300 characters, 120 operations, numbers and names, 30 brackets within each other, 40
operations within each other, numbers up to 1e30. What a formula may take of memory and time stands
in :mod:`~attention_plugins.formula.scoring`.

**One name.** A formula's name is ``=`` and the spelling of its tree, so ``q·k/√d`` and
``q @ k.T / sqrt(d)`` are one scoring, ``=dot(q, k) / sqrt(d)``. No algebra is done: ``a + b`` and
``b + a`` are two, as they are two computations.
"""

from attention_plugins.formula.describing import completions, described
from attention_plugins.formula.lexer import FormulaError
from attention_plugins.formula.package import package_of, slug_of
from attention_plugins.formula.scoring import FormulaScoring, spec_of

__all__ = [
    "FormulaError", "FormulaScoring", "completions", "described", "package_of", "slug_of",
    "spec_of",
]  # fmt: skip

"""What somebody meant who typed a word that there is not."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from attention_plugins.formula.errors import FormulaError
from attention_plugins.formula.lexer import Token
from attention_plugins.formula.names import NAMES, NOT_HERE, parameter


def unknown(token: Token, offered: Sequence[str]) -> FormulaError:
    """The error of a word that has no meaning, with what was meant if that can be guessed.

    Args:
        offered: what may stand there.
    """
    shown = token.text[:40]
    if reason := NOT_HERE.get(token.text):
        return FormulaError(f"there is no {shown} here: {reason}", token.start, token.end)
    letters = len(token.text) <= 4 and all(c in NAMES or parameter(c) for c in token.text)
    near = get_close_matches(shown.lower(), offered, n=1, cutoff=0.7)
    if letters and not near:
        near = [" * ".join(token.text)]
    return FormulaError(
        f'nothing is called "{shown}"; parameters are single letters, with a number at most',
        token.start, token.end, near[0] if near else "",
    )  # fmt: skip

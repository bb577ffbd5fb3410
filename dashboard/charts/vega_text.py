"""Sentences with values as expressions of Vega, which puts in what the pointer is on."""

from __future__ import annotations

from string import Formatter


def vega_text(sentence: str, **parts: str) -> str:
    """The expression of a sentence with placeholders, in the visitor's language.

    Args:
        sentence: such as ``query {query}, key {key}``.
        parts: expressions by placeholder, such as ``datum.query``.
    """
    made = []
    for literal, name, _, _ in Formatter().parse(sentence):
        if literal:
            made.append(quoted(literal))
        if name is not None:
            made.append(parts[name])
    return " + ".join(made)


def quoted(text: str) -> str:
    """A text as an expression."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

"""Texts of strangers, made fit for a sentence of ours."""

from __future__ import annotations

_LONGEST_SHOWN = 40
LONGEST_LINE = 200


def shown(value: object) -> str:
    """A value in quotation marks: nothing invisible, at most 40 characters."""
    text = "".join(c if c.isprintable() else "·" for c in str(value)[: _LONGEST_SHOWN + 1])
    return f"‘{text[:_LONGEST_SHOWN]}{'…' if len(text) > _LONGEST_SHOWN else ''}’"


def one_line(text: str) -> str:
    """One line without invisible characters, at most ``LONGEST_LINE`` long."""
    seen = "".join(c if c.isprintable() else " " for c in text[:LONGEST_LINE])
    return seen.strip()


def not_installed(kind: str, name: str) -> str:
    """What a panel needs that is not installed, and how to bring it, in two sentences."""
    return (
        f"{kind} {shown(name)} is not installed here. A plugin provides it: install the "
        "plugin where this dashboard runs, then press “Reload plugins”."
    )

"""Texts one after the other, as the visitor's language sets them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from dashboard.language import gettext


def listed(texts: Iterable[str]) -> str:
    """The texts with commas between; empty for none."""
    return reduce(_comma, texts) if (texts := [*texts]) else ""


def sentences(*texts: str) -> str:
    """Whole sentences in a row, without those that are empty."""
    said = [text for text in texts if text]
    return reduce(_after, said) if said else ""


def _comma(before: str, text: str) -> str:
    return gettext("{before}, {after}", before=before, after=text)


def _after(before: str, sentence: str) -> str:
    return gettext("{before} {sentence}", before=before, sentence=sentence)

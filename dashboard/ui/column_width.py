"""How wide a column of a table must be.

Streamlit measures the rows that it draws first, and keeps that width when longer ones come. A
number that is cut at its left reads as another.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_LETTER, _PADDING = 6, 24  # px of a cell, by letter and around them


def column_width(title: str, texts: Iterable[str]) -> int:
    """px that hold a column's heading and its longest text."""
    return _LETTER * max(map(_letters, (title, *texts))) + _PADDING


def _letters(text: str) -> int:
    """How many letters wide a text is; a Chinese character is two."""
    return sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in text)

"""What a cell of a table says: a number, in one of several spellings, or that there is none.

The page reads the first lines of a file as text, a worker the whole file as bytes. Both take
their patterns from here, so that they agree on what a number is.
"""

from __future__ import annotations

import re

# In lower case. Spreadsheets of several languages, databases and statistical offices write these.
MISSING = (
    "", "-", "--", "---", "–", "—", "——", "?", ".", "..", "...", "…", "na", "n/a", "n.a.", "n. a.",
    "#n/a", "#na", "nan", "nil", "null", "(null)", "\\n", "none", "nd", "n.d.", "n.v.", "#nv",
    "k.a.", "k. a.", "k.a", "keine angabe", "not available", "missing", "unknown", "#div/0!",
    "#value!", "#wert!", "#ref!", "无", "缺失", "不详", "暂无",
)  # fmt: skip
_SPACES = (" ", "\u00a0", "\u2009", "\u202f", "'", "’")
# Between thousands, by the mark of decimals.
_SEPARATORS = {".": (",", *_SPACES), ",": (".", *_SPACES)}


def number(decimal: str, encoding: str = "") -> str:
    """A regular expression of a number, such as ``-2e1``, ``1536`` or ``1,536.0``.

    Groups of three digits begin with another digit than 0, so that ``0,500`` is no 500.

    Args:
        decimal: the mark of decimals, a point or a comma.
        encoding: of cells that are bytes; of text if empty.
    """
    mark, marks = re.escape(decimal), written(_SEPARATORS[decimal], encoding)
    groups = "|".join(rf"(?:{each}\d{{3}})+" for each in marks)
    return (
        rf"[+-]?(?:[1-9]\d{{0,2}}(?:{groups})(?:{mark}\d*)?|\d+{mark}?\d*|{mark}\d+)"
        rf"(?:[eE][+-]?\d+)?"
    )


def ungrouped(decimal: str) -> str:
    """A regular expression of a number without separators of thousands."""
    mark = re.escape(decimal)
    return rf"[+-]?(?:\d+{mark}?\d*|{mark}\d+)(?:[eE][+-]?\d+)?"


def separators(decimal: str, encoding: str) -> str:
    """A regular expression of what stands in a number and does not count, for bytes."""
    return "|".join((r"[\s+]", *written(_SEPARATORS[decimal], encoding)))


def missing(encoding: str) -> str:
    """A regular expression of cells without a value, for bytes; case does not count."""
    return rf"^\s*({'|'.join(written(MISSING, encoding))})\s*$"


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell.lower() in MISSING


def written(texts: tuple[str, ...], encoding: str) -> list[str]:
    """Regular expressions of the texts; of bytes in that encoding, as far as it has them."""
    if not encoding:
        return [re.escape(text) for text in texts]
    if encoding.startswith("utf"):  # arrow turns UTF-16 into UTF-8
        encoding = "utf-8"
    coded = [text.encode(encoding, "ignore") for text in texts]
    known = [code for text, code in zip(texts, coded, strict=True) if code or not text]
    return ["".join(rf"\x{byte:02x}" for byte in code) for code in known]

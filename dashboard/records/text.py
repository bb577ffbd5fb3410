"""Texts of strangers, made fit for a sentence of ours."""

import re
from collections import Counter
from collections.abc import Mapping

from dashboard.language import gettext, translated
from dashboard.language.message import changed

_LONGEST_SHOWN = 40
LONGEST_LINE = 200
LONGEST_PASSAGE = 6000  # characters: 1,024 tokens of English, and a link that servers still take
LONGEST_FORMULA = 500  # characters

# What ends the mathematics in Markdown, and commands that define others.
_NOT_IN_FORMULAS = re.compile(
    r"[$`]|\\(?:[egx]?def|let|futurelet|global|long|(?:re)?newcommand|providecommand)"
)
# A length of 10 em or 100 pt, and whatever is longer, such as in \rule{100000em}{1em}.
_TOO_LONG = re.compile(
    r"\d{2}[\d.]*\s*(?:em|ex|in|cm|pc|cc|nc)|\d{3}[\d.]*\s*(?:mm|mu|pt|px|sp|bp|dd|nd)"
)
# Of a path from the root, on POSIX and on Windows; not of an address on the network.
_FOLDERS = re.compile(r"(?<![\w.:/~-])/(?:[^\s/'\":,;()<>]+/)+|\b[A-Za-z]:\\(?:[^\\\s'\":]+\\)+")

# A comma, an apostrophe, a hyphen in a word and a colon before a space mean nothing in Markdown.
# They stay bare: the name that a screen reader speaks is a label's source, backslashes and all.
_PUNCTUATION = re.compile(r"(?![',]|(?<=\w)-(?=\w)|(?<=\w):(?=\s))([!-/:-@\[-`{-~])")
# Where a reader of Markdown sees an address even in escaped text; U+2060 has no width.
_ADDRESS = re.compile(r"(://|www(?=\.)|@)", re.IGNORECASE)


def shown(value: object) -> str:
    """A value in quotation marks: nothing invisible, at most 40 characters."""
    text = "".join(c if c.isprintable() else "·" for c in str(value)[: _LONGEST_SHOWN + 1])
    return f"‘{text[:_LONGEST_SHOWN]}{'…' if len(text) > _LONGEST_SHOWN else ''}’"


def plain(text: str) -> str:
    """The text for a place that reads Markdown, so that it is shown as it stands."""
    return _PUNCTUATION.sub(r"\\\1", _ADDRESS.sub("\\1\u2060", " ".join(text.split())))


def with_unit(number: str, unit: str) -> str:
    """A number's words with its unit, if it has one: ``3 words``, ``90%``."""
    return f"{number}{'' if unit == '%' else ' '}{unit}".rstrip()


def one_line(text: str) -> str:
    """One line without invisible characters, at most ``LONGEST_LINE`` long."""
    return "".join(c if c.isprintable() else " " for c in text[:LONGEST_LINE]).strip()


def without_folders(text: str) -> str:
    """A text without the folders of this machine; of a path there only the file's name stays."""
    return changed(text, lambda words: _FOLDERS.sub("…/", words))


def lines(text: str, longest: int | None = None) -> str:
    """Text of several lines without other invisible characters, at most ``longest`` long."""
    seen = "\n".join(text[:longest].splitlines())
    return "".join(c if c.isprintable() or c == "\n" else " " for c in seen).strip()


def not_installed(kind: str, name: str) -> str:
    """What a panel needs that is not installed, and how to bring it, in two sentences."""
    return gettext(
        "{kind} {name} is not installed here. A plugin provides it: install the "
        "plugin where this dashboard runs, then press “Reload plugins”.",
        kind=translated(kind), name=shown(name),
    )  # fmt: skip


def can_be_set(latex: str) -> bool:
    """Whether a formula can be set as mathematics on a page, in the room that a formula has.

    Not so: more than ``LONGEST_FORMULA`` characters, what could leave the mathematics, what
    defines commands and so may repeat them, and lengths of 10 em or 100 pt.
    """
    found = _NOT_IN_FORMULAS.search(latex) or _TOO_LONG.search(latex)
    return found is None and len(latex) <= LONGEST_FORMULA


def told_apart(titles: Mapping[str, str]) -> dict[str, str]:
    """Titles by names; those that several have are followed by the name in brackets."""
    count = Counter(titles.values())
    return {name: title if count[title] == 1 else f"{title} ({name})"
            for name, title in titles.items()}  # fmt: skip

"""What pages say, in the language of the visitor.

Texts stand in the code in English, or in a table beside it. ``gettext`` gives them in the
visitor's language, from the catalogues of GNU gettext beside the code: each folder's ``zh.po``;
the caller's counts first. A language is there as soon as ``dashboard/language`` has its file.
Workers, plugins and stored records speak English only; a page passes their texts through
:func:`translated`.

A text with values is a whole sentence with named placeholders, so that another language may
order them in its own way. ``python -m tests.translations`` adds new texts to the catalogues.
"""

import functools
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attention_plugins.marking import gettext_noop as gettext_noop
from dashboard.language.message import filled

ENGLISH = "en"

_spoken: Callable[[], str] = lambda: ENGLISH  # noqa: E731
_brought: Callable[[], Iterable[str]] = tuple


def follow(spoken: Callable[[], str]) -> None:
    """Say once per process how to find the visitor's language, asked for at each text."""
    global _spoken  # noqa: PLW0603
    _spoken = spoken


def look_beside(brought: Callable[[], Iterable[str]]) -> None:
    """Say once per process which modules of packages have catalogues beside them, too."""
    global _brought  # noqa: PLW0603
    _brought = brought


@functools.cache
def languages() -> Mapping[str, str]:
    """What each language calls itself, by its code in a link; English first."""
    from dashboard.language.catalogues import headers

    return {
        ENGLISH: "English",
        **{code: held["Language-Name"] for code, held in headers().items()},
    }


def tag(language: str) -> str:
    """The language as browsers and screen readers know it, such as ``zh-Hans``."""
    from dashboard.language.catalogues import headers

    return headers().get(language, {}).get("Language", language)


def current() -> str:
    """The language that is spoken now; English where no visitor is served, as in a notebook."""
    return _spoken()


def gettext(text: str, /, **values: Any) -> str:
    """A literal English text in the visitor's language, with ``values`` for its placeholders."""
    if (language := _spoken()) != ENGLISH:
        text = _catalogue(language).text(text, _caller())
        return filled(text, values) if values else text
    return text.format(**values) if values else text


def said_in(language: str, text: str, module: str = "") -> str:
    """A marked English text in any language, as the folder of ``module`` means it."""
    return text if language == ENGLISH else _catalogue(language).text(text, module)


def ngettext(one: str, many: str, count: int, **values: Any) -> str:
    """A text for one thing or for many, by ``count``, which is also the value of ``{count}``."""
    if (language := _spoken()) == ENGLISH:
        return (one if count == 1 else many).format(count=count, **values)
    text = _catalogue(language).number(one, many, count, _caller())
    return filled(text, {"count": count, **values})


def translated(text: str) -> str:
    """An English text in the visitor's language, as far as a catalogue knows it.

    For titles of plugins, for messages of workers, for what a record holds. A message is
    translated by its form and values, a finished sentence of a former version by comparison.
    """
    if (language := _spoken()) == ENGLISH or not text:
        return text
    return _catalogue(language).said(text)


def called(name: str) -> str:
    """A name as a visitor's file has it; one that we gave is a message, and is translated."""
    return translated(name) if getattr(name, "form", "") else name


def listed(items: Iterable[str], *, clauses: bool = False) -> str:
    """The items of a list in one line: ``a, b, c``, or ``a; b; c`` of clauses."""
    two = gettext_noop("{first}; {second}") if clauses else gettext_noop("{first}, {second}")
    line, *others = [*items] or [""]
    for item in others:
        line = gettext(two, first=line, second=item)
    return line


def together(sentences: Iterable[str]) -> str:
    """Whole sentences one after the other; those that are empty are left out."""
    said, *others = [*filter(None, sentences)] or [""]
    for sentence in others:
        said = gettext("{before} {sentence}", before=said, sentence=sentence)
    return said


def ended(clause: str) -> str:
    """A clause, such as the message of an error, as a whole sentence."""
    whole = clause.endswith(("?", ".", "\N{IDEOGRAPHIC FULL STOP}"))
    return clause if whole else gettext("{clause}.", clause=clause)


def _caller() -> str:
    return sys._getframe(2).f_globals.get("__name__", "")


def _catalogue(language: str) -> Any:
    # Imported late: English, and workers, do without it.
    from dashboard.language.catalogues import catalogue

    return catalogue(language, _brought)

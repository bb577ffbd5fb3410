"""What pages say, in the language of the visitor.

Texts stand in the code in English. ``gettext`` gives them in the visitor's language, from the
catalogues of GNU gettext that lie beside the code: each folder's ``zh.po``. The one beside the
caller counts before all others. A language is there as soon as ``dashboard/language`` has its
file, whose head says what the language calls itself and how it counts. Workers, plugins and
stored records speak English only; a page passes their texts through :func:`translated`.

A text with values is a whole sentence with named placeholders, so that another language may
order them in its own way. ``python -m tests.translations`` adds new texts to the catalogues.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dashboard.language.message import filled, message

ENGLISH = "en"

_spoken: Callable[[], str] = lambda: ENGLISH  # noqa: E731
_brought: Callable[[], Iterable[str]] = tuple


def follow(spoken: Callable[[], str]) -> None:
    """Say once per process how to find the language of the visitor who is being served.

    Args:
        spoken: one of :func:`languages`, asked whenever a text is needed.
    """
    global _spoken  # noqa: PLW0603
    _spoken = spoken


def look_beside(brought: Callable[[], Iterable[str]]) -> None:
    """Say once per process which modules of packages have catalogues beside them, too."""
    global _brought  # noqa: PLW0603
    _brought = brought


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
    """A text in the visitor's language.

    Args:
        text: in English, a literal, so that it is found for the catalogues.
        values: of its placeholders, such as ``{count:,}``; a text without any is not formatted.
    """
    if (language := _spoken()) != ENGLISH:
        text = _catalogue(language).text(text, _caller())
        return filled(text, values) if values else text
    return text.format(**values) if values else text


def said_in(language: str, text: str, module: str = "") -> str:
    """A marked text in a language that need not be the visitor's.

    Args:
        language: one of :func:`languages`.
        text: in English.
        module: whose text it is, where its folder means something else by it than others.
    """
    return text if language == ENGLISH else _catalogue(language).text(text, module)


def ngettext(one: str, many: str, /, count: int, **values: Any) -> str:
    """A text that depends on a number.

    Args:
        one, many: in English, as literals, for a single thing and for several.
        count: how many; also the value of the placeholder ``{count}``.
        values: of the other placeholders.
    """
    if (language := _spoken()) == ENGLISH:
        return (one if count == 1 else many).format(count=count, **values)
    text = _catalogue(language).number(one, many, count, _caller())
    return filled(text, {"count": count, **values})


def gettext_noop(text: str, /, **values: Any) -> str:
    """The text in English, marked for the catalogues.

    For what is made before its reader is known: constants, and what workers say. Where it is
    shown it goes through ``gettext`` (a constant) or :func:`translated` (a text with values).
    With values it is a :class:`~dashboard.language.message.Message`, also for other processes.
    """
    return message(text, values) if values else text


def translated(text: str) -> str:
    """An English text in the visitor's language, as far as a catalogue knows it.

    For titles of plugins, for messages of workers, for what a record holds. A message is
    translated by its form and values. Runs of former versions and plugins give finished
    sentences, which are compared with the forms.
    """
    if (language := _spoken()) == ENGLISH or not text:
        return text
    return _catalogue(language).said(text)


def listed(items: Iterable[str]) -> str:
    """The items of a list in one line: ``a, b, c``."""
    return functools.reduce(
        lambda first, second: gettext("{first}, {second}", first=first, second=second),
        [*items] or [""],
    )


def together(sentences: Iterable[str]) -> str:
    """Whole sentences one after the other; those that are empty are left out."""
    return functools.reduce(
        lambda before, sentence: gettext("{before} {sentence}", before=before, sentence=sentence),
        [each for each in sentences if each] or [""],
    )


def ended(clause: str) -> str:
    """A clause, such as the message of an error, as a whole sentence."""
    return gettext("{clause}.", clause=clause)


def _caller() -> str:
    """The module that asks for a text: a word may mean something else in another folder."""
    return sys._getframe(2).f_globals.get("__name__", "")


def _catalogue(language: str) -> Any:
    # Imported late: English, and workers, do without it.
    from dashboard.language.catalogues import catalogue

    return catalogue(language, _brought)

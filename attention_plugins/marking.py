"""Marks sentences that people read, so that they are found for the catalogues of translations.

What a ``raise`` says, and what stands as a title, a description, a help or an advice, is found
without a mark. The page process marks its texts by this module, too.
"""

from collections.abc import Mapping
from string import Formatter
from typing import Any


class Message(str):
    """An English sentence that knows its form, by which a page translates it.

    ``form`` has placeholders, or is empty; ``values`` stand by their names, and may be messages.
    """

    __slots__ = ("form", "values")
    form: str
    values: Mapping[str, str]

    def __new__(
        cls, text: str, form: str = "", values: Mapping[str, str] | None = None
    ) -> "Message":
        """Keep the form of a finished text with the text."""
        made = super().__new__(cls, text)
        made.form, made.values = form, dict(values or {})
        return made

    def __str__(self) -> str:
        return self  # so that ``str(error)`` is still the message that was raised


def gettext_noop(text: str, /, **values: Any) -> str:
    """The text in English; with values for its placeholders a :class:`Message`.

    A page shows a message in its reader's language by its form and values. A finished sentence
    of an f-string is compared with the forms that are known.
    """
    if not values:
        return text
    shown: dict[str, str] = {}
    for _, name, spec, _ in Formatter().parse(text):
        if name is not None and name not in shown:
            value = values[name]
            shown[name] = value if isinstance(value, str) else format(value, spec or "")
    return Message(text.format(**values), text, shown)

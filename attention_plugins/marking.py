"""Marks sentences that people read, so that they are found for the catalogues of translations.

What a ``raise`` says, and what stands as a title, a description, a help or an advice, is found
without a mark.
"""

from __future__ import annotations


def gettext_noop(text: str) -> str:
    """The text as it is.

    A page recognises it by its form and shows it in its reader's language; the values of an
    f-string are recognised as well.
    """
    return text

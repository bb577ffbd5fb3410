"""Rules of translations. Importing this registers them, in the order in which they run."""

from __future__ import annotations

from attention_plugins.checking.findings import Broken, rule
from attention_plugins.contract import TranslationSpec

__all__ = ["check_every_text_says_something", "check_there_are_texts"]


@rule("translations")
def check_there_are_texts(spec: TranslationSpec) -> None:
    """At least one text, and a title."""
    if not spec.title.strip():
        raise Broken("the title is blank; say whose texts these are, and in which language")
    if not spec.texts:
        raise Broken("there is no text; add the titles of your records with their translations")


@rule("translations")
def check_every_text_says_something(spec: TranslationSpec) -> None:
    """No translation is blank, or has spaces around it that the text has not."""
    for text, said in spec.texts.items():
        if not said.strip():
            raise Broken(f"the translation of {text!r:.60} is blank; leave it out, or write it")
        if said != said.strip() and text == text.strip():
            raise Broken(f"the translation {said!r:.60} has spaces around it; take them away")

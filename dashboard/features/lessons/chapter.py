"""The sections of *Dive into Deep Learning* that lessons and code cite, by their one numbering.

The numbers are those of edition 0.17 and of the Chinese edition, which the documents of
``.github/docs/chapter.md`` print. In the English edition 1.0 the chapter on attention is the 11th,
with the same sections; a test holds every citation to this table.
"""

from __future__ import annotations

from dashboard import language
from dashboard.language import ENGLISH, gettext, gettext_noop

BOOK, EDITION = gettext_noop("Dive into Deep Learning"), "0.17"
SECTIONS = {
    "8.5": gettext_noop("Implementation of recurrent neural networks"),
    "9.5": gettext_noop("Machine translation and the dataset"),
    "9.6": gettext_noop("Encoder–decoder architecture"),
    "9.7": gettext_noop("Sequence to sequence learning"),
    "10.1": gettext_noop("Attention cues"),
    "10.2": gettext_noop("Attention pooling: Nadaraya–Watson kernel regression"),
    "10.3": gettext_noop("Attention scoring functions"),
    "10.4": gettext_noop("Bahdanau attention"),
    "10.5": gettext_noop("Multi-head attention"),
    "10.6": gettext_noop("Self-attention and positional encoding"),
    "10.7": gettext_noop("Transformer"),
}
# Where the book's own pages are, which in English are those of edition 1.0.
_BOOKS = {
    ENGLISH: "https://d2l.ai/chapter_attention-mechanisms-and-transformers",
    "zh": "https://zh.d2l.ai/chapter_attention-mechanisms",
}
_OWN_PAGES = {
    "10.1": {ENGLISH: "queries-keys-values", "zh": "attention-cues"},
    "10.2": {ENGLISH: "attention-pooling", "zh": "nadaraya-waston"},
    "10.3": "attention-scoring-functions",
    "10.4": "bahdanau-attention",
    "10.5": "multihead-attention",
    "10.6": "self-attention-and-positional-encoding",
    "10.7": "transformer",
}


def cited(section: str) -> str:
    """How a lesson names and links its section, in the visitor's language.

    Args:
        section: one of the chapter on attention, such as ``"10.3"``.
    """
    return gettext(
        "*{book}* {edition}, section {section}, {title} ([read it online as {online}]({address}))",
        book=gettext(BOOK), edition=EDITION, section=section, title=gettext(SECTIONS[section]),
        online=section_online(section), address=address(section, language.current()),
    )  # fmt: skip


def section_online(section: str) -> str:
    """The number of a section in the English edition 1.0: one chapter later."""
    chapter, _, number = section.partition(".")
    return f"{int(chapter) + 1}.{number}"


def address(section: str, spoken: str) -> str:
    """Where a section of the chapter on attention is read.

    Args:
        section: such as ``"10.3"``.
        spoken: one of :data:`dashboard.language.LANGUAGES`.
    """
    page = _OWN_PAGES[section]
    return f"{_BOOKS[spoken]}/{page if isinstance(page, str) else page[spoken]}.html"

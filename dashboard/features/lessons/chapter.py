"""The sections of *Dive into Deep Learning* that lessons and code cite, by their one numbering.

The numbers are those of edition 0.17 and of the Chinese edition, which the documents of
``.github/docs/chapter.md`` print. In the English edition 1.0 the chapter on attention is the 11th,
with the same sections; a test holds every citation to this table.
"""

from __future__ import annotations

from dashboard.language import gettext, gettext_noop

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


def cited(section: str) -> str:
    """How a lesson names its section, in the visitor's language."""
    return gettext(
        "*{book}* {edition}, section {section}, {title}",
        book=gettext(BOOK), edition=EDITION, section=section, title=gettext(SECTIONS[section]),
    )  # fmt: skip

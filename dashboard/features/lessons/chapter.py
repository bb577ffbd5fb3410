"""The sections of *Dive into Deep Learning* that lessons and code cite, by their one numbering.

The numbers are those of edition 0.17 and of the Chinese edition, which the documents of
``.github/docs/chapter.md`` print. In the English edition 1.0 the chapter on attention is the 11th,
with the same sections; a test holds every citation to this table.
"""

from __future__ import annotations

BOOK, EDITION = "Dive into Deep Learning", "0.17"
SECTIONS = {
    "8.5": "Implementation of recurrent neural networks",
    "9.5": "Machine translation and the dataset",
    "9.6": "Encoder–decoder architecture",
    "9.7": "Sequence to sequence learning",
    "10.1": "Attention cues",
    "10.2": "Attention pooling: Nadaraya–Watson kernel regression",
    "10.3": "Attention scoring functions",
    "10.4": "Bahdanau attention",
    "10.5": "Multi-head attention",
    "10.6": "Self-attention and positional encoding",
    "10.7": "Transformer",
}


def cited(section: str) -> str:
    """How a lesson names its section."""
    return f"*{BOOK}* {EDITION}, section {section}, {SECTIONS[section]}"

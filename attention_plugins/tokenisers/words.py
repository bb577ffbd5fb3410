"""Words and punctuation, lower-case, with clitics split off or not.

How a side sets its punctuation (``Va !`` or ``Go!``) is learned from it and stored as JSON. A
card from before it was learned is read as it was written: with French spacing.
"""

import functools
import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attention_plugins.contract import TokeniserSpec
from attention_plugins.text import (
    FRENCH,
    Spacing,
    detokenise,
    spacing_of,
    tokenise_clitics,
    tokenise_words,
)

SPACE = "\u2423"  # the open box: a token that a reader can see


@dataclass(frozen=True)
class _Made:
    split: Callable[[str], list[str]]
    join: Callable[[Sequence[str]], str]

    def tokenise(self, text: str) -> list[str]:
        return self.split(text)

    def detokenise(self, tokens: Sequence[str]) -> str:
        return self.join(tokens)


def _characters(learned: str) -> _Made:
    return _Made(
        lambda text: [*SPACE.join(unicodedata.normalize("NFC", text).split())],
        lambda tokens: "".join(tokens).replace(SPACE, " "),
    )


def _of_words(split: Callable[[str], list[str]], learned: str) -> _Made:
    """Splits by a function, and joins with a side's spacing."""
    spacing = Spacing(**json.loads(learned)) if learned else FRENCH
    return _Made(split, lambda tokens: detokenise(tokens, spacing))


CHARACTERS = TokeniserSpec(
    name="characters",
    title="Characters",
    build=_characters,
    examples=("我喝茶。", "Tea, please."),
    reference="Attention Workbench",
    description="Every character is a token, also a space, which is shown as ␣; for languages "
    "that write no spaces, and for spelling.",
)


SPACES = TokeniserSpec(
    name="spaces",
    title="Split at spaces",
    build=lambda learned: _Made(str.split, " ".join),
    examples=("a b a", "un@@ happy People ▁here"),
    reference="Attention Workbench",
    description="What stands between spaces is a token, with its case; for sequences of symbols, "
    "and for text that was cut into tokens already.",
)


def learn(sentences: Sequence[str]) -> str:
    """A side's spacing as JSON, see :func:`attention_plugins.text.spacing_of`."""
    return json.dumps(spacing_of(sentences)._asdict())


WORDS = TokeniserSpec(
    name="words",
    title="Words",
    build=functools.partial(_of_words, tokenise_words),
    learn=learn,
    examples=("i'm home.", "would you like a cup of tea?"),
    reference="d2l.ai, section 9.5",
    description="Lower-case words and punctuation, split at spaces; i'm is one token.",
)
CLITICS = TokeniserSpec(
    name="clitics",
    title="Words and clitics",
    build=functools.partial(_of_words, tokenise_clitics),
    learn=learn,
    examples=("l'eau n'est-elle pas là ?", "y a-t-il quelqu'un ?"),
    reference="Attention Workbench",
    description="Lower-case words, punctuation, and what French and English glue together: "
    "l'eau, n'est-elle and i'm are several tokens, which halves the unknown words of a small "
    "corpus.",
)

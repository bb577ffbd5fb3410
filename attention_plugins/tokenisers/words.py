"""Words and punctuation, lower-case, with clitics split off or not.

How a side sets its punctuation (``Va !`` or ``Go!``) is learned from it and stored as JSON. A
card from before it was learned is read as it was written: with French spacing.
"""

import functools
import json
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attention_plugins.beside import row
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


CHARACTERS = TokeniserSpec(build=_characters, **row(__file__, "characters"))

SPACES = TokeniserSpec(build=lambda learned: _Made(str.split, " ".join), **row(__file__, "spaces"))


def learn(sentences: Sequence[str]) -> str:
    """A side's spacing as JSON, see :func:`attention_plugins.text.spacing_of`."""
    return json.dumps(spacing_of(sentences)._asdict())


WORDS = TokeniserSpec(
    build=functools.partial(_of_words, tokenise_words), learn=learn, **row(__file__, "words")
)
CLITICS = TokeniserSpec(
    build=functools.partial(_of_words, tokenise_clitics), learn=learn, **row(__file__, "clitics")
)

"""Associative recall: keys with their values, then one of the keys. Its value is the answer."""

from __future__ import annotations

import random
from collections.abc import Sequence
from string import digits

from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.datasets.symbols import pair, parameters, symbol_task


def drawn(generator: random.Random, length: int, alphabet: str) -> Sequence[str]:
    """``length`` different keys, each before its value, and one of the keys.

    Raises:
        ContractError: more keys than there are letters.
    """
    if length > len(alphabet):
        raise ContractError(
            f"need longest <= symbols, since all keys differ; got {length} keys of "
            f"{len(alphabet)} symbols"
        )
    keys = generator.sample(alphabet, length)
    held = [sign for key in keys for sign in (key, generator.choice(digits))]
    return [*held, generator.choice(keys)]


def recalled(source: Sequence[str]) -> SentencePair:
    """The answer stands for the value behind the key that is asked for."""
    place = source.index(source[-1]) + 1
    return pair(source, [source[place]], [place])


RECALL = symbol_task(
    "recall",
    title="Associative recall",
    answer=recalled,
    sides=("keys with values, then a key", "its value"),
    examples=("a 3 b 7 a", "c 1 h 0 d 5 d", "e 2 a 2 f 9 b 4 f"),
    draw=drawn,
    settings=parameters(2, 4, 8, "keys"),
    reference="Graves, Wayne & Danihelka 2014, Neural Turing machines, section 4.3",
    description="Letters with digits, then one of the letters: write its digit. Look at what "
    "stood behind the same letter.",
)

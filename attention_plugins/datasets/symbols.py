"""What the symbol tasks share: their parameters, and sequences that are all different.

In these tasks it is known where a model must look, so that its maps can be held against gold.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from string import ascii_lowercase, digits

from attention_plugins.beside import row
from attention_plugins.contract import ContractError, DatasetSpec, Parameter, Scalar, SentencePair

Answer = Callable[[Sequence[str]], SentencePair]
Draw = Callable[[random.Random, int, str], Sequence[str]]  # of a length, from an alphabet

_PATIENCE = 20  # draws for each sequence, on average, until there are too few different ones


def parameters(shortest: int, longest: int, symbols: int, unit: str) -> tuple[Parameter, ...]:
    """Those of every symbol task, by their defaults and the unit of a sequence's length."""
    lengths = {"low": 1, "high": 100, "unit": unit}
    return (
        Parameter(
            name="pairs", title="Sentence pairs", default=10_000, low=100, high=100_000, step=100,
            help="How many sequences to draw, no two of them alike.",
        ),
        Parameter(name="shortest", title="Shortest", default=shortest, **lengths),
        Parameter(name="longest", title="Longest", default=longest, **lengths),
        Parameter(
            name="symbols", title="Symbols", default=symbols, low=2, high=len(ascii_lowercase),
            help="How many letters of the alphabet occur.",
        ),
    )  # fmt: skip


def sequences(values: Mapping[str, Scalar], seed: int, draw: Draw) -> list[Sequence[str]]:
    """As many different sequences as asked for by :func:`parameters`, of all lengths alike.

    ContractError: shortest beyond longest, or not so many different sequences.
    """
    count, shortest, longest, symbols = (
        int(values[name]) for name in ("pairs", "shortest", "longest", "symbols")
    )
    if shortest > longest:
        raise ContractError(f"need shortest <= longest, got {shortest} and {longest}")
    generator, alphabet = random.Random(seed), ascii_lowercase[:symbols]
    found: dict[tuple[str, ...], None] = {}
    for _ in range(_PATIENCE * count):
        found[tuple(draw(generator, generator.randint(shortest, longest), alphabet))] = None
        if len(found) == count:
            return list(found)
    raise ContractError(
        f"found {len(found):,} different sequences, need {count:,}; ask for fewer pairs, longer "
        "sequences or more symbols"
    )


def letters(generator: random.Random, length: int, alphabet: str) -> Sequence[str]:
    """Any letters."""
    return generator.choices(alphabet, k=length)


def _answered(answer: Answer, draw: Draw = letters) -> Callable[..., list[SentencePair]]:
    return lambda values, seed: [answer(drawn) for drawn in sequences(values, seed, draw)]


def pair(source: Sequence[str], target: Sequence[str], places: Sequence[int]) -> SentencePair:
    """A pair whose target symbols each stand for the source symbol at their place."""
    links = tuple((place, number) for number, place in enumerate(places))
    return SentencePair(" ".join(source), " ".join(target), links)


def copied(source: Sequence[str]) -> SentencePair:
    """Symbol i of the target stands for symbol i of the source."""
    return pair(source, source, range(len(source)))


COPY = DatasetSpec(
    load=_answered(copied), parameters=parameters(3, 8, 10, "symbols"), **row(__file__, "copy")
)


def reversed_(source: Sequence[str]) -> SentencePair:
    """Symbol i of the target stands for symbol n - 1 - i of the source."""
    return pair(source, source[::-1], range(len(source))[::-1])


REVERSE = replace(COPY, load=_answered(reversed_), **row(__file__, "reverse"))


def sorted_(source: Sequence[str]) -> SentencePair:
    """Of equal symbols the one that stands first comes first."""
    places = sorted(range(len(source)), key=source.__getitem__)
    return pair(source, [source[place] for place in places], places)


SORT = replace(COPY, load=_answered(sorted_), **row(__file__, "sort"))


def tagged(source: Sequence[str]) -> SentencePair:
    """Each tag stands for its symbol; a link to the left neighbour is possible."""
    tags = ["first"]
    for before, symbol in pairwise(source):
        tags.append("same" if symbol == before else "up" if symbol > before else "down")
    beside = tuple((number - 1, number) for number in range(1, len(source)))
    return pair(source, tags, range(len(source)))._replace(possible=beside)


TAGGING = replace(COPY, load=_answered(tagged), **row(__file__, "tagging"))


def drawn(generator: random.Random, length: int, alphabet: str) -> Sequence[str]:
    """``length`` different keys, each before its value, and one of the keys.

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


RECALL = replace(
    COPY, load=_answered(recalled, drawn), parameters=parameters(2, 4, 8, "keys"),
    **row(__file__, "recall"),
)  # fmt: skip

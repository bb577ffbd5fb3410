"""What the symbol tasks share: their parameters, and sequences that are all different.

In these tasks it is known where a model must look, so that its maps can be held against gold.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from string import ascii_lowercase

from attention_plugins.contract import (
    ContractError,
    DatasetSpec,
    Parameter,
    Scalar,
    SentencePair,
)

Answer = Callable[[Sequence[str]], SentencePair]
Draw = Callable[[random.Random, int, str], Sequence[str]]

_PATIENCE = 20  # draws for each sequence, on average, until there are too few different ones


def parameters(shortest: int, longest: int, symbols: int, unit: str) -> tuple[Parameter, ...]:
    """Those of every symbol task.

    Args:
        shortest, longest, symbols: their defaults.
        unit: of a sequence's length.
    """
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
    """As many different sequences as asked for, of all lengths alike.

    Args:
        values: of :func:`parameters`.
        seed: of the draws.
        draw: ``(generator, length, alphabet) -> sequence``.

    Raises:
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


def symbol_task(
    name: str,
    *,
    title: str,
    answer: Answer,
    sides: tuple[str, str],
    examples: tuple[str, ...],
    description: str,
    reference: str,
    metric: str = "exact_match",
    draw: Draw = letters,
    settings: tuple[Parameter, ...] = parameters(3, 8, 10, "symbols"),
) -> DatasetSpec:
    """A data set of sequences that are drawn, with the answer to each."""
    return DatasetSpec(
        name=name,
        title=title,
        task="translation",
        load=lambda values, seed: [answer(drawn) for drawn in sequences(values, seed, draw)],
        parameters=settings,
        reference=reference,
        description=description,
        aligned=True,
        sides=sides,
        examples=examples,
        tokeniser="spaces",
        metric=metric,
    )


def pair(source: Sequence[str], target: Sequence[str], places: Sequence[int]) -> SentencePair:
    """A pair whose target symbols each stand for the source symbol at their place."""
    links = tuple((place, number) for number, place in enumerate(places))
    return SentencePair(" ".join(source), " ".join(target), links)

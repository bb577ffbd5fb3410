"""What the symbol tasks share: their parameters, and sequences that are all different.

In these tasks it is known where a model must look, so that its maps can be held against gold.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from string import ascii_lowercase, digits

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
    name="copy",
    title="Copy",
    task="translation",
    load=_answered(copied),
    parameters=parameters(3, 8, 10, "symbols"),
    sides=("symbols", "the same symbols"),
    examples=("a b c d", "j a j a j", "c c c a b h"),
    reference="Graves, Wayne & Danihelka 2014, Neural Turing machines, section 4.1",
    description="Write the symbols once more: look at where you are.",
    aligned=True,
    tokeniser="spaces",
    metric="exact_match",
)


def reversed_(source: Sequence[str]) -> SentencePair:
    """Symbol i of the target stands for symbol n - 1 - i of the source."""
    return pair(source, source[::-1], range(len(source))[::-1])


REVERSE = replace(
    COPY,
    name="reverse",
    title="Reverse",
    load=_answered(reversed_),
    sides=("symbols", "the symbols reversed"),
    reference="Grefenstette et al. 2015, Learning to transduce with unbounded memory, section 4.1",
    description="Write the symbols from the last to the first: look further left each time.",
)


def sorted_(source: Sequence[str]) -> SentencePair:
    """Of equal symbols the one that stands first comes first."""
    places = sorted(range(len(source)), key=source.__getitem__)
    return pair(source, [source[place] for place in places], places)


SORT = replace(
    COPY,
    name="sort",
    title="Sort",
    load=_answered(sorted_),
    sides=("symbols", "the symbols sorted"),
    examples=("d b c a", "j a j a j", "c h c a b c"),
    reference="Vinyals, Bengio & Kudlur 2016, Order matters: sequence to sequence for sets, "
    "section 4.2",
    description="Write the symbols in alphabetical order: look at the next one, wherever it is.",
)


def tagged(source: Sequence[str]) -> SentencePair:
    """Each tag stands for its symbol; a link to the left neighbour is possible."""
    tags = ["first"]
    for before, symbol in pairwise(source):
        tags.append("same" if symbol == before else "up" if symbol > before else "down")
    beside = tuple((number - 1, number) for number in range(1, len(source)))
    return pair(source, tags, range(len(source)))._replace(possible=beside)


TAGGING = replace(
    COPY,
    name="tagging",
    title="Tagging",
    load=_answered(tagged),
    sides=("symbols", "their tags"),
    examples=("a b c d", "j a j a j", "c c h a b b"),
    metric="token_accuracy",
    reference="Attention Workbench",
    description="A tag for each symbol: whether it comes after its left neighbour in the "
    "alphabet (up), before it (down), or is the same; the first one is first.",
)


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
    COPY,
    name="recall",
    title="Associative recall",
    load=_answered(recalled, drawn),
    parameters=parameters(2, 4, 8, "keys"),
    sides=("keys with values, then a key", "its value"),
    examples=("a 3 b 7 a", "c 1 h 0 d 5 d", "e 2 a 2 f 9 b 4 f"),
    reference="Graves, Wayne & Danihelka 2014, Neural Turing machines, section 4.3",
    description="Letters with digits, then one of the letters: write its digit. Look at what "
    "stood behind the same letter.",
)

"""Sentence pairs to token ids, and these to batches."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_plugins.contract import ContractError, SentencePair, Tokeniser, TokeniserSpec
from attention_plugins.datasets.parallel import whole
from attention_plugins.models.protocols import Batch
from attention_plugins.recipe import Recipe
from attention_plugins.registry import Registry, installed
from attention_plugins.text import Vocabulary, normalise, pad, truncate

Link = tuple[int, int]
Tokens = Sequence[str]


def carried(
    links: Sequence[Link], before: tuple[Tokens, Tokens], after: tuple[Tokens, Tokens],
    pair: tuple[str, str],
) -> list[Link]:  # fmt: skip
    """The links over the tokens ``before``, over the tokens ``after`` of the same pair of texts.

    Tokens that share a letter of the text stand for each other; a link is dropped where they
    cannot be found in it.
    """
    if tuple(map(list, before)) == tuple(map(list, after)):
        return list(links)
    sides = [_pieces(*side) for side in zip(before, after, pair, strict=True)]
    found = {(i, j) for source, target in links
             for i in sides[0].get(source, ()) for j in sides[1].get(target, ())}  # fmt: skip
    return sorted(found)


def _pieces(before: Tokens, after: Tokens, text: str) -> dict[int, list[int]]:
    letters = "".join(normalise(text).split())
    shared = zip(_owners(before, letters), _owners(after, letters), strict=True)
    found: dict[int, list[int]] = defaultdict(list)
    for old, new in dict.fromkeys(shared):
        if old >= 0 and new >= 0:
            found[old].append(new)
    return found


def _owners(tokens: Tokens, letters: str) -> list[int]:
    """For each letter the token that it belongs to, -1 for none.

    Marks that a tokeniser adds, such as ``@@`` and ``▁``, are no letters of the text.
    """
    owners, place = [-1] * len(letters), 0
    for number, token in enumerate(tokens):
        for letter in token.lower():
            if place < len(letters) and letters[place] == letter:
                owners[place] = number
                place += 1
    return owners


# Whose tokens gold alignments count where their data set names no tokeniser.
GOLD_TOKENISER = "clitics"
# Batches whose sentences are sorted together: long enough to sort well, short enough to shuffle.
_POOL = 50


@dataclass(frozen=True)
class Encoded:
    """A corpus as token ids, with the vocabularies that number them.

    ``links`` has for each pair its sure gold links ``(source index, target index)`` between ids;
    None where no pair has any. The other pairs are of source and target.
    """

    source: list[list[int]]
    target: list[list[int]]
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    learned: tuple[str, str] = ("", "")
    tokenisers: tuple[Tokeniser, ...] = ()
    links: list[list[Link]] | None = None


def tokenisers_of(
    spec: TokeniserSpec, pairs: Sequence[SentencePair]
) -> tuple[tuple[str, str], tuple[Tokeniser, Tokeniser]]:
    """What a tokeniser learns from the sources and from the targets, and those it makes of it."""
    source = spec.learned_from([pair.source for pair in pairs])
    target = spec.learned_from([pair.target for pair in pairs])
    return (source, target), (spec.create(source), spec.create(target))


def encode(
    pairs: Sequence[SentencePair], recipe: Recipe, registry: Registry | None = None, *,
    counted: str = GOLD_TOKENISER, continued: bool = False,
) -> Encoded:  # fmt: skip
    """Learn the tokenisers, tokenise, count both vocabularies, number and cut every sentence.

    The tokeniser ``counted`` is the one whose tokens the pairs' alignments count. Where targets
    continue their sources, ``continued``, both are of one tokeniser and of one vocabulary, those
    of the whole sentences. ContractError: no pairs, or a tokeniser that is not installed.
    """
    if not pairs:
        raise ContractError("need at least one sentence pair to train on, got none")
    registry = registry or installed()
    spec = registry.tokeniser(recipe.tokeniser)
    sentences = list(dict.fromkeys(map(whole, pairs))) if continued else []
    learnt = [SentencePair(text, text) for text in sentences] if continued else pairs
    learned, tokenisers = tokenisers_of(spec, learnt)
    texts = [pair.source for pair in pairs], [pair.target for pair in pairs]
    sides = [[*map(made.tokenise, own)] for made, own in zip(tokenisers, texts, strict=True)]
    counts = [[*map(tokenisers[0].tokenise, sentences)]] * 2 if continued else sides
    read, written = (Vocabulary.count(c, min_frequency=recipe.min_frequency) for c in counts)
    source, target = _numbered(sides[0], read, recipe), _numbered(sides[1], written, recipe)
    links = None
    if any(pair.alignment for pair in pairs):
        found = _links(pairs, sides, recipe.tokeniser, counted, registry)
        links = [
            [(i, j) for i, j in own if i < len(ids) - 1 and j < len(words) - 1]
            for own, ids, words in zip(found, source, target, strict=True)
        ]
    return Encoded(source, target, read, written, learned, tokenisers, links)


def _links(
    pairs: Sequence[SentencePair], sides: Sequence[Sequence[Sequence[str]]], tokeniser: str,
    counted: str, registry: Registry,
) -> Iterator[Sequence[Link]]:  # fmt: skip
    if counted == tokeniser:
        yield from (pair.alignment for pair in pairs)
        return
    _, gold = tokenisers_of(registry.tokeniser(counted), pairs)
    for pair, *tokens in zip(pairs, *sides, strict=True):
        before = gold[0].tokenise(pair.source), gold[1].tokenise(pair.target)
        yield carried(pair.alignment, before, (tokens[0], tokens[1]), (pair.source, pair.target))


def _numbered(side: Sequence[Tokens], vocabulary: Vocabulary, recipe: Recipe) -> list[list[int]]:
    return [truncate(vocabulary.ids(tokens), recipe.max_tokens) for tokens in side]


def collate(rows: Sequence[Sequence[int]], device: torch.device | str) -> tuple[Tensor, Tensor]:
    """Token ids padded to the longest row ``(B, n)``, and lengths ``(B,)``."""
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return torch.tensor(pad(rows), device=device), lengths


def alignment_of(
    links: Sequence[Sequence[Link]], target: int, source: int, device: torch.device | str
) -> Tensor:
    """Links as a mask ``(B, target, source)``, True where a target token has its source token."""
    found = torch.zeros(len(links), target, source, dtype=torch.bool)
    places = [(row, j, i) for row, own in enumerate(links) for i, j in own]
    if places:
        found[tuple(torch.tensor(places).T)] = True
    return found.to(device)


def grouped(corpus: Encoded, size: int, generator: random.Random) -> list[list[int]]:
    """One epoch's batches as numbers of pairs: random order, sentences of like length together."""
    order = list(range(len(corpus.source)))
    generator.shuffle(order)
    groups = []
    for first in range(0, len(order), size * _POOL):
        pool = order[first : first + size * _POOL]
        pool.sort(key=lambda i: (len(corpus.target[i]), len(corpus.source[i])))
        groups += [pool[i : i + size] for i in range(0, len(pool), size)]
    generator.shuffle(groups)
    return groups


def batches(
    corpus: Encoded, size: int, generator: random.Random, device: torch.device, start: int = 0
) -> Iterator[Batch]:
    """One epoch from its batch ``start`` on: every pair once, see :func:`grouped`."""
    for group in grouped(corpus, size, generator)[start:]:
        source = collate([corpus.source[i] for i in group], device)
        target = collate([corpus.target[i] for i in group], device)
        alignment = None
        if corpus.links is not None:
            own = [corpus.links[i] for i in group]
            alignment = alignment_of(own, target[0].shape[1], source[0].shape[1], device)
        yield Batch(*source, *target, alignment)

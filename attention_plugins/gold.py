"""Whether a translation model looks where gold word alignments say."""

from collections.abc import Iterable, Iterator, Sequence
from math import nan
from typing import NamedTuple

from torch import Tensor

from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.encoding import GOLD_TOKENISER
from attention_plugins.tap import Site
from attention_plugins.translator import Translator

Links = frozenset[tuple[int, int]]


def strongest_links(weights: Tensor, source: range, target_length: int) -> Links:
    """Every target word with the key that it looks at most, unless that is no source word.

    ``weights`` are one head's ``(queries, keys)``, ``source`` the keys of the source's words and
    ``target_length`` how many words there are, both without ``<eos>``.
    """
    best = weights[:target_length].argmax(dim=-1).tolist()
    return frozenset((key - source.start, word) for word, key in enumerate(best) if key in source)


class Agreement(NamedTuple):
    """Counts over one or many sentences, from which an alignment error rate is made."""

    found: int = 0
    sure: int = 0
    found_sure: int = 0
    found_possible: int = 0

    def __add__(self, other: "Agreement") -> "Agreement":  # type: ignore[override]
        """The counts of both together."""
        return Agreement(*(mine + yours for mine, yours in zip(self, other, strict=True)))

    @property
    def error_rate(self) -> float:
        """``1 - (|A & S| + |A & P|) / (|A| + |S|)`` (Och & Ney 2003, section 6.2).

        A is found, S sure, P possible; 0 where neither found nor sure links exist.
        """
        if not self.found + self.sure:
            return 0.0
        return 1 - (self.found_sure + self.found_possible) / (self.found + self.sure)

    @property
    def precision(self) -> float:
        """The share of found links that are sure or possible; NaN where none was found."""
        return self.found_possible / self.found if self.found else nan

    @property
    def recall(self) -> float:
        """The share of sure links that were found; NaN where there is none."""
        return self.found_sure / self.sure if self.sure else nan


def compare(
    found: Iterable[tuple[int, int]], sure: Iterable[tuple[int, int]],
    possible: Iterable[tuple[int, int]] = (),
) -> Agreement:  # fmt: skip
    """How the found links of one sentence agree with its gold ones; sure ones are possible too."""
    links, gold = frozenset(found), frozenset(sure)
    allowed = gold | frozenset(possible)
    return Agreement(len(links), len(gold), len(links & gold), len(links & allowed))


def has_gold(pair: SentencePair) -> bool:
    """Whether a gold alignment of the pair is known."""
    return bool(pair.alignment or pair.possible)


def readable(
    translator: Translator, pairs: Sequence[SentencePair], counted: str = GOLD_TOKENISER
) -> list[SentencePair]:
    """The pairs with a gold alignment, by the tokens counted, that the model can read."""
    if translator.card["tokeniser"] != counted:
        raise ContractError(
            f"gold alignments count the tokens of {counted!r}; this model reads "
            f"{translator.card['tokeniser']!r}"
        )
    gold = [
        pair
        for pair in pairs
        if has_gold(pair)
        and translator.reads(pair.source)
        and translator.reads(pair.target, target=True)
    ]
    if not gold:
        raise ContractError("need at least one pair with a gold alignment, got none")
    return gold


def agreements(
    translator: Translator, pairs: Sequence[SentencePair]
) -> Iterator[dict[Site, list[Agreement]]]:
    """How every head of every cross-attention agrees with each pair's gold, its target forced.

    Each target word is linked to the source word that its row looks at most. For each pair there
    is,
    by site, a count per head; a site with several heads has one more at the end, of their mean.
    """
    maps = translator.look([(pair.source, pair.target) for pair in pairs])
    for pair, sites in zip(pairs, maps, strict=True):
        counts = {}
        for site, weights in sites.items():
            words = translator.source_keys(site, *weights.shape[1:])
            if site.kind == "cross" and words is not None:
                heads = [*weights, weights.mean(dim=0)] if len(weights) > 1 else list(weights)
                links = [strongest_links(head, words, weights.shape[1] - 1) for head in heads]
                counts[site] = [compare(found, pair.alignment, pair.possible) for found in links]
        yield counts


def alignment_error(
    translator: Translator, pairs: Sequence[SentencePair], counted: str = GOLD_TOKENISER
) -> dict[Site, list[float]]:
    """Alignment error rate, 0 to 1, of every head over all pairs that are :func:`readable`.

    By site, one rate per head and of their mean as in :func:`agreements`.
    """
    totals: dict[Site, list[Agreement]] = {}
    for counts in agreements(translator, readable(translator, pairs, counted)):
        for site, heads in counts.items():
            known = totals.setdefault(site, [Agreement()] * len(heads))
            totals[site] = [old + new for old, new in zip(known, heads, strict=True)]
    return {site: [count.error_rate for count in counts] for site, counts in totals.items()}

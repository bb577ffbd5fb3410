"""Word alignments, read off attention weights and scored against gold ones."""

from __future__ import annotations

from collections.abc import Iterable
from math import nan
from typing import NamedTuple

from torch import Tensor

Links = frozenset[tuple[int, int]]


def strongest_links(weights: Tensor, source: range, target_length: int) -> Links:
    """Every target word with the key that it looks at most, unless that is no source word.

    Args:
        weights: of one head, ``(queries, keys)``: at least ``target_length`` queries.
        source: the keys that are the source's words, without ``<eos>``.
        target_length: words without ``<eos>``; what comes after is no word.
    """
    best = weights[:target_length].argmax(dim=-1).tolist()
    return frozenset(
        (key - source.start, target) for target, key in enumerate(best) if key in source
    )


class Agreement(NamedTuple):
    """Counts over one or many sentences, from which an alignment error rate is made."""

    found: int = 0
    sure: int = 0
    found_sure: int = 0
    found_possible: int = 0

    def __add__(self, other: Agreement) -> Agreement:  # type: ignore[override]
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
    found: Iterable[tuple[int, int]],
    sure: Iterable[tuple[int, int]],
    possible: Iterable[tuple[int, int]] = (),
) -> Agreement:
    """How the found links of one sentence agree with its gold ones; sure ones are possible too."""
    links, gold = frozenset(found), frozenset(sure)
    allowed = gold | frozenset(possible)
    return Agreement(len(links), len(gold), len(links & gold), len(links & allowed))

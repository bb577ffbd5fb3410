"""Whether a translation model looks where gold word alignments say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attention_plugins.alignment import Agreement, compare, strongest_links
from attention_plugins.checkpoints import Checkpoint
from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.models.protocols import StepModel
from attention_plugins.tap import Site
from attention_plugins.text import tokenise_clitics
from attention_plugins.translator import Translator

# What the indices of a gold alignment count.
GOLD_TOKENISER = "clitics"


class Untrained(Checkpoint):
    """A checkpoint's model as it was before its training: what learned figures are held against.

    With the weights that the training's seed draws; see :meth:`Checkpoint.untrained`.
    """

    def build(self, registry: Any) -> StepModel:
        """The model with fresh weights, in evaluation mode, on the CPU."""
        return self.untrained(registry)


def has_gold(pair: SentencePair) -> bool:
    """Whether a gold alignment of the pair is known."""
    return bool(pair.alignment or pair.possible)


def readable(translator: Translator, pairs: Sequence[SentencePair]) -> list[SentencePair]:
    """The pairs with a gold alignment that are short enough for the model.

    Raises:
        ContractError: no such pair, or a model that counts other tokens than the alignments.
    """
    if translator.card["tokeniser"] != GOLD_TOKENISER:
        raise ContractError(
            f"gold alignments count the tokens of {GOLD_TOKENISER!r}; this model reads "
            f"{translator.card['tokeniser']!r}"
        )
    gold = [p for p in pairs if has_gold(p) and all(map(translator.reads, (p.source, p.target)))]
    if not gold:
        raise ContractError("need at least one pair with a gold alignment, got none")
    return gold


def agreements(
    translator: Translator, pairs: Sequence[SentencePair]
) -> Iterator[dict[Site, list[Agreement]]]:
    """How every head of every cross-attention agrees with each pair's gold, its target forced.

    Each target word is linked to the source word that its row looks at most.

    Args:
        pairs: as :func:`readable` gives them.

    Yields:
        For each pair, by site, a count per head; a site with several heads has one more at the
        end: that of their mean.
    """
    maps = translator.look([(pair.source, pair.target) for pair in pairs])
    for pair, sites in zip(pairs, maps, strict=True):
        words = len(tokenise_clitics(pair.source)), len(tokenise_clitics(pair.target))
        counts = {}
        for site, weights in sites.items():
            first = translator.first_source_key(site, words[0], words[1])
            if site.kind == "cross" and first is not None:
                heads = [*weights, weights.mean(dim=0)] if len(weights) > 1 else list(weights)
                links = [strongest_links(head, *words, first=first) for head in heads]
                counts[site] = [compare(found, pair.alignment, pair.possible) for found in links]
        yield counts


def alignment_error(
    translator: Translator, pairs: Sequence[SentencePair]
) -> dict[Site, list[float]]:
    """Alignment error rate of every head over all pairs that are :func:`readable`.

    Returns:
        By site, one rate per head and of their mean as in :func:`agreements`, 0 to 1.

    Raises:
        ContractError: see :func:`readable`.
    """
    totals: dict[Site, list[Agreement]] = {}
    for counts in agreements(translator, readable(translator, pairs)):
        for site, heads in counts.items():
            known = totals.setdefault(site, [Agreement()] * len(heads))
            totals[site] = [old + new for old, new in zip(known, heads, strict=True)]
    return {site: [count.error_rate for count in counts] for site, counts in totals.items()}

"""Whether a translation model looks where gold word alignments say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from attention_plugins.alignment import Agreement, compare, strongest_links
from attention_plugins.checkpoints import Checkpoint
from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.encoding import GOLD_TOKENISER
from attention_plugins.models.protocols import StepModel
from attention_plugins.tap import Site
from attention_plugins.translator import Translator


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


def readable(
    translator: Translator, pairs: Sequence[SentencePair], counted: str = GOLD_TOKENISER
) -> list[SentencePair]:
    """The pairs with a gold alignment that are short enough for the model.

    Args:
        counted: the tokeniser whose tokens the alignments count.

    Raises:
        ContractError: no such pair, or a model that counts other tokens than the alignments.
    """
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

    Each target word is linked to the source word that its row looks at most.

    Args:
        pairs: as :func:`readable` gives them.

    Yields:
        For each pair, by site, a count per head; a site with several heads has one more at the
        end: that of their mean.
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
    """Alignment error rate of every head over all pairs that are :func:`readable`.

    Args:
        counted: as in :func:`readable`.

    Returns:
        By site, one rate per head and of their mean as in :func:`agreements`, 0 to 1.

    Raises:
        ContractError: see :func:`readable`.
    """
    totals: dict[Site, list[Agreement]] = {}
    for counts in agreements(translator, readable(translator, pairs, counted)):
        for site, heads in counts.items():
            known = totals.setdefault(site, [Agreement()] * len(heads))
            totals[site] = [old + new for old, new in zip(known, heads, strict=True)]
    return {site: [count.error_rate for count in counts] for site, counts in totals.items()}

"""Whether a translation model looks where gold word alignments say."""

from __future__ import annotations

from collections.abc import Sequence

from attention_plugins.alignment import Agreement, compare, strongest_links
from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.tap import Site
from attention_plugins.text import tokenise_clitics
from attention_plugins.translator import Translator

# What the indices of a gold alignment count.
GOLD_TOKENISER = "clitics"


def alignment_error(
    translator: Translator, pairs: Sequence[SentencePair]
) -> dict[Site, list[float]]:
    """Alignment error rate of every head of every cross-attention, gold targets forced.

    Each target word is linked to the source word that its row looks at most; over all pairs
    that have a gold alignment and are short enough for the model.

    Returns:
        By site, one rate per head, 0 to 1; a site with several heads has one more at the end:
        that of their mean.

    Raises:
        ContractError: no such pair, or a model that counts other tokens than the alignments.
    """
    if translator.card["tokeniser"] != GOLD_TOKENISER:
        raise ContractError(
            f"gold alignments count the tokens of {GOLD_TOKENISER!r}; this model reads "
            f"{translator.card['tokeniser']!r}"
        )
    gold = [p for p in pairs if p.alignment and all(map(translator.reads, (p.source, p.target)))]
    if not gold:
        raise ContractError("need at least one pair with a gold alignment, got none")
    totals: dict[Site, list[Agreement]] = {}
    maps = translator.look([(pair.source, pair.target) for pair in gold])
    for pair, sites in zip(gold, maps, strict=True):
        words = len(tokenise_clitics(pair.source)), len(tokenise_clitics(pair.target))
        for site, weights in sites.items():
            if site.kind != "cross":
                continue
            heads = [*weights, weights.mean(dim=0)] if len(weights) > 1 else list(weights)
            counts = totals.setdefault(site, [Agreement()] * len(heads))
            for number, head in enumerate(heads):
                found = strongest_links(head, *words)
                counts[number] = counts[number] + compare(found, pair.alignment)
    return {site: [count.error_rate for count in counts] for site, counts in totals.items()}

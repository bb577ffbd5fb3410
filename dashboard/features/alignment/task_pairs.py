"""The pairs with gold alignments that a request is about: of a data set, a file, or by hand."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from attention_plugins.contract import ContractError, RegressionData, SentencePair, settle
from attention_plugins.datasets.parallel import aligned_pair, numbered, read_pairs
from attention_plugins.experiment import new_to
from attention_plugins.gold import has_gold
from attention_plugins.opening import read_checkpoint
from attention_plugins.registry import installed
from attention_plugins.text import tokenise_clitics
from dashboard.language import gettext_noop
from dashboard.storage.blobs import Blobs

OWN, UPLOAD = "own", "upload:"
_YOURS = gettext_noop("your pair")  # in sentences on what is wrong with it
_EMPTY = {
    "source": gettext_noop("need a sentence as source of your pair, got none"),
    "target": gettext_noop("need a sentence as target of your pair, got none"),
}


def gold_pairs(corpus: str, readers: tuple[str, ...]) -> tuple[SentencePair, ...]:
    """The aligned pairs that none of these checkpoints has learned.

    Args:
        corpus: a data set's name, or ``upload:<sha256>``.
        readers: names of checkpoints.

    Raises:
        ContractError: no such corpus, one that cannot be read, or no such pair.
        ValueError: an uploaded file that is not kept here.
    """
    if corpus.startswith(UPLOAD):
        Blobs().path(corpus.removeprefix(UPLOAD))  # still here, whatever is remembered of it
    return _gold_pairs(corpus, readers)


@functools.lru_cache(maxsize=8)
def _gold_pairs(corpus: str, readers: tuple[str, ...]) -> tuple[SentencePair, ...]:
    registry = installed()
    cards = [read_checkpoint(registry.checkpoint(name).path).card for name in readers]
    pairs = _load(corpus, max(card["corpus"]["pairs"] for card in cards))
    gold = [pair for pair in pairs if has_gold(pair)]
    if not gold:
        if corpus.startswith(UPLOAD):
            raise ContractError(
                "need pairs with a gold alignment, and this file has none: a line is "
                "source<TAB>target<TAB>links, with links such as 0-0 1-2"
            )
        raise ContractError(
            f"need pairs with a gold alignment, and data set {corpus!r} has none: a line is "
            "source<TAB>target<TAB>links, with links such as 0-0 1-2"
        )
    for card in cards:
        new = set(new_to(card, pairs))
        gold = [pair for pair in gold if pair in new]
    if not gold:
        raise ContractError(
            f"need pairs that {' and '.join(readers)} did not learn; all {len(pairs):,} pairs "
            "were learned: hold sentences out when you train, or choose another corpus"
        )
    return tuple(gold)


def _load(corpus: str, least: int) -> Sequence[SentencePair]:
    """All pairs of a file; of a data set as many as it gives by itself, and at least so many."""
    if corpus.startswith(UPLOAD):
        path = Blobs().path(corpus.removeprefix(UPLOAD))
        return read_pairs(path.read_bytes(), least=1, alignments=True)
    spec = installed().dataset(corpus)
    if spec.task != "translation":
        raise ContractError(f"data set {corpus!r} is for {spec.task}; need one for translation")
    if not spec.aligned:
        raise ContractError(f"data set {corpus!r} has no gold alignments")
    sizes = {
        p.name: min(max(least, int(p.default)), int(p.high or least))
        for p in spec.parameters
        if p.name == "pairs"
    }
    pairs = spec.load(settle(spec.parameters, sizes), 0)
    if isinstance(pairs, RegressionData):
        raise ContractError(f"data set {corpus!r} gave points; need sentence pairs")
    return pairs


def own_pair(given: Mapping[str, str]) -> SentencePair:
    """The pair that the options ``source``, ``target`` and ``links`` hold.

    Raises:
        ContractError: an empty side, no links, or links that do not fit; with the tokens that
            links count.
    """
    for name, problem in _EMPTY.items():
        if not given[name].strip():
            raise ContractError(problem)
    pair = aligned_pair(given["source"], given["target"], given["links"], _YOURS)
    if not has_gold(pair):
        tokens = [numbered(tokenise_clitics(side)) for side in (pair.source, pair.target)]
        raise ContractError(
            f"need links such as 0-0 1-2 for your pair; its tokens are {tokens[0]} in the "
            f"source and {tokens[1]} in the target"
        )
    return pair

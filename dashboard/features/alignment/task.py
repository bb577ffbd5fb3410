"""Alignment: whether a translation model looks where gold word alignments say."""

import functools
import time
from collections.abc import Mapping, Sequence
from copy import copy
from statistics import fmean
from typing import Any

import pyarrow as pa

from attention_plugins import contract
from attention_plugins.contract import ContractError, Parameter, RegressionData, SentencePair
from attention_plugins.datasets.parallel import aligned_pair, numbered, read_pairs
from attention_plugins.experiment import counted_by, new_to
from attention_plugins.gold import Agreement, agreements, has_gold, readable, strongest_links
from attention_plugins.opening import read_checkpoint
from attention_plugins.record import AttentionMap
from attention_plugins.registry import installed
from attention_plugins.tap import Site
from attention_plugins.text import tokenise_clitics
from attention_plugins.translator import Translator
from dashboard.jobs.task_offers import offered
from dashboard.jobs.task_tables import map_names, maps_table
from dashboard.jobs.task_translator import open_translator, provenance, read_texts
from dashboard.jobs.tasks import Context
from dashboard.language import gettext_noop
from dashboard.records.request import Request, Result
from dashboard.storage.blobs import Blobs

OWN, UPLOAD = "own", "upload:"
_YOURS = gettext_noop("your pair")  # in sentences on what is wrong with it
_EMPTY = {
    "source": gettext_noop("need a sentence as source of your pair, got none"),
    "target": gettext_noop("need a sentence as target of your pair, got none"),
}


def gold_pairs(corpus: str, readers: tuple[str, ...]) -> tuple[SentencePair, ...]:
    """The aligned pairs of a data set, or of ``upload:<sha256>``, that no such checkpoint learned.

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
    sizes = {p.name: min(max(least, int(p.default)), int(p.high or least))
             for p in spec.parameters if p.name == "pairs"}  # fmt: skip
    pairs = spec.load(contract.settle(spec.parameters, sizes), 0)
    if isinstance(pairs, RegressionData):
        raise ContractError(f"data set {corpus!r} gave points; need sentence pairs")
    return pairs


def own_pair(given: Mapping[str, str]) -> SentencePair:
    """The pair that the options ``source``, ``target`` and ``links`` hold.

    ContractError: an empty side, no links, or links that do not fit, with the tokens they count.
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


(PAIRS,) = offered(__file__).OPTIONS
_PAIR = Parameter(name="pair", title="Pair", default=0, low=0, high=1_000_000)
_TEXTS = ("corpus", "others", "source", "target", "links")
_TOLD_EVERY = 50  # pairs

Counts = dict[Site, list[Agreement]]


def perform(request: Request, context: Context) -> Result:
    """Score every head of every cross-attention on many pairs, or show one pair.

    ``data`` is a checkpoint's name. Options of the request: ``corpus`` (a data set's name,
    ``upload:<sha256>``, or ``own`` for the one pair of ``source``, ``target`` and ``links``),
    ``others`` (names of checkpoints, with commas: what these learned is left out too),
    :data:`PAIRS`, and ``pair``, the number from 1 of the pair to show; without it, many are
    scored. Targets are forced.

    Returns:
        Of many: tables ``rates``, a row per head and mean of heads (``map``: its name, such as
        ``1.2`` or ``1.mean``; ``found``, ``sure``, ``found_sure``, ``found_possible``;
        ``error_rate``, ``precision``, ``recall``; ``untrained``: the error rate with fresh
        weights), and ``pairs`` (``number``, ``source``, ``target``, ``error_rate`` of the best
        map); facts ``best`` (its name), ``average`` (mean error rate of single heads),
        ``untrained`` (lowest error rate with fresh weights), ``scored``, ``too_long``.

        Of one: tables ``maps`` and ``links`` (``map``, ``source``, ``target``, ``verdict``:
        right, wrong or missed); facts ``number``, ``source``, ``target``, ``source_tokens``,
        ``target_tokens``, ``sure``, ``possible`` (links), ``unknown``, ``target_unknown``.

        Of both: ``available`` pairs, and the facts on what the model is.

    Raises:
        ValueError: an unknown checkpoint or option, a corpus without gold or without pairs that
            are new to the models, links that do not fit, a model that counts other tokens.
    """
    began = time.perf_counter()
    texts, numbers = read_texts(request, _TEXTS)
    numbers = contract.settle([PAIRS, _PAIR], numbers)
    number, most = int(numbers["pair"]), int(numbers["pairs"])
    translator = open_translator(request, context)
    context.report(0.1, gettext_noop("reading the pairs"))
    corpus = texts["corpus"]
    if not corpus:  # what the checkpoint learned
        corpus = read_checkpoint(installed().checkpoint(request.data).path).card["corpus"]["name"]
    if corpus == OWN:
        pairs: Sequence[SentencePair] = (own_pair(texts),)
    else:
        others = (other for other in texts["others"].split(",") if other)
        pairs = gold_pairs(corpus, (request.data, *others))
    tokeniser = counted_by(installed().datasets.get(corpus))
    if number:
        if number > len(pairs):
            raise ContractError(f"need 1 <= pair <= {len(pairs):,}, got {number:,}")
        found = _shown(translator, pairs[number - 1], number, tokeniser)
    else:
        found = _scored(translator, pairs[:most], context, tokeniser)
    facts = {**found.facts, "available": len(pairs), **provenance(translator)}
    return Result(tables=found.tables, facts={**facts, "seconds": time.perf_counter() - began})


def _scored(
    translator: Translator, pairs: Sequence[SentencePair], context: Context, tokeniser: str
) -> Result:
    """The rates of every head over these pairs, trained and untrained."""
    kept = readable(translator, pairs, tokeniser)
    untrained = copy(translator)
    untrained.model = translator.untrained()
    counted = [
        _counted(one, kept, context, start)
        for one, start in ((translator, 0.1), (untrained, 0.55))
    ]
    learned, fresh = map(_summed, counted)
    if not learned:
        raise ContractError("need a model with cross-attention to compare with gold, got none")
    rows = [
        {
            "map": name, **count._asdict(), "error_rate": count.error_rate,
            "precision": count.precision, "recall": count.recall,
            "untrained": fresh[name].error_rate,
        }
        for name, count in learned.items()
    ]  # fmt: skip
    single = [row["error_rate"] for row in rows if not row["map"].endswith("mean")]
    best = min(rows, key=lambda row: row["error_rate"])["map"]
    numbers = {pair: number for number, pair in reversed(list(enumerate(pairs, start=1)))}
    by_pair = [
        {
            "number": numbers[pair], "source": pair.source, "target": pair.target,
            "error_rate": _by_map(counts)[best].error_rate,
        }
        for pair, counts in zip(kept, counted[0], strict=True)
    ]  # fmt: skip
    return Result(
        tables={"rates": pa.Table.from_pylist(rows), "pairs": pa.Table.from_pylist(by_pair)},
        facts={
            "best": best, "average": fmean(single),
            "untrained": min(row["untrained"] for row in rows), "scored": len(kept),
            "too_long": len(pairs) - len(kept),
        },
    )  # fmt: skip


def _counted(
    translator: Translator, pairs: Sequence[SentencePair], context: Context, start: float
) -> list[Counts]:
    found = []
    for counts in agreements(translator, pairs):
        found.append(counts)
        if len(found) % _TOLD_EVERY == 1:
            done = len(found) / len(pairs)
            note = gettext_noop("pair {pair:,} of {pairs:,}", pair=len(found), pairs=len(pairs))
            context.report(start + 0.45 * done, note)
    return found


def _by_map(counts: Counts) -> dict[str, Agreement]:
    """By the name that a map has on the page; of several heads the mean is counted last."""
    named = ((map_names(site.layer, max(1, len(maps) - 1)), maps) for site, maps in counts.items())
    return {name: count for both in named for name, count in zip(*both, strict=True)}


def _summed(counted: Sequence[Counts]) -> dict[str, Agreement]:
    total: dict[str, Agreement] = {}
    for counts in counted:
        for name, count in _by_map(counts).items():
            total[name] = total.get(name, Agreement()) + count
    return total


def _shown(translator: Translator, pair: SentencePair, number: int, tokeniser: str) -> Result:
    """Where the model looks while it reads this pair, and which links that makes."""
    readable(translator, [pair], tokeniser)
    said = translator.explain(pair.source, target=pair.target)
    maps = [found for found in said.maps if found.site.kind == "cross"]
    rows = [
        row
        for found in maps
        if (words := translator.source_keys(found.site, *found.weights.shape[1:])) is not None
        for row in _links(found, pair, words)
    ]
    schema = pa.schema([("map", pa.string()), ("source", pa.int32()), ("target", pa.int32()),
                        ("verdict", pa.string())])  # fmt: skip
    return Result(
        tables={"maps": maps_table(maps), "links": pa.Table.from_pylist(rows, schema)},
        facts={
            "number": number, "source": pair.source, "target": pair.target,
            "source_tokens": list(said.source_tokens), "target_tokens": list(said.tokens),
            "sure": [list(link) for link in pair.alignment],
            "possible": [list(link) for link in pair.possible], "unknown": list(said.unknown),
            "target_unknown": list(said.target_unknown),
        },
    )  # fmt: skip


def _links(found: AttentionMap, pair: SentencePair, words: range) -> list[dict[str, Any]]:
    """What each head of a map finds and misses; the source's words are the keys ``words``."""
    several = len(found.weights) > 1
    heads = [*found.weights, found.weights.mean(dim=0)] if several else [*found.weights]
    sure = set(pair.alignment)
    allowed = sure.union(pair.possible)
    rows = []
    for name, weights in zip(map_names(found.site.layer, len(found.weights)), heads, strict=True):
        links = strongest_links(weights, words, weights.shape[0] - 1)
        for verdict, part in (("right", links & allowed), ("wrong", links - allowed),
                              ("missed", sure - links)):  # fmt: skip
            rows += [
                {"map": name, "source": source, "target": target, "verdict": verdict}
                for source, target in sorted(part, key=lambda link: link[::-1])
            ]
    return rows

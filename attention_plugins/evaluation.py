"""How well a model translates sentences, near its training set and far from it, or foretells."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import torch

from attention_plugins.contract import ContractError, MetricSpec, SentencePair
from attention_plugins.datasets.parallel import references, whole
from attention_plugins.encoding import collate
from attention_plugins.experiment import BLEU
from attention_plugins.models.losses import shifted, valid_positions
from attention_plugins.registry import Registry
from attention_plugins.scores import corpus_bleu
from attention_plugins.tap import Tap
from attention_plugins.translator import Translator

NEAR = 1  # tokens
Score = Callable[[Sequence[str], Sequence[Sequence[str]]], dict[str, Any]]


class Neighbour(NamedTuple):
    """The nearest training pair, and how far its source is from a sentence, in tokens."""

    pair: SentencePair
    distance: int

    @property
    def is_near(self) -> bool:
        """Whether one token inserted, deleted or replaced makes one sentence the other."""
        return self.distance <= NEAR


def nearest(
    sources: Iterable[str], learned: Sequence[SentencePair],
    tokenise: Callable[[str], Sequence[str]],
) -> dict[str, Neighbour]:  # fmt: skip
    """The nearest training pair of each source by :func:`edit_distance`.

    Of several that are equally near, one that shares more tokens comes first, else the one that
    was learned first. ContractError if nothing was learned.
    """
    if not learned:
        raise ContractError("need at least one training pair to be near to, got none")
    index = _Index(learned, tokenise)
    return {source: index.nearest(tuple(tokenise(source))) for source in sources}


def apart(
    sources: Sequence[str], translations: Sequence[str], wanted: Sequence[Sequence[str]],
    neighbours: Mapping[str, Neighbour], score: Score,
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """Scores of sentences near the training set, of those far from it, and of copying.

    ``near`` are sources that one token inserted, deleted or replaced makes a training source,
    ``far`` all others; ``copied`` scores the nearest training source's translation as that of each
    sentence. What no sentence belongs to is left out. ``wanted`` has each source's references.
    """
    found: dict[str, list[tuple[str, Sequence[str]]]] = {"near": [], "far": [], "copied": []}
    for source, said, right in zip(sources, translations, wanted, strict=True):
        nearest = neighbours[source]
        found["near" if nearest.is_near else "far"].append((said, right))
        found["copied"].append((nearest.pair.target, right))
    return {n: score(*map(list, zip(*part, strict=True))) for n, part in found.items() if part}


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """The fewest tokens to insert, delete or replace (Levenshtein 1966) that make both equal."""
    row = list(range(len(other) + 1))
    for done, token in enumerate(one, 1):
        diagonal, row[0] = row[0], done
        for place, wanted in enumerate(other, 1):
            replaced = diagonal + (token != wanted)
            diagonal = row[place]
            row[place] = min(replaced, diagonal + 1, row[place - 1] + 1)
    return row[-1]


class _Index:
    """The different training sources by their tokens, a repeated token counted by number.

    Two sentences of m and n tokens that share s of them are at least ``max(m, n) - s`` apart, so
    that few distances have to be computed.
    """

    def __init__(
        self, learned: Sequence[SentencePair], tokenise: Callable[[str], Sequence[str]]
    ) -> None:
        first: dict[tuple[str, ...], SentencePair] = {}
        for pair in learned:
            first.setdefault(tuple(tokenise(pair.source)), pair)
        self._tokens, self._pairs = list(first), list(first.values())
        self._lengths = torch.tensor([len(tokens) for tokens in self._tokens])
        places: dict[tuple[str, int], list[int]] = defaultdict(list)
        for place, tokens in enumerate(self._tokens):
            for token in _numbered(tokens):
                places[token].append(place)
        self._places = {token: torch.tensor(found) for token, found in places.items()}

    def nearest(self, tokens: tuple[str, ...]) -> Neighbour:
        shared = torch.zeros_like(self._lengths)
        for token in _numbered(tokens):
            if (places := self._places.get(token)) is not None:
                shared[places] += 1
        bounds = self._lengths.clamp(min=len(tokens)) - shared
        best, found = len(tokens) + int(self._lengths.max()) + 1, 0
        for bound in range(int(bounds.min()), int(bounds.max()) + 1):
            for place in (bounds == bound).nonzero().flatten().tolist():
                if bound >= best:
                    return Neighbour(self._pairs[found], best)
                distance = edit_distance(tokens, self._tokens[place])
                if distance < best:
                    best, found = distance, place
        return Neighbour(self._pairs[found], best)


def _numbered(tokens: Sequence[str]) -> list[tuple[str, int]]:
    """``a b a`` as ``(a, 1), (b, 1), (a, 2)``."""
    return [(token, tokens[: place + 1].count(token)) for place, token in enumerate(tokens)]


def evaluate(
    translator: Translator, pairs: Sequence[SentencePair], *, width: int = 1,
    metric: MetricSpec | None = None, neighbours: Mapping[str, Neighbour] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Score the translations of every distinct source, against all its references.

    Returns corpus BLEU as ``bleu`` (0 to 100) with its ``signature`` and, as ``normalised``, what
    was done to the text before; ``sentences``, ``beam``, ``too_long``: sources that the model does
    not read; by another metric also ``metric``. With neighbours the parts of :func:`apart`.
    """
    by_source = references(pairs)
    sources = [source for source in by_source if translator.reads(source)]
    translations = translator.translate(sources, width=width)
    wanted = [by_source[source] for source in sources]
    score = corpus_bleu(translations, wanted)
    own = None if metric is None or metric.name == BLEU else metric
    tokeniser = translator.card["tokeniser"]
    found = {
        "bleu": round(score.score, 2), "signature": score.signature,
        "normalised": f"{score.normalised}; translations detokenised from {tokeniser}",
        "sentences": score.sentences, "beam": width, "too_long": len(by_source) - len(sources),
    }  # fmt: skip
    if own:
        facts = {n: getattr(own, n) for n in ("name", "title", "unit", "higher_is_better")}
        found["metric"] = {**facts, "value": _value(own, translations, wanted)}
    if neighbours:
        found |= apart(sources, translations, wanted, neighbours, partial(_scores, own))
    return found


def _scores(
    own: MetricSpec | None, translations: Sequence[str], wanted: Sequence[Sequence[str]]
) -> dict[str, Any]:
    bleu = round(corpus_bleu(translations, wanted).score, 2)
    value = {"value": _value(own, translations, wanted)} if own else {}
    return {"sentences": len(translations), "bleu": bleu, **value}


def _value(metric: MetricSpec, written: Sequence[str], wanted: Sequence[Sequence[str]]) -> float:
    value = metric.score(written, wanted)
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ContractError(f"metric {metric.name!r} gave {value!r}; need a finite number")
    return round(float(value), 2)


def neighbours_of(
    held_out: Sequence[SentencePair], learned: Sequence[SentencePair], registry: Registry,
    counted: str,
) -> dict[str, Neighbour]:  # fmt: skip
    """The nearest training pair of every held-out source, by the tokens of ``counted``."""
    if not held_out:
        return {}
    spec = registry.tokeniser(counted)
    tokeniser = spec.create(spec.learned_from([pair.source for pair in learned]))
    return nearest(references(held_out), learned, tokeniser.tokenise)


SIGNATURE = "tokens after each sentence's first cut, <eos> counted; nats a token, and share right"
COUNTED = ("unigram", "bigram")
_BATCH = 128
Foretold = tuple[float, bool]  # log-probability of the token that came; whether it was likeliest
Foreteller = Callable[[list[int], int], Foretold]


def foretold(
    translator: Translator, pairs: Sequence[SentencePair], learned: Sequence[SentencePair] = ()
) -> dict[str, Any]:
    """How well each sentence's tokens after its shortest beginning are foretold.

    Beside the model, a ``unigram`` and a ``bigram`` model of the sentences ``learned``, where
    these are given: each token by how often it came, and by how often it came after the last one
    (interpolated as by Witten and Bell 1991).

    Returns ``nats`` a token and ``accuracy``, the share of tokens that were the likeliest, of the
    model and of each of the other two; ``words``: how many tokens; ``sentences``; ``too_long``:
    those that the model does not read.
    """
    shortest: dict[str, SentencePair] = {}
    for pair in sorted(pairs, key=lambda pair: len(pair.source)):
        shortest.setdefault(whole(pair), pair)
    read = [p for p in shortest.values()
            if translator.reads(p.source) and translator.reads(whole(p), target=True)]  # fmt: skip
    if not read:
        raise ContractError("need at least one sentence that this model reads, got none")
    found = {
        **_figures(list(_by_model(translator, read))),
        "sentences": len(read), "too_long": len(shortest) - len(read), "signature": SIGNATURE,
    }  # fmt: skip
    if learned:
        texts = dict.fromkeys(map(whole, learned))
        rows = [_ids(translator, text) for text in texts if translator.reads(text, target=True)]
        for name, foretell in _counted(rows, len(translator.card["target_vocabulary"])).items():
            said = [
                foretell(row[:place], row[place])
                for pair in read
                for row in [_ids(translator, whole(pair))]
                for place in range(len(_ids(translator, pair.source)) - 1, len(row))
            ]
            found[name] = _figures(said)
            found[name].pop("words")
    return found


def _figures(said: Sequence[Foretold]) -> dict[str, Any]:
    nats = -math.fsum(one for one, _ in said) / len(said)
    right = sum(likeliest for _, likeliest in said) / len(said)
    return {"nats": round(nats, 4), "accuracy": round(right, 4), "words": len(said)}


def _ids(translator: Translator, text: str) -> list[int]:
    """With ``<eos>``; both sides of such a model have one vocabulary."""
    return translator.pair(text, text).target[0].tolist()


@torch.no_grad()
def _by_model(translator: Translator, pairs: Sequence[SentencePair]) -> Iterator[Foretold]:
    """Word by word, as the model would write."""
    rows = [(_ids(translator, pair.source), _ids(translator, pair.target)) for pair in pairs]
    rows.sort(key=lambda row: list(map(len, row)))
    for start in range(0, len(rows), _BATCH):
        part, tap, steps = rows[start : start + _BATCH], Tap(), []
        (source, lengths), (target, counts) = (
            collate(side, translator.device) for side in zip(*part, strict=True)
        )
        state = translator.model.start(source, lengths, tap)
        for tokens in shifted(target).T:
            scores, state = translator.model.step(state, tokens, tap)
            steps.append(scores)
        scores = torch.stack(steps, dim=1)  # (B, m, words)
        costs = scores.gather(2, target[..., None])[..., 0]
        right = scores.argmax(dim=-1) == target
        counted = valid_positions(counts, target.shape[1])
        yield from zip(costs[counted].tolist(), right[counted].tolist(), strict=True)


def _counted(rows: Sequence[Sequence[int]], size: int) -> dict[str, Foreteller]:
    """Two models of tokens below ``size``, by how often these came in ``rows``."""
    often = Counter(token for row in rows for token in row)
    after: dict[int, Counter[int]] = defaultdict(Counter)
    for row in rows:
        for before, token in pairwise(row):
            after[before][token] += 1
    total, usual = often.total() + size, often.most_common(1)[0][0]

    def unigram(before: list[int], token: int) -> Foretold:
        return math.log((often[token] + 1) / total), token == usual

    def bigram(before: list[int], token: int) -> Foretold:
        seen = after.get(before[-1]) if before else None
        if not seen:
            return unigram(before, token)
        rest = len(seen) * math.exp(unigram(before, token)[0])
        share = (seen[token] + rest) / (seen.total() + len(seen))
        return math.log(share), token == seen.most_common(1)[0][0]

    return dict(zip(COUNTED, (unigram, bigram), strict=True))

"""How well a language model foretells the words of sentences, beside counts of words."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import torch

from attention_plugins.contract import ContractError, SentencePair
from attention_plugins.datasets.parallel import whole
from attention_plugins.encoding import collate
from attention_plugins.models.losses import shifted, valid_positions
from attention_plugins.tap import Tap
from attention_plugins.translator import Translator

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

    Returns:
        ``nats`` a token and ``accuracy``, the share of tokens that were the likeliest, of the
        model and of each of the other two; ``words``: how many tokens; ``sentences``;
        ``too_long``: those that the model does not read.
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
        size = len(translator.card["target_vocabulary"])
        for name, foretell in _counted(rows, size).items():
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

"""How good a translation is: corpus BLEU as published work reports it, and BLEU-k of d2l.ai."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import cast

from attention_plugins.contract import ContractError
from attention_plugins.text import NORMALISED, normalise


@dataclass(frozen=True, kw_only=True)
class BleuScore:
    """Corpus BLEU, 0 to 100, and what makes it comparable.

    Two scores compare only under one ``signature``, which is sacrebleu's, with its version, and
    one ``normalised``: what was done to both sides before sacrebleu saw them.
    """

    score: float
    signature: str
    normalised: str
    sentences: int


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> BleuScore:
    """Corpus BLEU by sacrebleu, of detokenised text, lower-cased, with any number of references.

    Both sides pass :func:`~attention_plugins.text.normalise` first. As in published work, a corpus
    with no matching 4-gram is smoothed, and one without any sentence of four tokens scores 0.
    """
    require_scorable(hypotheses, references)
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(lowercase=True)
    result = metric.corpus_score([normalise(text) for text in hypotheses], columns(references))
    return BleuScore(
        score=result.score, signature=str(metric.get_signature()), normalised=NORMALISED,
        sentences=len(hypotheses),
    )  # fmt: skip


def require_scorable(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Raise :class:`ContractError` unless there are sentences, each with its references."""
    if not hypotheses or len(hypotheses) != len(references):
        raise ContractError(
            "need one list of references for each of at least one hypothesis, "
            f"got {len(hypotheses)} hypotheses and {len(references)} lists"
        )
    for number, accepted in enumerate(references, 1):
        if isinstance(accepted, str) or not accepted:
            raise ContractError(
                f"sentence {number} needs a list of at least one reference, got {accepted!r}"
            )


def columns(references: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """As sacrebleu wants it: the n-th reference of every sentence, None where there is none."""
    found = list(zip_longest(*([normalise(text) for text in row] for row in references)))
    return cast("list[tuple[str, ...]]", found)  # its annotations do not know of None


def bleu_k(prediction: str, reference: str, k: int = 2) -> float:
    """BLEU-k of one sentence, 0 to 1, by the formula of d2l.ai, section 9.7.

    ``exp(min(0, 1 - len_label / len_pred)) * prod(p_n ** (1 / 2 ** n))`` over n = 1 to k, tokens
    split at spaces, case kept. An order longer than the prediction has no n-grams, so no ``p_n``,
    and is left out: a one-word prediction is judged by its word and its length. An empty
    prediction scores 0, and 1 against an empty reference. ContractError: k < 1.
    """
    if k < 1:
        raise ContractError(f"need 1 <= k, got k={k}")
    predicted, label = prediction.split(), reference.split()
    if not predicted:
        return 0.0 if label else 1.0
    score = math.exp(min(0.0, 1.0 - len(label) / len(predicted)))
    for n in range(1, min(k, len(predicted)) + 1):
        total = len(predicted) - n + 1
        score *= ((_ngrams(predicted, n) & _ngrams(label, n)).total() / total) ** (0.5**n)
    return score


def _ngrams(tokens: list[str], n: int) -> Counter:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

"""The built-in metrics, registered by the same hook as anybody's."""

from collections.abc import Iterator, Sequence

from attention_plugins.beside import row
from attention_plugins.contract import MetricSpec
from attention_plugins.hookspecs import hookimpl
from attention_plugins.scores import columns, corpus_bleu, require_scorable
from attention_plugins.text import normalise

BLEU = MetricSpec(
    score=lambda hypotheses, references: corpus_bleu(hypotheses, references).score,
    **row(__file__, "bleu"),
)


def corpus_chrf(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """chrF2 of the corpus by sacrebleu, 0 to 100; case does not count."""
    require_scorable(hypotheses, references)
    from sacrebleu.metrics import chrf

    written = [normalise(text) for text in hypotheses]
    return chrf.CHRF().corpus_score(written, columns(references)).score


CHRF = MetricSpec(score=corpus_chrf, **row(__file__, "chrf"))


def exact_match(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Percent of the sentences that equal one of their references, but for case and spaces."""
    require_scorable(hypotheses, references)
    right = [
        normalise(said) in map(normalise, accepted)
        for said, accepted in zip(hypotheses, references, strict=True)
    ]
    return 100.0 * sum(right) / len(right)


def token_accuracy(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """Percent of positions with the right token, over the longer of both sentences.

    Tokens are what stands between spaces. Of several references the one that fits best counts.
    """
    require_scorable(hypotheses, references)
    right = positions = 0
    for said, accepted in zip(hypotheses, references, strict=True):
        written = normalise(said).split()
        compared = [  # with each reference: the equal positions, and all of them
            (sum(map(str.__eq__, written, expected)), max(len(written), len(expected)))
            for expected in (normalise(text).split() for text in accepted)
        ]
        best = max(compared, key=lambda both: both[0] / both[1] if both[1] else 1.0)
        right, positions = right + best[0], positions + best[1]
    return 100.0 * right / positions if positions else 100.0


EXACT_MATCH = MetricSpec(score=exact_match, **row(__file__, "exact_match"))
TOKEN_ACCURACY = MetricSpec(score=token_accuracy, **row(__file__, "token_accuracy"))


@hookimpl
def attention_metrics() -> Iterator[MetricSpec]:
    """The metrics, in the order in which pages list them."""
    yield from (BLEU, CHRF, EXACT_MATCH, TOKEN_ACCURACY)

"""The built-in metrics, registered by the same hook as anybody's."""

from collections.abc import Iterator, Sequence

from attention_plugins.contract import MetricSpec
from attention_plugins.hookspecs import hookimpl
from attention_plugins.scores import columns, corpus_bleu, require_scorable
from attention_plugins.text import normalise

BLEU = MetricSpec(
    name="bleu",
    title="BLEU",
    score=lambda hypotheses, references: corpus_bleu(hypotheses, references).score,
    reference="Papineni et al. 2002, BLEU: a method for automatic evaluation of machine "
    "translation; computed by sacrebleu",
    description="Runs of one to four words that a reference has too; case does not count.",
)


def corpus_chrf(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """chrF2 of the corpus by sacrebleu, 0 to 100; case does not count."""
    require_scorable(hypotheses, references)
    from sacrebleu.metrics import chrf

    written = [normalise(text) for text in hypotheses]
    return chrf.CHRF().corpus_score(written, columns(references)).score


CHRF = MetricSpec(
    name="chrf",
    title="chrF",
    score=corpus_chrf,
    reference="Popović 2015, chrF: character n-gram F-score for automatic MT evaluation; "
    "computed by sacrebleu",
    description="Runs of up to six characters that a reference has too; also for languages "
    "without spaces.",
)


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


EXACT_MATCH = MetricSpec(
    name="exact_match",
    title="Exact match",
    score=exact_match,
    unit="%",
    reference="Attention Workbench",
    description="Sentences that are right from their first token to their last.",
)
TOKEN_ACCURACY = MetricSpec(
    name="token_accuracy",
    title="Token accuracy",
    score=token_accuracy,
    unit="%",
    reference="Attention Workbench",
    description="Positions that have the right token.",
)


@hookimpl
def attention_metrics() -> Iterator[MetricSpec]:
    """The metrics, in the order in which pages list them."""
    yield from (BLEU, CHRF, EXACT_MATCH, TOKEN_ACCURACY)

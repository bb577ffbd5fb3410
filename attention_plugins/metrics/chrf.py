"""Character n-gram F-score."""

from __future__ import annotations

from collections.abc import Sequence

from attention_plugins.contract import MetricSpec
from attention_plugins.scores import columns, require_scorable
from attention_plugins.text import normalise


def corpus_chrf(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """chrF2 of the corpus by sacrebleu, 0 to 100; case does not count.

    Raises:
        ContractError: see :func:`~attention_plugins.scores.require_scorable`.
    """
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

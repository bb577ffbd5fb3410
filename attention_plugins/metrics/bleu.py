"""Corpus BLEU."""

from __future__ import annotations

from attention_plugins.contract import MetricSpec
from attention_plugins.scores import corpus_bleu

BLEU = MetricSpec(
    name="bleu",
    title="BLEU",
    score=lambda hypotheses, references: corpus_bleu(hypotheses, references).score,
    reference="Papineni et al. 2002, BLEU: a method for automatic evaluation of machine "
    "translation; computed by sacrebleu",
    description="Runs of one to four words that a reference has too; case does not count.",
)

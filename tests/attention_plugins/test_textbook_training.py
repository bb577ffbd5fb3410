"""Trained as d2l.ai 11.4 trains: 600 short pairs, hidden size 32, 250 epochs, Adam at 0.005."""

import pytest

from attention_plugins import experiment
from attention_plugins.datasets.phrasebook import phrasebook
from attention_plugins.presets import PRESETS
from attention_plugins.registry import load
from attention_plugins.scores import bleu_k
from attention_plugins.text import tokenise_words
from attention_plugins.translator import Translator

# The textbook prints the loss as a mean over ten steps, divided by the tokens once more.
STEPS = 10


@pytest.mark.slow
def test_the_textbooks_training_learns_its_sentences(tmp_path):
    registry = load(allow=[])
    pairs = sorted(phrasebook(), key=lambda pair: len(pair.source))[:600]
    plan = experiment.Experiment(
        model="bahdanau", scoring="additive", corpus="phrasebook", recipe=PRESETS["d2l"].recipe
    )
    trained = experiment.run(plan, pairs, registry)
    assert trained.history[-1].loss / STEPS <= 0.020
    translator = Translator(experiment.keep(trained, tmp_path), registry)
    translations = translator.translate([pair.source for pair in pairs])
    scores = [
        bleu_k(" ".join(tokenise_words(said)), " ".join(tokenise_words(pair.target)), k=2)
        for said, pair in zip(translations, pairs, strict=True)
    ]
    perfect = sum(score == pytest.approx(1) for score in scores)
    assert perfect >= 0.7 * len(scores)

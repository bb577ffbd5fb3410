"""Trained as d2l.ai's chapter trains: 600 short pairs, hidden size 32, Adam at 0.005."""

from dataclasses import replace

import pytest

from attention_plugins import attention, experiment
from attention_plugins.contract import ContractError
from attention_plugins.datasets.phrasebook import phrasebook
from attention_plugins.recipe import PRESETS
from attention_plugins.registry import load
from attention_plugins.scores import bleu_k
from attention_plugins.text import tokenise_words
from attention_plugins.translator import Translator

# The textbook prints the loss as a mean over ten steps, divided by the tokens once more.
STEPS = 10

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def _learn(folder, model, scoring, epochs):
    """The textbook's loss after training, and the share of sentences translated word for word.

    Sentences with a word that the textbook's vocabularies leave out cannot be, and do not count.
    """
    registry = load(allow=[])
    pairs = sorted(phrasebook(), key=lambda pair: len(pair.source))[:600]
    plan = experiment.Experiment(
        model=model, scoring=scoring, corpus="phrasebook",
        recipe=replace(PRESETS["d2l"].recipe, epochs=epochs),
    )  # fmt: skip
    trained = experiment.run(plan, pairs, registry)
    translator = Translator(experiment.keep(trained, folder), registry)
    known = [pair for pair in pairs if _known(translator, pair)]
    assert len(known) > 300
    translations = translator.translate([pair.source for pair in known])
    scores = [
        bleu_k(" ".join(tokenise_words(said)), " ".join(tokenise_words(pair.target)), k=2)
        for said, pair in zip(translations, known, strict=True)
    ]
    perfect = sum(score == pytest.approx(1) for score in scores)
    return trained.history[-1].loss / STEPS, perfect / len(scores)


def _known(translator, pair):
    return all(
        word in vocabulary
        for text, vocabulary in (
            (pair.source, translator.source_vocabulary),
            (pair.target, translator.target_vocabulary),
        )
        for word in tokenise_words(text)
    )


@pytest.mark.parametrize(
    ("model", "scoring", "epochs", "loss"),
    [("bahdanau", "additive", 250, 0.020), ("transformer", "scaled_dot", 200, 0.032)],
)
def test_the_textbooks_training_learns_its_sentences(tmp_path, model, scoring, epochs, loss):
    reached, perfect = _learn(tmp_path, model, scoring, epochs)
    assert reached <= loss
    assert perfect >= 0.9


def test_masking_with_zero_learns_to_peek_and_cannot_translate(tmp_path, monkeypatch):
    """Scores of 0 for what is masked leave it weight: training sees the future, decoding not."""

    def masked_with_zero(scores, mask, normalise):
        if mask is not None:
            scores = scores.masked_fill(~attention.as_mask(mask, scores.shape), 0.0)
        return normalise(scores)

    monkeypatch.setattr(attention, "masked_weights", masked_with_zero)
    with pytest.raises(ContractError, match="training and decoding disagree"):
        _learn(tmp_path, "transformer", "scaled_dot", 1)
    monkeypatch.setattr(experiment, "guard", lambda prepared, registry: None)
    reached, perfect = _learn(tmp_path, "transformer", "scaled_dot", 200)
    assert reached <= 0.020  # far better than an honest model can be, and yet:
    assert perfect <= 0.3

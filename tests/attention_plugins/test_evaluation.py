"""Scores of a corpus and of its parts, of a model that says what the test tells it to say."""

from types import SimpleNamespace

import pytest
import sacrebleu

from attention_plugins.contract import ContractError, MetricSpec, SentencePair
from attention_plugins.evaluation import evaluate, neighbours_of
from attention_plugins.metrics import BLEU, EXACT_MATCH
from attention_plugins.registry import load

REGISTRY = load(allow=[])
LEARNED = [
    SentencePair("I see the old cat.", "Je vois le vieux chat."),
    SentencePair("Nobody knows where they live.", "Personne ne sait où ils habitent."),
]
HELD_OUT = [
    SentencePair("I see the old dog.", "Je vois le vieux chien."),
    SentencePair("I see the old dog.", "Je regarde le vieux chien."),
    SentencePair("I see the cat.", "Je vois le chat noir ici."),
    SentencePair("You never asked me that before.", "Tu ne me l'as jamais demandé avant."),
]
SAID = {
    "I see the old dog.": "je regarde le vieux chien.",
    "I see the cat.": "je vois le chat noir là.",
    "You never asked me that before.": "tu ne l'as jamais demandé avant cela.",
}


def speaker(said):
    return SimpleNamespace(
        card={"tokeniser": "clitics"},
        reads=said.__contains__,
        translate=lambda sources, width: [said[source] for source in sources],
    )


@pytest.fixture(scope="module")
def neighbours():
    return neighbours_of(HELD_OUT, LEARNED, REGISTRY, "clitics")


def bleu(said, *references):
    return round(sacrebleu.corpus_bleu(said, list(references), lowercase=True).score, 2)


def test_near_far_and_copied_are_scored_apart(neighbours):
    found = evaluate(speaker(SAID), HELD_OUT, neighbours=neighbours)
    dog, cat, asked = SAID.values()
    seen = ["Je vois le vieux chien.", "Je vois le chat noir ici."]
    other = ["Je regarde le vieux chien.", None]
    last = "Tu ne me l'as jamais demandé avant."
    assert found["bleu"] == bleu([dog, cat, asked], [*seen, last], [*other, None])
    assert found["near"] == {"sentences": 2, "bleu": bleu([dog, cat], seen, other)}
    assert found["far"] == {"sentences": 1, "bleu": bleu([asked], [last])}
    copies = [LEARNED[0].target, LEARNED[0].target, neighbours[HELD_OUT[3].source].pair.target]
    assert found["copied"] == {
        "sentences": 3, "bleu": bleu(copies, [*seen, last], [*other, None]),
    }  # fmt: skip
    assert len({found["bleu"], *(found[part]["bleu"] for part in ("near", "far", "copied"))}) == 4


def test_a_metric_of_its_own_is_split_as_bleu_is(neighbours):
    found = evaluate(speaker(SAID), HELD_OUT, metric=EXACT_MATCH, neighbours=neighbours)
    assert found["metric"]["value"] == 33.33
    assert [found[part]["value"] for part in ("near", "far", "copied")] == [50.0, 0.0, 0.0]


def test_bleu_is_no_second_metric_and_the_beam_is_the_one_that_was_asked_for():
    widths = []
    wide = speaker(SAID)
    wide.translate = lambda sources, width: widths.append(width) or [SAID[one] for one in sources]
    found = evaluate(wide, HELD_OUT, width=5, metric=BLEU)
    assert (found["beam"], widths) == (5, [5])
    assert "metric" not in found


def test_the_score_says_what_was_done_to_the_text_before(neighbours):
    found = evaluate(speaker(SAID), HELD_OUT)
    assert {"near", "far", "copied"}.isdisjoint(found)
    assert found["normalised"] == (
        "lower-cased, NFC, ’ as ', one kind of space; translations detokenised from clitics"
    )
    loud = {source: f"{text.upper()}\u202f" for source, text in SAID.items()}
    typeset = [pair._replace(target=pair.target.replace("'", "’")) for pair in HELD_OUT]
    assert evaluate(speaker(loud), typeset) == found


def test_sentences_that_are_not_read_belong_to_no_part(neighbours):
    found = evaluate(speaker({HELD_OUT[3].source: "tu"}), HELD_OUT, neighbours=neighbours)
    assert (found["sentences"], found["too_long"]) == (1, 2)
    assert "near" not in found
    assert found["far"]["sentences"] == found["copied"]["sentences"] == 1


def test_a_part_that_a_metric_cannot_score_is_named(neighbours):
    broken = MetricSpec(
        name="broken", title="Broken", reference="none", score=lambda said, right: float("nan")
    )
    with pytest.raises(ContractError, match="metric 'broken' gave nan; need a finite number"):
        evaluate(speaker(SAID), HELD_OUT, metric=broken, neighbours=neighbours)


def test_neighbours_differ_by_the_tokens_that_are_asked_for():
    asked = [SentencePair("It isn't here.", "Ce n'est pas ici.")]
    learned = [SentencePair("It is here.", "C'est ici.")]
    found = {
        name: neighbours_of(asked, learned, REGISTRY, name)["It isn't here."].distance
        for name in ("words", "clitics", "characters")
    }
    assert found == {"words": 1, "clitics": 1, "characters": 3}

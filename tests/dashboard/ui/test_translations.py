from __future__ import annotations

import pytest

from dashboard.records.request import Result
from dashboard.ui import shown, translations

MADE_UP = "This model knows no word of this sentence"
GUESS = "Not in this model's vocabulary"


@pytest.mark.parametrize(
    ("read", "unknown", "said"),
    [
        (["i", "am", "tired", ".", "<eos>"], [], []),
        (["my", "hovercraft", "<eos>"], ["hovercraft"], [GUESS]),
        (["je", "suis", ".", "<eos>"], ["je", "suis"], [MADE_UP]),
        (["😀", "<eos>"], ["😀"], [MADE_UP]),
        (["!", "?", "<eos>"], [], [MADE_UP]),
        ([], ["hovercraft"], [GUESS]),  # of a page whose results do not say what was read
    ],
)
def test_a_sentence_of_which_no_word_is_known_is_said_to_be_made_up(
    read, unknown, said, monkeypatch
):
    found = []
    monkeypatch.setattr(shown, "markdown", found.append)
    facts = {"source_tokens": read, "unknown": unknown, "target_unknown": []}
    translations.unknown_words(Result(facts=facts))
    assert len(found) == len(said)
    assert all(words in text for words, text in zip(said, found, strict=True))

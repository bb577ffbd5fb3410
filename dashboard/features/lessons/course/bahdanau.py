"""Lesson 5: a translation model that looks back at the sentence for every word."""

from __future__ import annotations

from dashboard.features.lessons.course.models import BAHDANAU as CHECKPOINT
from dashboard.features.lessons.course.models import CAR, link, translated
from dashboard.features.lessons.figures import map_of, weights
from dashboard.features.lessons.lesson import Figures, Lesson, Try
from dashboard.language import ngettext
from dashboard.records.parameter import Parameter
from dashboard.records.request import Result, Scalar

_WORDS = 7  # of the translation, with the sign that ends it
_FOUND = "car"


def _measured(result: Result, word: Scalar) -> Figures:
    frame = map_of(result, "cross", 1)
    at = min(int(word), len(frame.query_labels)) - 1
    row = frame.weights[0, at]
    best = int(row.argmax())
    return {
        "word": frame.query_labels[at], "looks": frame.key_labels[best],
        "weight": float(row[best]),
    }  # fmt: skip


def _figure(result: Result, word: Scalar) -> None:
    frame = map_of(result, "cross", 1)
    alt = ngettext(
        "Where the model looked while it wrote the first word",
        "Where the model looked while it wrote the first {count} words", int(word),
    )  # fmt: skip
    weights(result, alt, frame, frame.weights[0, : int(word)])


BAHDANAU = Lesson(
    name="bahdanau",
    title="Bahdanau attention",
    section="10.4",
    papers="Bahdanau, Cho & Bengio 2015, section 3",
    idea="An encoder reads a sentence, a decoder writes its translation. Instead of one vector "
    "for the whole sentence, the decoder gets another context at every step: its state is the "
    "query, the encoder's states are keys and values. Nobody told this model which words belong "
    "together.",
    formulas=(r"c_{t}=\sum_i \alpha(s_{t-1},h_i)\,h_i",),
    terms=("encoder", "decoder", "context", "alignment"),
    control=Parameter(name="at", title="Words written", default=1, low=1, high=_WORDS, step=1),
    given=1,
    asked=5,
    question=f"“{CAR}” becomes “j'ai une voiture rouge.”, whose fifth token is “rouge”. Where "
    "does the model look while it writes it?",
    choices={
        "a": "At “car”, the fifth word of the sentence",
        "b": "At “red”",
        "c": "At the end of the sentence",
    },
    request=lambda _, catalogue: translated(catalogue, CHECKPOINT, CAR),
    figure=_figure,
    measured=_measured,
    answer=lambda figures: {"car": "a", "red": "b"}.get(figures["looks"], "c"),
    reason="“{looks}” has a weight of {weight:.2f}. French puts the colour after the noun, so the "
    "weights cross over: the model learned an alignment of words, not of places.",
    now="While it writes “{word}”, the model looks most at “{looks}” (**{weight:.2f}**).",
    goal=f"Find the token that is written while the model looks most at “{_FOUND}”.",
    reached=lambda figures: figures["looks"] == _FOUND,
    missed="Not yet: while it writes “{word}”, the model looks most at “{looks}”.",
    conclusion="“{word}” takes {weight:.0%} of its context from “{looks}”.",
    tries=(
        Try(
            page="translation",
            label="The same sentence, with a beam of four",
            query=link(CHECKPOINT, CAR, beam="4"),
        ),
        Try(
            page="alignment",
            label="The model against gold alignments of the corpus",
            query={"corpus": "phrasebook", "a": CHECKPOINT, "count": "50"},
        ),
    ),
)

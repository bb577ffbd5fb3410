"""Lesson 6: several heads read the same sentence differently."""

from __future__ import annotations

import numpy as np

from dashboard.features.lessons.course.models import CAR, TRANSFORMER, link, translated
from dashboard.features.lessons.figures import map_of, weights
from dashboard.features.lessons.lesson import Figures, Lesson, Try
from dashboard.language import gettext
from dashboard.records.parameter import Parameter
from dashboard.records.request import Result, Scalar

_HEADS = 8
_GIVEN, _ASKED = 1, 7


def _measured(result: Result, head: Scalar) -> Figures:
    frame = map_of(result, "cross", 1)
    at = int(head) - 1
    best = frame.weights.argmax(axis=-1)  # (heads, queries)
    entropy = -(frame.weights * np.log(np.maximum(frame.weights, 1e-12))).sum(-1).mean(-1)
    return {
        "head": at + 1, "count": len(frame.weights), "words": len(frame.query_labels),
        "same": int((best[at] == best[_GIVEN - 1]).sum()),
        "bits": float(entropy[at] / np.log(2)), "sharpest": int(entropy.argmin()) + 1,
        "rank": int((entropy < entropy[at]).sum()) + 1,
    }  # fmt: skip


def _figure(result: Result, head: Scalar) -> None:
    frame = map_of(result, "cross", 1)
    alt = gettext("Cross-attention, layer 1, head {head}", head=head)
    weights(result, alt, frame, frame.weights[int(head) - 1])


def _answer(figures: Figures) -> str:
    if figures["same"] == figures["words"]:
        return "a"
    return "b" if figures["same"] else "c"


HEADS = Lesson(
    name="heads",
    title="Multi-head attention",
    section="10.5",
    papers="Vaswani et al. 2017, section 3.2.2",
    idea="One set of weights is one way of looking. With several heads, each gets queries, keys "
    "and values of its own, by learned projections, and attends by itself. Their outputs are "
    "joined and projected once more.",
    formulas=(
        r"h_i=\operatorname{attend}\big(W_i^{(q)}q,\;W_i^{(k)}k,\;W_i^{(v)}v\big)",
        r"W_o\,[h_1;\dots;h_H]",
    ),
    terms=("head", "multi-head attention", "entropy"),
    control=Parameter(name="at", title="Head", default=1, low=1, high=_HEADS, step=1),
    given=_GIVEN,
    asked=_ASKED,
    question=f"You see head {_GIVEN} of a trained model that translates “{CAR}”. Does head "
    f"{_ASKED} of the same layer look most at the same words?",
    choices={
        "a": "Yes, for every word it writes",
        "b": "For some of the words",
        "c": "For none of them",
    },
    request=lambda _, catalogue: translated(catalogue, TRANSFORMER, CAR),
    figure=_figure,
    measured=_measured,
    answer=_answer,
    reason="Both look most at the same word for {same} of {words} tokens. Heads start with other "
    "random projections, and nothing asks them to agree.",
    now="The rows of head {head} have an entropy of **{bits:.2f} bits** on average; 0 is one word "
    "alone.",
    goal=f"Find the sharpest of the {_HEADS} heads: the one with the lowest entropy.",
    reached=lambda figures: figures["head"] == figures["sharpest"],
    missed="Not yet: head {head} has {bits:.2f} bits, rank {rank} of {count} from the sharpest.",
    conclusion="Head {head} looks at almost one word at a time ({bits:.2f} bits). Whether sharp "
    "means important is the question of lesson 10.",
    tries=(
        Try(
            page="translation",
            label="All heads of this sentence at once, head 7 of layer 1 large",
            query=link(TRANSFORMER, CAR, map="cross.1.7"),
        ),
        Try(
            page="anatomy",
            label="How 9 numbers are cut into 3 heads and joined again",
            query={"example": "heads"},
        ),
    ),
)

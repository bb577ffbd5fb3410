"""Lesson 4: padding must get no weight at all."""

from __future__ import annotations

import numpy as np

from dashboard.features.lessons.figures import numbers, stage
from dashboard.features.lessons.lesson import Figures, Lesson, Try
from dashboard.language import gettext
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

_SCORES = "-1,-2,-0.5,-1.5,0.5,1"
_COUNT = _SCORES.count(",") + 1
_MOST = 0.9


def _request(length: Scalar, _: Catalogue) -> Request:
    return Request.make(
        "anatomy", options={"part": "mask", "scores": _SCORES, "lengths": str(length)}
    )


def _measured(result: Result, length: Scalar) -> Figures:
    rest = stage(result, "weights").ravel()[int(length) :]
    return {
        "length": int(length), "count": _COUNT, "leak": result.facts["leak"][0],
        "right": float(rest.sum()),
    }  # fmt: skip


def _figure(result: Result, length: Scalar) -> None:
    rows = np.stack([stage(result, name).ravel() for name in ("weights", "wrong")])
    columns = [str(i + 1) if i < int(length) else gettext("pad") for i in range(_COUNT)]
    numbers(result, gettext("Weights by the masked softmax, and with scores set to 0"), rows,
            rows=[gettext("left out"), gettext("set to 0")], columns=columns,
            column_title=gettext("token"))  # fmt: skip


def _answer(figures: Figures) -> str:
    if not figures["leak"]:
        return "a"
    return "b" if figures["leak"] < 0.5 else "c"


MASK = Lesson(
    name="mask",
    title="Masked softmax",
    section="10.3",
    idea="Sentences of a batch are filled up to one length. What fills them has keys too, and the "
    "softmax gives a weight to everything it sees. A mask takes these keys out, before the "
    "softmax and not after it.",
    formulas=(r"\alpha_i=\frac{m_i\,e^{s_i}}{\sum_j m_j\,e^{s_j}}", r"m_i\in\{0,1\}"),
    terms=("token", "padding", "valid length", "mask", "masked softmax"),
    control=Parameter(name="at", title="Valid length", default=_COUNT, low=1, high=_COUNT, step=1),
    given=_COUNT,
    asked=3,
    question="Only the first 3 of 6 tokens are real. Somebody sets the scores of the others to 0 "
    "instead of leaving them out. How much weight goes to padding?",
    choices={"a": "None: 0 is nothing", "b": "Some, less than half", "c": "More than half"},
    request=_request,
    figure=_figure,
    measured=_measured,
    answer=_answer,
    reason="{leak:.0%} of the weight goes to padding, since a score of 0 counts as exp(0) = 1. "
    "The masked softmax gives it {right:.0%}.",
    now="With {length} of {count} tokens valid, **{leak:.0%}** leak when scores are set to 0.",
    goal=f"Find a length at which more than {_MOST:.0%} of the weight leaks.",
    reached=lambda figures: figures["leak"] > _MOST,
    missed="Not yet: at length {length} it is {leak:.0%}.",
    conclusion="With {length} valid token, {leak:.0%} of the weight lies on padding: the shorter "
    "a sentence, the more it suffers from its neighbours in the batch.",
    tries=(
        Try(
            page="anatomy",
            label="Lengths of 1 and 4, right and wrong, in a batch of two",
            query={"part": "mask", "per_row": "1,4"},
        ),
        Try(
            page="anatomy",
            label="Sentences of 7, 10 and 4 words through self-attention",
            query={"example": "self"},
        ),
    ),
)

"""Lesson 8: the three kinds of attention of a Transformer."""

from __future__ import annotations

import numpy as np

from dashboard.features.lessons.course.models import CAR, link, translated
from dashboard.features.lessons.course.models import TRANSFORMER as CHECKPOINT
from dashboard.features.lessons.figures import map_of, weights
from dashboard.features.lessons.lesson import Figures, Lesson, Try
from dashboard.language import gettext, gettext_noop
from dashboard.records.parameter import Parameter
from dashboard.records.request import Result, Scalar

_KINDS = (gettext_noop("encoder"), gettext_noop("decoder"), gettext_noop("cross"))


def _raw(result: Result, kind: str) -> np.ndarray:
    """The mean weights ``(queries, keys)`` of the first layer's heads, as the model gave them."""
    table = result.tables["maps"].to_pylist()
    row = next(row for row in table if (row["kind"], row["layer"]) == (kind, 0))
    shape = (row["heads"], len(row["queries"]), len(row["keys"]))
    return np.array(row["weights"]).reshape(shape).mean(0)


def _measured(result: Result, kind: Scalar) -> Figures:
    frame, found = map_of(result, str(kind), 1), _raw(result, str(kind))
    facts = result.facts
    sides = [list(frame.query_labels), list(frame.key_labels)]
    return {
        "kind": gettext(str(kind)), "later": float(np.triu(found, 1).sum()),
        "earlier": float(np.tril(found, -1).sum()), "rows": len(found),
        "columns": found.shape[1], "crosses": sides == [facts["tokens"], facts["source_tokens"]],
    }  # fmt: skip


def _figure(result: Result, kind: Scalar) -> None:
    frame = map_of(result, str(kind), 1)
    alt = gettext("Layer 1, {kind}: the mean of its heads", kind=gettext(str(kind)))
    weights(result, alt, frame, frame.weights.mean(0))


def _answer(figures: Figures) -> str:
    if not figures["later"]:
        return "b"
    return "a" if figures["earlier"] else "c"


TRANSFORMER = Lesson(
    name="transformer",
    title="Transformer",
    section="10.7",
    papers="Vaswani et al. 2017, section 3",
    idea="A Transformer has no recurrence. Its encoder attends to itself; its decoder to itself "
    "and to the encoder. Between them stand small networks, one for each position alone. Around "
    "every part runs a residual connection, followed by layer normalisation.",
    formulas=(r"\operatorname{LayerNorm}\big(x+\operatorname{sublayer}(x)\big)",),
    terms=("Transformer", "cross-attention", "causal mask", "residual connection",
           "layer normalisation"),
    control=Parameter(name="at", title="Attention", default="encoder", choices=_KINDS),
    given="encoder",
    asked="decoder",
    question="You see the encoder's self-attention, where every word sees every word. In the "
    "decoder's, which weights must be exactly 0?",
    choices={
        "a": "None",
        "b": "Those right of the diagonal: of what comes later",
        "c": "Those left of the diagonal: of what came before",
    },
    request=lambda _, catalogue: translated(catalogue, CHECKPOINT, CAR),
    figure=_figure,
    measured=_measured,
    answer=_answer,
    reason="The weights right of the diagonal sum to {later:g}, those left of it to "
    "{earlier:.1f}. While it learns, the decoder reads the whole translation at once; without "
    "this mask it would copy the next word instead of predicting it.",
    now="Kind *{kind}*: **{rows} rows**, the queries, and {columns} columns, the keys.",
    goal="Choose the kind whose rows are French and whose columns are English.",
    reached=lambda figures: figures["crosses"],
    missed="Not yet: of the kind *{kind}*, rows and columns are in one language.",
    conclusion="In cross-attention the queries come from the decoder, keys and values from the "
    "encoder: it is what Bahdanau's model does, once in every layer.",
    tries=(
        Try(
            page="translation",
            label="Every head of the decoder, head 8 of layer 1 large",
            query=link(CHECKPOINT, CAR, map="decoder.1.8"),
        ),
        Try(
            page="norms",
            label="Layer norm and batch norm of a matrix of your own",
            query={"x": "1,2;2,3;9,0"},
        ),
    ),
)  # fmt: skip

"""Lessons 5 to 8: models that translate, their heads, positions and layers."""

from __future__ import annotations

import numpy as np

from dashboard.features.lessons.course.models import (
    BAHDANAU_CHECKPOINT,
    CAR,
    TRANSFORMER_CHECKPOINT,
    link,
    translated,
)
from dashboard.features.lessons.lesson import Figures, Lesson, Try, lines, map_of, weights
from dashboard.language import gettext, gettext_noop, ngettext
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

_HEADS = 8
_GIVEN, _ASKED = 1, 7


def _heads_measured(result: Result, head: Scalar) -> Figures:
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


def _heads_figure(result: Result, head: Scalar) -> None:
    frame = map_of(result, "cross", 1)
    alt = gettext("Cross-attention, layer 1, head {head}", head=head)
    weights(result, alt, frame, frame.weights[int(head) - 1])


def _heads_answer(figures: Figures) -> str:
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
    request=lambda _, catalogue: translated(catalogue, TRANSFORMER_CHECKPOINT, CAR),
    figure=_heads_figure,
    measured=_heads_measured,
    answer=_heads_answer,
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
            query=link(TRANSFORMER_CHECKPOINT, CAR, map="cross.1.7"),
        ),
        Try(
            page="anatomy",
            label="How 9 numbers are cut into 3 heads and joined again",
            query={"example": "heads"},
        ),
    ),
)


_LAST = 40
_SIZE = 32
_MOVED = 0.5


def _request(_distance: Scalar, _catalogue: Catalogue) -> Request:
    return Request.make("positions", options={"size": _SIZE, "positions": 60})


def _products(result: Result) -> list[float]:
    return result.tables["by_distance"]["value"].to_pylist()


def _positions_measured(result: Result, distance: Scalar) -> Figures:
    products, at = _products(result), int(distance)
    return {
        "distance": at, "product": products[at], "none": products[0],
        "before": products[max(0, at - 1)], "spread": result.facts["similarity_spread"],
    }  # fmt: skip


def _positions_figure(result: Result, distance: Scalar) -> None:
    at, products = int(distance), _products(result)
    lines(
        result,
        ngettext(
            "Dot products of encodings up to one position apart",
            "Dot products of encodings up to {count} positions apart", at,
        ),
        {gettext("up to here"): [*enumerate(products[: at + 1])]},
        x_title=gettext("positions apart"), y_title=gettext("dot product"),
        marked={gettext("here"): [(at, products[at])]},
    )  # fmt: skip


def _positions_answer(figures: Figures) -> str:
    change = figures["product"] - figures["none"]
    return "b" if abs(change) < _MOVED else "a" if change > 0 else "c"


POSITIONS = Lesson(
    name="positions",
    title="Self-attention and positions",
    section="10.6",
    papers="Vaswani et al. 2017, section 3.5",
    idea="In self-attention a sentence asks itself: queries, keys and values come from the same "
    "tokens. Swap two of them, and their outputs are merely swapped. So every position adds waves "
    "of its own to its token, from fast to slow.",
    formulas=(
        r"p_{i,2j}=\sin\frac{i}{10000^{2j/d}}",
        r"p_{i,2j+1}=\cos\frac{i}{10000^{2j/d}}",
    ),
    terms=("self-attention", "positional encoding"),
    control=Parameter(name="at", title="Positions apart", default=0, low=0, high=_LAST, step=1),
    given=0,
    asked=3,
    question=f"An encoding of {_SIZE} numbers has the dot product {_SIZE // 2} with itself. What "
    "is it with the encoding 3 positions further on?",
    choices={"a": "Larger", "b": "The same", "c": "Smaller"},
    request=_request,
    figure=_positions_figure,
    measured=_positions_measured,
    answer=_positions_answer,
    reason="It falls from {none:.1f} to {product:.1f}, wherever one begins: over one distance the "
    "products differ by at most {spread:.0e}. So a dot product can tell how far apart two words "
    "are.",
    now="At {distance} positions apart it is **{product:.2f}**.",
    goal="It does not fall forever. Find a distance with a larger product than one step nearer.",
    reached=lambda figures: figures["product"] > figures["before"],
    missed="Not yet: at distance {distance} it is {product:.2f}, one step nearer {before:.2f}.",
    conclusion="{distance} apart it is {product:.2f}, one step nearer {before:.2f}: waves come "
    "back in step, so the product does not order all distances.",
    tries=(
        Try(
            page="positions",
            label="The rotation that carries each position 5 further",
            query={"offset": "5"},
        ),
        Try(
            page="complexity",
            label="What self-attention costs beside convolution and recurrence",
            query={},
        ),
    ),
)


_KINDS = (gettext_noop("encoder"), gettext_noop("decoder"), gettext_noop("cross"))


def _raw(result: Result, kind: str) -> np.ndarray:
    """The mean weights ``(queries, keys)`` of the first layer's heads, as the model gave them."""
    table = result.tables["maps"].to_pylist()
    row = next(row for row in table if (row["kind"], row["layer"]) == (kind, 0))
    shape = (row["heads"], len(row["queries"]), len(row["keys"]))
    return np.array(row["weights"]).reshape(shape).mean(0)


def _transformer_measured(result: Result, kind: Scalar) -> Figures:
    frame, found = map_of(result, str(kind), 1), _raw(result, str(kind))
    facts = result.facts
    sides = [list(frame.query_labels), list(frame.key_labels)]
    return {
        "kind": gettext(str(kind)), "later": float(np.triu(found, 1).sum()),
        "earlier": float(np.tril(found, -1).sum()), "rows": len(found),
        "columns": found.shape[1], "crosses": sides == [facts["tokens"], facts["source_tokens"]],
    }  # fmt: skip


def _transformer_figure(result: Result, kind: Scalar) -> None:
    frame = map_of(result, str(kind), 1)
    alt = gettext("Layer 1, {kind}: the mean of its heads", kind=gettext(str(kind)))
    weights(result, alt, frame, frame.weights.mean(0))


def _transformer_answer(figures: Figures) -> str:
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
    request=lambda _, catalogue: translated(catalogue, TRANSFORMER_CHECKPOINT, CAR),
    figure=_transformer_figure,
    measured=_transformer_measured,
    answer=_transformer_answer,
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
            query=link(TRANSFORMER_CHECKPOINT, CAR, map="decoder.1.8"),
        ),
        Try(
            page="norms",
            label="Layer norm and batch norm of a matrix of your own",
            query={"x": "1,2;2,3;9,0"},
        ),
    ),
)  # fmt: skip


_WORDS = 7  # of the translation, with the sign that ends it
_FOUND = "car"


def _bahdanau_measured(result: Result, word: Scalar) -> Figures:
    frame = map_of(result, "cross", 1)
    at = min(int(word), len(frame.query_labels)) - 1
    row = frame.weights[0, at]
    best = int(row.argmax())
    return {
        "word": frame.query_labels[at], "looks": frame.key_labels[best],
        "weight": float(row[best]),
    }  # fmt: skip


def _bahdanau_figure(result: Result, word: Scalar) -> None:
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
    request=lambda _, catalogue: translated(catalogue, BAHDANAU_CHECKPOINT, CAR),
    figure=_bahdanau_figure,
    measured=_bahdanau_measured,
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
            query=link(BAHDANAU_CHECKPOINT, CAR, beam="4"),
        ),
        Try(
            page="alignment",
            label="The model against gold alignments of the corpus",
            query={"corpus": "phrasebook", "a": BAHDANAU_CHECKPOINT, "count": "50"},
        ),
    ),
)

"""Lessons 5 to 8 and 10: models that translate, their heads and layers; what weights explain."""

import numpy as np

from dashboard.features.lessons.lesson import (
    BAHDANAU_CHECKPOINT,
    TRANSFORMER_CHECKPOINT,
    Figure,
    Figures,
    Lesson,
    lines,
    link,
    map_of,
    translated,
    weights,
)
from dashboard.language import gettext, gettext_noop, ngettext
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

CAR = "i see a red car ."
_HEADS = 8
_GIVEN, _ASKED = 1, 7


def _heads(result: Result, head: Scalar) -> Figures:
    frame, at = map_of(result, "cross", 1), int(head) - 1
    best = frame.weights.argmax(axis=-1)  # (heads, queries)
    entropy = -(frame.weights * np.log(np.maximum(frame.weights, 1e-12))).sum(-1).mean(-1)
    return {
        "head": at + 1, "count": len(frame.weights), "words": len(frame.query_labels),
        "same": int((best[at] == best[_GIVEN - 1]).sum()),
        "bits": float(entropy[at] / np.log(2)), "sharpest": int(entropy.argmin()) + 1,
        "rank": int((entropy < entropy[at]).sum()) + 1,
    }  # fmt: skip


def _head(result: Result, head: Scalar) -> Figure:
    frame = map_of(result, "cross", 1)
    alt = gettext("Cross-attention, layer 1, head {head}", head=head)
    return weights(alt, frame, frame.weights[int(head) - 1])


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
    asked=_ASKED,
    question=f"You see head {_GIVEN} of a trained model that translates “{CAR}”. Does head "
    f"{_ASKED} of the same layer look most at the same words?",
    choices={
        "a": "Yes, for every word it writes",
        "b": "For some of the words",
        "c": "For none of them",
    },
    request=lambda _, catalogue: translated(catalogue, TRANSFORMER_CHECKPOINT, CAR),
    figure=_head,
    measured=_heads,
    answer=lambda figures: (
        "a" if figures["same"] == figures["words"] else "b" if figures["same"] else "c"
    ),
    reason="Both look most at the same word for {same} of {words} tokens. Heads start with other "
    "random projections, and nothing asks them to agree.",
    now="The rows of head {head} have an entropy of **{bits:.2f} bits** on average; 0 is one word "
    "alone.",
    goal=f"Find the sharpest of the {_HEADS} heads: the one with the lowest entropy.",
    reached=lambda figures: figures["head"] == figures["sharpest"],
    missed="Not yet: head {head} has {bits:.2f} bits, rank {rank} of {count} from the sharpest.",
    conclusion="Head {head} looks at almost one word at a time ({bits:.2f} bits). Whether sharp "
    "means important is the question of lesson 10.",
    tries={
        link("translation", TRANSFORMER_CHECKPOINT, CAR, map="cross.1.7"): "All heads of this "
        "sentence at once, head 7 of layer 1 large",
        "anatomy?example=heads": "How 9 numbers are cut into 3 heads and joined again",
    },
)


_LAST = 40
_SIZE = 32
_MOVED = 0.5


def _products(result: Result) -> list[float]:
    return result.tables["by_distance"]["value"].to_pylist()


def _positions(result: Result, distance: Scalar) -> Figures:
    products, at = _products(result), int(distance)
    return {
        "distance": at, "product": products[at], "none": products[0],
        "before": products[max(0, at - 1)], "spread": result.facts["similarity_spread"],
    }  # fmt: skip


def _falling(result: Result, distance: Scalar) -> Figure:
    at, products = int(distance), _products(result)
    alt = ngettext(
        "Dot products of encodings up to one position apart",
        "Dot products of encodings up to {count} positions apart", at,
    )  # fmt: skip
    series = {gettext("up to here"): [*enumerate(products[: at + 1])]}
    titles = gettext("positions apart"), gettext("dot product")
    return lines(alt, series, {gettext("here"): [(at, products[at])]}, titles)


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
    asked=3,
    question=f"An encoding of {_SIZE} numbers has the dot product {_SIZE // 2} with itself. What "
    "is it with the encoding 3 positions further on?",
    choices={"a": "Larger", "b": "The same", "c": "Smaller"},
    request=lambda _distance, _catalogue: Request.make(
        "positions", options={"size": _SIZE, "positions": 60}
    ),
    figure=_falling,
    measured=_positions,
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
    tries={
        "positions?offset=5": "The rotation that carries each position 5 further",
        "complexity": "What self-attention costs beside convolution and recurrence",
    },
)


_KINDS = (gettext_noop("encoder"), gettext_noop("decoder"), gettext_noop("cross"))


def _raw(result: Result, kind: str) -> np.ndarray:
    """The mean weights ``(queries, keys)`` of the first layer's heads, as the model gave them."""
    table = result.tables["maps"].to_pylist()
    row = next(row for row in table if (row["kind"], row["layer"]) == (kind, 0))
    shape = (row["heads"], len(row["queries"]), len(row["keys"]))
    return np.array(row["weights"]).reshape(shape).mean(0)


def _transformer(result: Result, kind: Scalar) -> Figures:
    frame, raw, facts = map_of(result, str(kind), 1), _raw(result, str(kind)), result.facts
    sides = [list(frame.query_labels), list(frame.key_labels)]
    return {
        "kind": gettext(str(kind)), "later": float(np.triu(raw, 1).sum()),
        "earlier": float(np.tril(raw, -1).sum()), "rows": len(raw),
        "columns": raw.shape[1], "crosses": sides == [facts["tokens"], facts["source_tokens"]],
    }  # fmt: skip


def _kind(result: Result, kind: Scalar) -> Figure:
    frame = map_of(result, str(kind), 1)
    alt = gettext("Layer 1, {kind}: the mean of its heads", kind=gettext(str(kind)))
    return weights(alt, frame, frame.weights.mean(0))


TRANSFORMER = Lesson(
    name="transformer",
    title="Transformer",
    section="10.7",
    papers="Vaswani et al. 2017, section 3",
    idea="A Transformer has no recurrence. Its encoder attends to itself; its decoder to itself "
    "and to the encoder. Between them stand small networks, one for each position alone. Around "
    "every part runs a residual connection, followed by layer normalisation.",
    formulas=(r"\operatorname{LayerNorm}\big(x+\operatorname{sublayer}(x)\big)",),
    terms=(
        "Transformer",
        "cross-attention",
        "causal mask",
        "residual connection",
        "layer normalisation",
    ),
    control=Parameter(name="at", title="Attention", default="encoder", choices=_KINDS),
    asked="decoder",
    question="You see the encoder's self-attention, where every word sees every word. In the "
    "decoder's, which weights must be exactly 0?",
    choices={
        "a": "None",
        "b": "Those right of the diagonal: of what comes later",
        "c": "Those left of the diagonal: of what came before",
    },
    request=lambda _, catalogue: translated(catalogue, TRANSFORMER_CHECKPOINT, CAR),
    figure=_kind,
    measured=_transformer,
    answer=lambda figures: "b" if not figures["later"] else "a" if figures["earlier"] else "c",
    reason="The weights right of the diagonal sum to {later:g}, those left of it to "
    "{earlier:.1f}. While it learns, the decoder reads the whole translation at once; without "
    "this mask it would copy the next word instead of predicting it.",
    now="Kind *{kind}*: **{rows} rows**, the queries, and {columns} columns, the keys.",
    goal="Choose the kind whose rows are French and whose columns are English.",
    reached=lambda figures: figures["crosses"],
    missed="Not yet: of the kind *{kind}*, rows and columns are in one language.",
    conclusion="In cross-attention the queries come from the decoder, keys and values from the "
    "encoder: it is what Bahdanau's model does, once in every layer.",
    tries={
        link("translation", TRANSFORMER_CHECKPOINT, CAR, map="decoder.1.8"): "Every head of the "
        "decoder, head 8 of layer 1 large",
        "norms?x=1,2;2,3;9,0": "Layer norm and batch norm of a matrix of your own",
    },
)


_WORDS = 7  # of the translation, with the sign that ends it
_FOUND = "car"


def _bahdanau(result: Result, word: Scalar) -> Figures:
    frame = map_of(result, "cross", 1)
    at = min(int(word), len(frame.query_labels)) - 1
    row = frame.weights[0, at]
    best = int(row.argmax())
    words = {"word": frame.query_labels[at], "looks": frame.key_labels[best]}
    return {**words, "weight": float(row[best])}


def _looks(result: Result, word: Scalar) -> Figure:
    frame = map_of(result, "cross", 1)
    alt = ngettext(
        "Where the model looked while it wrote the first word",
        "Where the model looked while it wrote the first {count} words", int(word),
    )  # fmt: skip
    return weights(alt, frame, frame.weights[0, : int(word)])


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
    asked=5,
    question=f"“{CAR}” becomes “j'ai une voiture rouge.”, whose fifth token is “rouge”. Where "
    "does the model look while it writes it?",
    choices={
        "a": "At “car”, the fifth word of the sentence",
        "b": "At “red”",
        "c": "At the end of the sentence",
    },
    request=lambda _, catalogue: translated(catalogue, BAHDANAU_CHECKPOINT, CAR),
    figure=_looks,
    measured=_bahdanau,
    answer=lambda figures: {"car": "a", "red": "b"}.get(figures["looks"], "c"),
    reason="“{looks}” has a weight of {weight:.2f}. French puts the colour after the noun, so the "
    "weights cross over: the model learned an alignment of words, not of places.",
    now="While it writes “{word}”, the model looks most at “{looks}” (**{weight:.2f}**).",
    goal=f"Find the token that is written while the model looks most at “{_FOUND}”.",
    reached=lambda figures: figures["looks"] == _FOUND,
    missed="Not yet: while it writes “{word}”, the model looks most at “{looks}”.",
    conclusion="“{word}” takes {weight:.0%} of its context from “{looks}”.",
    tries={
        link("translation", BAHDANAU_CHECKPOINT, CAR, beam="4"): "The same sentence, with a beam "
        "of four",
        f"alignment?corpus=phrasebook&a={BAHDANAU_CHECKPOINT}&count=50": "The model against gold "
        "alignments of the corpus",
    },
)


HOUSE = "she has a white house ."
_LAYER = 2
_SHARP = 8
_EFFECT, _WITHOUT = gettext_noop("effect"), gettext_noop("without the head")


def _effects(result: Result) -> dict[int, tuple[float, float]]:
    """Entropy and ablation effect of the layer's heads, by their number from 1."""
    return {
        row["head"] + 1: (row["entropy"], row["leave_one_out"])
        for row in result.tables["heads"].to_pylist()
        if (row["kind"], row["layer"]) == ("cross", _LAYER - 1)
    }


def _explaining(result: Result, head: Scalar) -> Figures:
    rows, at = _effects(result), int(head)
    entropy, effect = rows[at]
    worse = sum(other < effect for _, other in rows.values())
    return {
        "head": at, "entropy": entropy, "effect": effect,
        "sharpest": min(rows, key=lambda one: rows[one][0]),
        "worse": worse, "rank": worse + 1, "count": len(rows),
        "needed": min(rows, key=lambda one: rows[one][1]), "others": len(rows) - 1,
    }  # fmt: skip


def _others(result: Result, head: Scalar) -> Figure:
    """The heads up to this one, so that nothing is shown before it is asked for."""
    at = int(head)
    rows = {one: (100 * x, y) for one, (x, y) in _effects(result).items()}
    ends = [end(x for x, _ in rows.values()) for end in (min, max)]
    return lines(
        gettext("Entropy and ablation effect of the heads up to {head}", head=at),
        {gettext("no effect"): [(x, 0.0) for x in ends]},
        {
            gettext("head {head}", head=at): [rows[at]],
            gettext("heads before it"): [place for one, place in rows.items() if one < at],
        },
        (gettext("entropy, % of the largest possible"), gettext("effect, nats")),
    )


EXPLAINING = Lesson(
    name="explaining",
    title="What attention does and does not explain",
    papers="Jain & Wallace 2019; Wiegreffe & Pinter 2019; Michel, Levy & Neubig 2019, section 3",
    idea="A map shows where a head looks. It does not show what the model does with what it "
    "finds. To learn that, change something: switch the head off, and see how much less likely "
    "the translation becomes.",
    formulas=(rf"\text{{{_EFFECT}}}=\log p(y\mid x,\text{{ {_WITHOUT}}})-\log p(y\mid x)",),
    terms=("ablation", "ablation effect", "faithful"),
    control=Parameter(
        name="at", title="Head that is switched off", default=1, low=1, high=_HEADS, step=1
    ),
    asked=_SHARP,
    question=f"“{HOUSE}” In layer {_LAYER} of cross-attention, head {_SHARP} is the sharpest: it "
    "looks at almost one word at a time. What does the translation lose without it?",
    choices={
        "a": "More than without any other head",
        "b": "Something, but other heads matter more",
        "c": "Nothing",
    },
    request=lambda _, catalogue: (
        Request.make("heads", data=TRANSFORMER_CHECKPOINT, options={"text": HOUSE, "target": ""})
        if TRANSFORMER_CHECKPOINT in catalogue.checkpoints
        else None
    ),
    figure=_others,
    measured=_explaining,
    answer=lambda figures: "a" if not figures["worse"] else "b" if figures["effect"] < 0 else "c",
    reason="Its effect is {effect:+.2f} nats, and {worse} of {others} other heads of the layer "
    "are needed more. A clear map is easy to read; that does not make it important.",
    now="Without head {head} the translation changes by **{effect:+.2f} nats**.",
    goal="Find the head that the translation needs most.",
    reached=lambda figures: figures["head"] == figures["needed"],
    missed="Not yet: head {head} has an effect of {effect:+.2f} nats, rank {rank} of {count} from "
    "the most needed.",
    conclusion="Without head {head} the translation's log-probability changes by {effect:+.2f} "
    "nats. Maps give ideas; only a change of the model tests them, and only for this sentence.",
    tries={
        link("heads", TRANSFORMER_CHECKPOINT, HOUSE, off="cross.2.6"): "Without head 6 the "
        "article is wrong: “un maison”",
        link("heads", TRANSFORMER_CHECKPOINT, HOUSE, off="cross.2.4"): "Without head 4 the model "
        "corrects its own mistake: “blanche”",
    },
)

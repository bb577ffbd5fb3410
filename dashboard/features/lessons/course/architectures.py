"""Lessons 5 to 8 and 10: models that translate, their heads and layers; what weights explain."""

import numpy as np

from dashboard.features.lessons import lesson
from dashboard.features.lessons.lesson import TRANSFORMER_CHECKPOINT, Figure, Figures, Lesson
from dashboard.language import gettext, gettext_noop, ngettext
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

CAR = "i see a red car ."
_HEADS = 8
_GIVEN, _ASKED = 1, 7


def _heads(result: Result, head: Scalar) -> Figures:
    frame, at = lesson.map_of(result, "cross", 1), int(head) - 1
    best = frame.weights.argmax(axis=-1)  # (heads, queries)
    entropy = -(frame.weights * np.log(np.maximum(frame.weights, 1e-12))).sum(-1).mean(-1)
    return {
        "head": at + 1, "count": len(frame.weights), "words": len(frame.query_labels),
        "same": int((best[at] == best[_GIVEN - 1]).sum()), "bits": float(entropy[at] / np.log(2)),
        "sharpest": int(entropy.argmin()) + 1, "rank": int((entropy < entropy[at]).sum()) + 1,
    }  # fmt: skip


def _head(result: Result, head: Scalar) -> Figure:
    frame = lesson.map_of(result, "cross", 1)
    alt = gettext("Cross-attention, layer 1, head {head}", head=head)
    return lesson.weights(alt, frame, frame.weights[int(head) - 1])


HEADS = Lesson(
    **lesson.texts("heads", GIVEN=_GIVEN, CAR=CAR, ASKED=_ASKED, HEADS=_HEADS),
    control=Parameter(name="at", title="Head", default=1, low=1, high=_HEADS, step=1),
    asked=_ASKED, figure=_head, measured=_heads,
    request=lambda _, catalogue: lesson.translated(catalogue, TRANSFORMER_CHECKPOINT, CAR),
    answer=lambda figures: (
        "a" if figures["same"] == figures["words"] else "b" if figures["same"] else "c"
    ),
    reached=lambda figures: figures["head"] == figures["sharpest"],
)  # fmt: skip

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
    series = {gettext("up to here"): lesson.so_far([*enumerate(products)], at + 1)}
    titles = gettext("positions apart"), gettext("dot product")
    return lesson.lines(alt, series, {gettext("here"): [(at, products[at])]}, titles)


POSITIONS = Lesson(
    **lesson.texts("positions", SIZE=_SIZE, SIZE_2=_SIZE // 2),
    control=Parameter(name="at", title="Positions apart", default=0, low=0, high=_LAST, step=1),
    asked=3,
    request=lambda _distance, _catalogue: Request.make(
        "positions", options={"size": _SIZE, "positions": 60}
    ),
    figure=_falling, measured=_positions,
    answer=lambda figures: (
        "b" if abs(change := figures["product"] - figures["none"]) < _MOVED
        else "a" if change > 0 else "c"
    ),
    reached=lambda figures: figures["product"] > figures["before"],
)  # fmt: skip

_KINDS = (gettext_noop("encoder"), gettext_noop("decoder"), gettext_noop("cross"))


def _raw(result: Result, kind: str) -> np.ndarray:
    """The mean weights ``(queries, keys)`` of the first layer's heads, as the model gave them."""
    table = result.tables["maps"].to_pylist()
    row = next(row for row in table if (row["kind"], row["layer"]) == (kind, 0))
    shape = (row["heads"], len(row["queries"]), len(row["keys"]))
    return np.array(row["weights"]).reshape(shape).mean(0)


def _transformer(result: Result, kind: Scalar) -> Figures:
    frame, raw, facts = lesson.map_of(result, str(kind), 1), _raw(result, str(kind)), result.facts
    sides = [list(frame.query_labels), list(frame.key_labels)]
    return {
        "kind": gettext(str(kind)), "later": float(np.triu(raw, 1).sum()),
        "earlier": float(np.tril(raw, -1).sum()), "rows": len(raw),
        "columns": raw.shape[1], "crosses": sides == [facts["tokens"], facts["source_tokens"]],
    }  # fmt: skip


def _kind(result: Result, kind: Scalar) -> Figure:
    frame = lesson.map_of(result, str(kind), 1)
    alt = gettext("Layer 1, {kind}: the mean of its heads", kind=gettext(str(kind)))
    return lesson.weights(alt, frame, frame.weights.mean(0))


TRANSFORMER = Lesson(
    **lesson.texts("transformer"),
    control=Parameter(name="at", title="Attention", default="encoder", choices=_KINDS),
    asked="decoder", figure=_kind, measured=_transformer,
    request=lambda _, catalogue: lesson.translated(catalogue, TRANSFORMER_CHECKPOINT, CAR),
    answer=lambda figures: "b" if not figures["later"] else "a" if figures["earlier"] else "c",
    reached=lambda figures: figures["crosses"],
)  # fmt: skip

_WORDS = 7  # of the translation, with the sign that ends it
_FOUND = "car"


def _bahdanau(result: Result, word: Scalar) -> Figures:
    frame = lesson.map_of(result, "cross", 1)
    at = min(int(word), len(frame.query_labels)) - 1
    row = frame.weights[0, at]
    best = int(row.argmax())
    words = {"word": frame.query_labels[at], "looks": frame.key_labels[best]}
    return {**words, "weight": float(row[best])}


def _looks(result: Result, word: Scalar) -> Figure:
    frame = lesson.map_of(result, "cross", 1)
    alt = ngettext(
        "Where the model looked while it wrote the first word",
        "Where the model looked while it wrote the first {count} words", int(word),
    )  # fmt: skip
    seen = np.arange(len(frame.query_labels)) < int(word)
    written = [label if one else "…" for label, one in zip(frame.query_labels, seen, strict=True)]
    return lesson.weights(alt, frame, np.where(seen[:, None], frame.weights[0], np.nan), written)


BAHDANAU = Lesson(
    **lesson.texts("bahdanau", CAR=CAR, FOUND=_FOUND),
    control=Parameter(name="at", title="Words written", default=1, low=1, high=_WORDS, step=1),
    asked=5, figure=_looks, measured=_bahdanau,
    request=lambda _, catalogue: lesson.translated(catalogue, lesson.BAHDANAU_CHECKPOINT, CAR),
    answer=lambda figures: {"car": "a", "red": "b"}.get(figures["looks"], "c"),
    reached=lambda figures: figures["looks"] == _FOUND,
)  # fmt: skip

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
    return lesson.lines(
        gettext("Entropy and ablation effect of the heads up to {head}", head=at),
        {gettext("no effect"): [(x, 0.0) for x in ends]},
        {
            gettext("this head"): [rows[at]],
            gettext("heads before it"): lesson.so_far([*rows.values()], at - 1),
        },
        (gettext("entropy, % of the largest possible"), gettext("effect, nats")),
    )


EXPLAINING = Lesson(
    **lesson.texts("explaining", HOUSE=HOUSE, LAYER=_LAYER, SHARP=_SHARP),
    formulas=(rf"\text{{{_EFFECT}}}=\log p(y\mid x,\text{{ {_WITHOUT}}})-\log p(y\mid x)",),
    control=Parameter(
        name="at", title="Head that is switched off", default=1, low=1, high=_HEADS, step=1
    ),
    asked=_SHARP,
    request=lambda _, catalogue: (
        Request.make("heads", data=TRANSFORMER_CHECKPOINT, options={"text": HOUSE, "target": ""})
        if TRANSFORMER_CHECKPOINT in catalogue.checkpoints
        else None
    ),
    figure=_others,
    measured=_explaining,
    answer=lambda figures: "a" if not figures["worse"] else "b" if figures["effect"] < 0 else "c",
    reached=lambda figures: figures["head"] == figures["needed"],
)

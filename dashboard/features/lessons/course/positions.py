"""Lesson 7: self-attention does not know the order of its words."""

from __future__ import annotations

from dashboard.features.lessons.figures import lines
from dashboard.features.lessons.lesson import Figures, Lesson, Try
from dashboard.language import gettext, ngettext
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Result, Scalar

_LAST = 40
_SIZE = 32
_MOVED = 0.5


def _request(_distance: Scalar, _catalogue: Catalogue) -> Request:
    return Request.make("positions", options={"size": _SIZE, "positions": 60})


def _products(result: Result) -> list[float]:
    return result.tables["by_distance"]["value"].to_pylist()


def _measured(result: Result, distance: Scalar) -> Figures:
    products, at = _products(result), int(distance)
    return {
        "distance": at, "product": products[at], "none": products[0],
        "before": products[max(0, at - 1)], "spread": result.facts["similarity_spread"],
    }  # fmt: skip


def _figure(result: Result, distance: Scalar) -> None:
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


def _answer(figures: Figures) -> str:
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
    figure=_figure,
    measured=_measured,
    answer=_answer,
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

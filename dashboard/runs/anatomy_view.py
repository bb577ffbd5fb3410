"""What the page *Anatomy* shows, as a plain frozen record, and the requests that this takes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dashboard.runs import tensors
from dashboard.runs.anatomy_examples import DRAWN, EXAMPLES, GIVEN, HEADS, Sizes, names
from dashboard.runs.link_parts import defaults
from dashboard.runs.offers import Catalogue, Knob, shown
from dashboard.runs.request import Pairs, Request

STEP, MASK, ROOT, LANDSCAPE = "step", "mask", "root", "landscape"
PARTS = (STEP, MASK, ROOT, LANDSCAPE)

# What may be set besides the scoring's own parameters; a link calls each by its name.
SIZES = (
    Knob(name="batch", title="Batch", default=2, low=1, high=3, step=1),
    Knob(name="queries", title="Queries", default=3, low=1, high=6, step=1),
    Knob(name="keys", title="Keys", default=5, low=1, high=8, step=1),
    Knob(name="d_q", title="Numbers per query", default=4, low=1, high=8, step=1),
    Knob(name="d_k", title="Numbers per key", default=4, low=1, high=8, step=1),
    Knob(name="d_v", title="Numbers per value", default=3, low=1, high=8, step=1),
)
HEAD_COUNT = Knob(name="heads", title="Heads", default=3, low=1, high=12, step=1)
HIDDEN = Knob(
    name="hidden",
    title="Hidden size",
    default=8,
    low=1,
    high=100,
    step=1,
    help="Of scorings with weight matrices, and of the projections where there are any.",
)
DROPOUT = Knob(
    name="dropout",
    title="Dropout",
    default=0.0,
    low=0.0,
    high=0.9,
    step=0.05,
    help="The share of weights that training sets to 0; the rest is scaled up to make up for it.",
)
COUNT = Knob(
    name="count",
    title="Keys per query",
    default=16,
    low=2,
    high=128,
    step=1,
    help="Over how many keys the softmax is taken.",
)
AT_X = Knob(name="x", title="Query, first number", default=1.0, low=-3.0, high=3.0, step=0.1)
AT_Y = Knob(name="y", title="Query, second number", default=0.5, low=-3.0, high=3.0, step=0.1)

# The scores of the textbook's masked softmax, (2, 2, 4).
SCORES = (
    "0.0343,0.083,0.2883,0.7795/0.6423,0.1566,0.5636,0.0877:"
    "0.2908,0.397,0.9207,0.7803/0.4699,0.2348,0.0882,0.1583"
)
SCORES_SHAPE = (2, 2, 4)
PER_ROW, PER_QUERY = "2,3", "1,3/2,4"
MOST_EDITABLE = 240  # numbers of one tensor


@dataclass(frozen=True, kw_only=True)
class Anatomy:
    """The page *Anatomy*.

    Args:
        layout: how queries and keys reach the scoring: as given, by heads, or by a model.
        q, k, v: as text, where they are not the example's.
        lengths: valid ones; empty for none.
        row, head: which of the batch and of the heads is drawn.
        query, key, column: the one that is traced.
        scores, per_row, per_query: of the part on the masked softmax.
        count: of the part on the root.
        x, y: the query of the landscape.
    """

    part: str = STEP
    example: str = DRAWN
    scoring: str
    parameters: Pairs = ()
    layout: str = GIVEN
    sizes: Sizes
    heads: int = 3
    hidden: int = 8
    q: str = ""
    k: str = ""
    v: str = ""
    lengths: str = ""
    dropout: float = 0.0
    seed: int = 0
    row: int = 0
    head: int = 0
    query: int = 0
    key: int = 0
    column: int = 0
    scores: str = SCORES
    per_row: str = PER_ROW
    per_query: str = PER_QUERY
    count: int = 16
    x: float = 1.0
    y: float = 0.5


def default_anatomy(catalogue: Catalogue, example: str = DRAWN) -> Anatomy:
    """An example as it is told, everything else at its default."""
    told = EXAMPLES[example]
    scoring = (
        told.scoring if told.scoring in catalogue.scorings else next(iter(catalogue.scorings))
    )
    return Anatomy(
        example=example,
        scoring=scoring,
        parameters=defaults(catalogue.scorings[scoring].knobs),
        layout=told.layout,
        sizes=told.sizes,
        heads=told.heads,
        hidden=told.hidden,
        lengths=told.lengths,
    )


def layouts(catalogue: Catalogue) -> dict[str, str]:
    """The titles of what an example may be walked through."""
    models = catalogue.of_task("models", "encoding")
    return {
        GIVEN: "Q, K, V as given",
        HEADS: "Multi-head: projected",
        **{name: offer.title for name, offer in models.items()},
    }


def usual_lengths(view: Anatomy, sizes: Sizes) -> str:
    """The lengths that an example has when nobody chose others; of sizes, if they are free."""
    if view.example != DRAWN:
        return EXAMPLES[view.example].lengths
    keys = sizes.queries if names(view.layout) == "q" else sizes.keys
    return ",".join(str(max(1, keys - 1 - row)) for row in range(sizes.batch))


def kinds_of(view: Anatomy) -> str:
    """The kinds of lengths that may be given; a model knows those of sequences only."""
    return "row" if names(view.layout) == "q" else "row query"


def text_of(view: Anatomy, name: str) -> str:
    """The tensor ``"q"``, ``"k"`` or ``"v"`` that the view shows."""
    drawn = EXAMPLES[view.example].tensor(name, view.seed, view.sizes)
    return getattr(view, name) or tensors.write(drawn)


def editable(view: Anatomy, name: str) -> bool:
    """Whether the tensor is small enough to be changed by hand and to travel in a link."""
    batch, count, size = view.sizes.of(name)
    return batch * count * size <= MOST_EDITABLE


def fitted(view: Anatomy) -> Anatomy:
    """The view with every index inside its tensors."""
    sizes, keys = view.sizes, view.sizes.queries if names(view.layout) == "q" else view.sizes.keys
    heads = view.heads if view.layout == HEADS else 1
    # A model may have heads that only its result tells; the page draws the nearest.
    return replace(
        view,
        row=min(view.row, sizes.batch - 1),
        head=min(view.head, heads - 1),
        query=min(view.query, sizes.queries - 1),
        key=min(view.key, keys - 1),
        column=min(view.column, view.hidden - 1),
    )


def missing(catalogue: Catalogue, view: Anatomy) -> str:
    """What the view needs that is not installed here, in a sentence; empty if it is all here."""
    for kind, name, offered in (
        ("Scoring", view.scoring, catalogue.scorings),
        ("Model", view.layout, layouts(catalogue)),
    ):
        if name not in offered:
            return (
                f"{kind} {shown(name)} is not installed here. A plugin provides it: install the "
                "plugin where this dashboard runs, then press “Reload plugins”."
            )
    return ""


def step_request(view: Anatomy) -> Request:
    """What a worker must compute for the walk through one step."""
    told = {name: text_of(view, name) for name in names(view.layout)}
    own = {"heads": view.heads} if view.layout == HEADS else {}
    return Request.make(
        "anatomy",
        model="" if view.layout in (GIVEN, HEADS) else view.layout,
        scoring=view.scoring,
        parameters=dict(view.parameters),
        options={
            "part": STEP, **told, **own, "hidden": view.hidden, "lengths": view.lengths,
            "dropout": view.dropout,
        },
        seed=view.seed,
    )  # fmt: skip


def mask_request(view: Anatomy, lengths: str) -> Request:
    """What a worker must compute for the masked softmax with one kind of lengths."""
    options = {"part": MASK, "scores": view.scores, "lengths": lengths}
    return Request.make("anatomy", options=options)


def root_request(view: Anatomy) -> Request:
    """What a worker must compute for the part on the root."""
    return _of_scoring(view, {"part": ROOT, "count": view.count})


def landscape_request(view: Anatomy) -> Request:
    """What a worker must compute for the landscape."""
    return _of_scoring(view, {"part": LANDSCAPE, "x": view.x, "y": view.y})


def _of_scoring(view: Anatomy, options: dict[str, str | int | float]) -> Request:
    return Request.make(
        "anatomy",
        scoring=view.scoring,
        parameters=dict(view.parameters),
        options={**options, "hidden": view.hidden},
        seed=view.seed,
    )

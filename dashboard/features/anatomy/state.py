"""What the page *Anatomy* shows: a frozen record, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.features.anatomy import tensors
from dashboard.features.anatomy.examples import DRAWN, EXAMPLES, GIVEN, HEADS, Sizes, names
from dashboard.language import gettext
from dashboard.links.attending import absent_normaliser
from dashboard.records.attending import Attending
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter, defaults
from dashboard.records.text import not_installed

SIZES = (
    Parameter(name="batch", title="Batch", default=2, low=1, high=3, step=1),
    Parameter(name="queries", title="Queries", default=3, low=1, high=6, step=1),
    Parameter(name="keys", title="Keys", default=5, low=1, high=8, step=1),
    Parameter(name="d_q", title="Numbers per query", default=4, low=1, high=8, step=1),
    Parameter(name="d_k", title="Numbers per key", default=4, low=1, high=8, step=1),
    Parameter(name="d_v", title="Numbers per value", default=3, low=1, high=8, step=1),
)
HEAD_COUNT = Parameter(name="heads", title="Heads", default=3, low=1, high=12, step=1)
HIDDEN = Parameter(
    name="hidden",
    title="Hidden size",
    default=8,
    low=1,
    high=100,
    step=1,
    help="Of scorings with weight matrices, and of the projections where there are any.",
)
DROPOUT = Parameter(
    name="dropout",
    title="Dropout",
    default=0.0,
    low=0.0,
    high=0.9,
    step=0.05,
    help="The share of weights that training sets to 0; the rest is scaled up to make up for it.",
)
COUNT = Parameter(
    name="count",
    title="Keys per query",
    default=16,
    low=2,
    high=128,
    step=1,
    help="Over how many keys the softmax is taken.",
)
AT_X = Parameter(name="x", title="Query, first number", default=1.0, low=-3.0, high=3.0, step=0.1)
AT_Y = Parameter(name="y", title="Query, second number", default=0.5, low=-3.0, high=3.0, step=0.1)


STEP, MASK, ROOT, LANDSCAPE = "step", "mask", "root", "landscape"
PARTS = (STEP, MASK, ROOT, LANDSCAPE)

# The scores of the textbook's masked softmax, (2, 2, 4).
SCORES = (
    "0.0343,0.083,0.2883,0.7795/0.6423,0.1566,0.5636,0.0877:"
    "0.2908,0.397,0.9207,0.7803/0.4699,0.2348,0.0882,0.1583"
)
SCORES_SHAPE = (2, 2, 4)
PER_ROW, PER_QUERY = "2,3", "1,3/2,4"
_MOST_EDITABLE = 240  # numbers of one tensor


@dataclass(frozen=True, kw_only=True)
class Anatomy(Attending):
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

    @property
    def keys(self) -> int:
        """How many keys there are: a model attends from its sequence to itself."""
        return self.sizes.queries if names(self.layout) == "q" else self.sizes.keys

    def editable(self, name: str) -> bool:
        """Whether the layout reads this tensor, and it is small enough to travel in a link."""
        batch, count, size = self.sizes.of(name)
        return name in names(self.layout) and batch * count * size <= _MOST_EDITABLE

    def text_of(self, name: str) -> str:
        """The tensor ``"q"``, ``"k"`` or ``"v"``: its own numbers, or the example's."""
        if own := getattr(self, name):
            return own
        return tensors.write(EXAMPLES[self.example].tensor(name, self.seed, self.sizes))


def layouts(catalogue: Catalogue) -> dict[str, str]:
    """The titles of what an example may be walked through."""
    models = catalogue.of_task("models", "encoding")
    return {
        GIVEN: gettext("Q, K, V as given"),
        HEADS: gettext("Multi-head: projected"),
        **{name: entry.title for name, entry in models.items()},
    }


def default_view(catalogue: Catalogue, example: str = DRAWN) -> Anatomy:
    """An example as it is, everything else at its default."""
    chosen = EXAMPLES[example]
    scoring = scoring_of(example, catalogue)
    return Anatomy(
        example=example,
        scoring=scoring,
        parameters=defaults(catalogue.scorings[scoring].parameters),
        layout=chosen.layout,
        sizes=chosen.sizes,
        heads=chosen.heads,
        hidden=chosen.hidden,
        lengths=chosen.lengths,
    )


def counts(view: Anatomy) -> dict[str, int]:
    """How many there are of everything that an index of the view chooses one of."""
    return {
        "row": view.sizes.batch,
        # A model may have heads that only its result tells; the page draws the nearest.
        "head": view.heads if view.layout == HEADS else 1,
        "query": view.sizes.queries,
        "key": view.keys,
        "column": view.hidden,
    }


def indices_inside(view: Anatomy) -> dict[str, int]:
    """Every index of the view, moved inside its tensor."""
    return {name: min(getattr(view, name), count - 1) for name, count in counts(view).items()}


def missing(catalogue: Catalogue, view: Anatomy) -> str:
    """What the part needs that is not installed here, in a sentence; empty if it is all here."""
    if view.part == MASK:
        return ""
    if view.scoring not in catalogue.scorings:
        return not_installed(gettext("Scoring"), view.scoring)
    if view.part != ROOT and (absent := absent_normaliser(view, catalogue)):
        return absent
    return (
        "" if view.layout in layouts(catalogue) else not_installed(gettext("Model"), view.layout)
    )


def scoring_of(example: str, catalogue: Catalogue) -> str:
    """The scoring of an example; the first that is installed if its own is not."""
    wanted = EXAMPLES[example].scoring
    return wanted if wanted in catalogue.scorings else next(iter(catalogue.scorings))


def lengths_of(view: Anatomy) -> str:
    """The lengths that nobody chose: the example's, or by the sizes where these are open."""
    if view.example != DRAWN:
        return EXAMPLES[view.example].lengths
    return ",".join(str(max(1, view.keys - 1 - row)) for row in range(view.sizes.batch))

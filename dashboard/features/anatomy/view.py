"""The page *Anatomy* as a link: an example by its name, and what differs from it.

``?example=heads&scoring=gaussian&scoring.width=0.5&q=1,0/0,1:2,1/0,3&lengths=2,1&row=1``. The
numbers of a tensor stand in the link only where somebody changed them. A scoring that was typed is
``scoring==dot(q, k) / sqrt(d)``.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dashboard.features.anatomy import examples, tensors
from dashboard.features.anatomy.examples import DRAWN, EXAMPLES, HEADS, SENTENCE, Sizes, names
from dashboard.features.anatomy.tensors import Lengths, TensorText
from dashboard.language import gettext, gettext_noop
from dashboard.links import attending
from dashboard.links.fields import NAME, SEED, Choice, ForeignSettings, Setting, write_parameters
from dashboard.links.link import Field, Link, Query, Reader
from dashboard.records import sentence
from dashboard.records.attending import Attending
from dashboard.records.beside import beside
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter, defaults
from dashboard.records.request import Request, Scalar, is_formula
from dashboard.records.text import not_installed

_PARAMETERS = (Parameter(name=n, **row) for n, row in beside(__file__, "parameters.toml").items())
*SIZES, HEAD_COUNT, HIDDEN, DROPOUT, COUNT, AT_X, AT_Y = _PARAMETERS

STEP, MASK, ROOT, LANDSCAPE = "step", "mask", "root", "landscape"
PARTS = (STEP, MASK, ROOT, LANDSCAPE)

# The scores of the textbook's masked softmax, (2, 2, 4).
SCORES = (
    "0.0343,0.083,0.2883,0.7795/0.6423,0.1566,0.5636,0.0877:"
    "0.2908,0.397,0.9207,0.7803/0.4699,0.2348,0.0882,0.1583"
)
SCORES_SHAPE = (2, 2, 4)
_ROW_LENGTHS, _QUERY_LENGTHS = "2,3", "1,3/2,4"
_MOST_EDITABLE = 240  # numbers of one tensor
_EXAMPLES_KEPT = 500  # tensors


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
    layout: str = examples.GIVEN
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
    per_row: str = _ROW_LENGTHS
    per_query: str = _QUERY_LENGTHS
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
        return _written(self.example, name, self.seed, self.sizes)


@functools.lru_cache(maxsize=_EXAMPLES_KEPT)
def _written(example: str, name: str, seed: int, sizes: Sizes) -> str:
    return tensors.write(EXAMPLES[example].tensor(name, seed, sizes))


def layouts(catalogue: Catalogue, example: str = SENTENCE) -> dict[str, str]:
    """The titles of what an example may be walked through; one example has words."""
    return {
        **({examples.WORDS: gettext("Words: embedded, projected")} if example == SENTENCE else {}),
        examples.GIVEN: gettext("Q, K, V as given"),
        HEADS: gettext("Multi-head: projected"),
        **{name: entry.title for name, entry in catalogue.of_task("models", "encoding").items()},
    }


def default_view(catalogue: Catalogue, example: str = DRAWN) -> Anatomy:
    """An example as it is, everything else at its default."""
    chosen = EXAMPLES[example]
    scoring = scoring_of(example, catalogue)
    return Anatomy(
        example=example, scoring=scoring, layout=chosen.layout, sizes=chosen.sizes,
        heads=chosen.heads, hidden=chosen.hidden, lengths=chosen.lengths,
        parameters=defaults(catalogue.scorings[scoring].parameters),
    )  # fmt: skip


# What is looked at, and which numbers are drawn: nothing that an example's caption depends on.
_LOOKED = ("part", "seed", "row", "head", "query", "key", "column", "scores", "per_row",
           "per_query", "count", "x", "y")  # fmt: skip


def as_given(view: Anatomy, catalogue: Catalogue) -> bool:
    """Whether an example is computed as its caption says, as that of own numbers always is."""
    looked = {name: getattr(view, name) for name in _LOOKED}
    usual = default_view(catalogue, view.example)
    return view.example == DRAWN or view == replace(usual, **looked)


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


def looked_at(view: Anatomy) -> list[Parameter]:
    """The indices of what there are several of, within their bounds."""
    most = {name: count - 1 for name, count in counts(view).items()}
    most["column"] *= view.layout == HEADS  # a link keeps it in any layout
    return [replace(each, high=most[each.name]) for each in INDICES if most[each.name]]


def indices_inside(view: Anatomy) -> dict[str, int]:
    """Every index of the view, moved inside its tensor."""
    return {name: min(getattr(view, name), count - 1) for name, count in counts(view).items()}


def missing(catalogue: Catalogue, view: Anatomy) -> str:
    """What the part needs that is not installed here, in a sentence; empty if it is all here."""
    if view.part == MASK:
        return ""
    if view.scoring not in catalogue.scorings:
        return not_installed(gettext("Scoring"), view.scoring)
    if view.part != ROOT and (absent := attending.absent_normaliser(view, catalogue)):
        return absent
    known = view.layout in layouts(catalogue, view.example)
    return "" if known else not_installed(gettext("Model"), view.layout)


def scoring_of(example: str, catalogue: Catalogue) -> str:
    """The scoring of an example; the first that is installed if its own is not."""
    wanted = EXAMPLES[example].scoring
    return wanted if wanted in catalogue.scorings else next(iter(catalogue.scorings))


def lengths_of(view: Anatomy) -> str:
    """The lengths that nobody chose: the example's, or by the sizes where these are open."""
    if view.example != DRAWN:
        return EXAMPLES[view.example].lengths
    return ",".join(str(max(1, view.keys - 1 - row)) for row in range(view.sizes.batch))


_TASK = "anatomy"


def requests(view: Anatomy, catalogue: Catalogue) -> tuple[Request, ...]:
    """Those of the part that is seen; none while it misses a plugin."""
    if missing(catalogue, view):
        return ()
    if view.part == MASK:  # the lengths per row, and those per query
        return tuple(
            Request.make(_TASK, options={"part": MASK, "scores": view.scores, "lengths": each})
            for each in (view.per_row, view.per_query)
        )
    model, options = "", {"part": view.part, "hidden": view.hidden}
    if view.part == STEP:
        model = "" if view.layout in (examples.GIVEN, HEADS, examples.WORDS) else view.layout
        options |= sentence.WEIGHTS if view.layout == examples.WORDS else {}
        options |= {name: view.text_of(name) for name in names(view.layout)}
        options |= {"heads": view.heads} if view.layout == HEADS else {}
        options |= {"lengths": view.lengths, "dropout": view.dropout, **view.options()}
    elif view.part == ROOT:
        options["count"] = view.count
    else:
        options |= {"x": view.x, "y": view.y, **view.options()}
    request = Request.make(
        _TASK, model=model, scoring=view.scoring, parameters=dict(view.parameters),
        options=options, seed=view.seed,
    )  # fmt: skip
    return (request,)


@dataclass(frozen=True, kw_only=True)
class StepSizes(Field[Anatomy, Sizes]):
    """The sizes of the three tensors, which only the example of random numbers leaves open."""

    def read(self, reader: Reader, view: Anatomy, catalogue: Catalogue) -> Sizes:
        """See :meth:`Field.read`."""
        if view.example != DRAWN:
            return EXAMPLES[view.example].sizes
        return Sizes(*(int(reader.parameter(each, each.name)) for each in SIZES))

    def write(self, view: Anatomy, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return write_parameters(SIZES, sizes_by_name(view)) if view.example == DRAWN else {}


def sizes_by_name(view: Anatomy) -> dict[str, Scalar]:
    """The sizes of the three tensors by the names of their parameters."""
    return {each.name: size for each, size in zip(SIZES, view.sizes, strict=True)}


def formulas(query: Query, view: Anatomy | None) -> Iterator[str]:
    """Every formula that a link and a view name, without ``=`` in front."""
    yield from attending.formulas_among(
        (attending.given(query, SCORING.name), *([view.scoring] if view else []))
    )


def _of_example(parameter: Parameter) -> Setting[Anatomy]:
    """A setting whose default is the example's own value."""
    return Setting(
        name=parameter.name,
        parameter=lambda view, _: replace(
            parameter, default=getattr(EXAMPLES[view.example], parameter.name)
        ),
    )


def _index(name: str, title: str) -> Parameter:
    return Parameter(name=name, title=title, default=0, low=0, high=99)


PART: Choice[Anatomy] = Choice(name="part", title=gettext_noop("Part"), options=lambda *_: PARTS)
EXAMPLE: Choice[Anatomy] = Choice(
    name="example", title=gettext_noop("Example"), options=lambda *_: tuple(EXAMPLES),
    titles=lambda name, _: gettext(EXAMPLES[name].title),
)  # fmt: skip
SCORING: attending.ScoringChoice[Anatomy] = attending.ScoringChoice(
    name="scoring", title=gettext_noop("Scoring"),
    options=lambda _, catalogue: tuple(catalogue.scorings_for()),
    default=lambda view, catalogue: scoring_of(view.example, catalogue), unknown=NAME,
)  # fmt: skip
PARAMETERS: ForeignSettings[Anatomy] = ForeignSettings(
    name="parameters", installed=lambda view, catalogue: view.scoring in catalogue.scorings,
    parameters=lambda view, catalogue: catalogue.scorings[view.scoring].parameters,
    owner=lambda view: "typed" if is_formula(view.scoring) else view.scoring,
    key_of=lambda name: f"scoring.{name}",
)  # fmt: skip
LAYOUT: Choice[Anatomy] = Choice(
    name="layout", title=gettext_noop("What attends"),
    options=lambda view, catalogue: tuple(layouts(catalogue, view.example)),
    default=lambda view, _: EXAMPLES[view.example].layout,
    titles=lambda name, catalogue: layouts(catalogue).get(name, name), unknown=NAME,
)  # fmt: skip
HEADS_FIELD, HIDDEN_FIELD = _of_example(HEAD_COUNT), _of_example(HIDDEN)
DROPOUT_FIELD: Setting[Anatomy] = Setting(name="dropout", parameter=DROPOUT)
SEED_FIELD: Setting[Anatomy] = Setting(name="seed", parameter=SEED)
COUNT_FIELD: Setting[Anatomy] = Setting(name="count", parameter=COUNT)
X_FIELD: Setting[Anatomy] = Setting(name="x", parameter=AT_X)
Y_FIELD: Setting[Anatomy] = Setting(name="y", parameter=AT_Y)
# Bounds that hold for every view; an index beyond its tensor is moved inside without a word.
INDICES = (
    _index("row", gettext_noop("Batch row")), _index("head", gettext_noop("Head")),
    _index("query", gettext_noop("Query")), _index("key", gettext_noop("Key")),
    _index("column", gettext_noop("Column of W q")),
)  # fmt: skip
LENGTHS: Lengths[Anatomy] = Lengths(
    name="lengths", sizes=lambda view: view.sizes[:2],
    kinds=lambda view: "row" if names(view.layout) == "q" else "row query", default=lengths_of,
)  # fmt: skip
PER_ROW: Lengths[Anatomy] = Lengths(
    name="per_row", sizes=lambda _: SCORES_SHAPE[:2], kinds=lambda _: "row",
    default=lambda _: _ROW_LENGTHS,
)  # fmt: skip
PER_QUERY: Lengths[Anatomy] = Lengths(
    name="per_query", sizes=lambda _: SCORES_SHAPE[:2], kinds=lambda _: "query",
    default=lambda _: _QUERY_LENGTHS,
)  # fmt: skip
LINK = Link(
    default=default_view,
    fields=(
        PART, EXAMPLE, StepSizes(name="sizes"), SCORING, PARAMETERS,
        *attending.normaliser_fields(), LAYOUT, HEADS_FIELD, HIDDEN_FIELD, DROPOUT_FIELD,
        SEED_FIELD, COUNT_FIELD, X_FIELD, Y_FIELD,
        *(Setting(name=each.name, parameter=each) for each in INDICES),
        *(
            TensorText(
                name=name, shape=lambda view, name=name: view.sizes.of(name),
                fixed=lambda view, name=name: not view.editable(name),
            )
            for name in "qkv"
        ),
        LENGTHS,
        TensorText(
            name="scores", shape=lambda _: SCORES_SHAPE, default=SCORES,
            refused=gettext_noop("{name}={given}: {error}, so the textbook's are used"),
        ),
        PER_ROW, PER_QUERY,
    ),
    fitted=lambda view, _: replace(view, **indices_inside(view)),
)  # fmt: skip

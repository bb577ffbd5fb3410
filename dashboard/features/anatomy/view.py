"""The page *Anatomy* as a link: an example by its name, and what differs from it.

``?example=heads&scoring=gaussian&scoring.width=0.5&q=1,0/0,1:2,1/0,3&lengths=2,1&row=1``. The
numbers of a tensor stand in the link only where somebody changed them. A scoring that was typed is
``scoring==dot(q, k) / sqrt(d)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from dashboard.features.anatomy import state
from dashboard.features.anatomy import state as bounds
from dashboard.features.anatomy.examples import DRAWN, EXAMPLES, GIVEN, HEADS, Sizes, names
from dashboard.features.anatomy.state import (
    LANDSCAPE,
    MASK,
    ROOT,
    SCORES_SHAPE,
    STEP,
    Anatomy,
    layouts,
    missing,
)
from dashboard.features.anatomy.tensors import Lengths, TensorText
from dashboard.language import gettext, gettext_noop
from dashboard.links.attending import ScoringChoice, formulas_among, given, normaliser_fields
from dashboard.links.fields import NAME, SEED, Choice, ForeignSettings, Setting, write_parameters
from dashboard.links.link import Field, Link, Query, Reader
from dashboard.records.catalogue import Catalogue
from dashboard.records.parameter import Parameter
from dashboard.records.request import Request, Scalar, is_formula

_TASK = "anatomy"


def requests(view: Anatomy, catalogue: Catalogue) -> tuple[Request, ...]:
    """Those of the part that is seen; none while it misses a plugin."""
    return () if missing(catalogue, view) else _REQUESTS[view.part](view)


def _step(view: Anatomy) -> tuple[Request]:
    numbers = {name: view.text_of(name) for name in names(view.layout)}
    own = {"heads": view.heads} if view.layout == HEADS else {}
    request = Request.make(
        _TASK,
        model="" if view.layout in (GIVEN, HEADS) else view.layout,
        scoring=view.scoring,
        parameters=dict(view.parameters),
        options={
            "part": STEP, **numbers, **own, "hidden": view.hidden, "lengths": view.lengths,
            "dropout": view.dropout, **view.options(),
        },
        seed=view.seed,
    )  # fmt: skip
    return (request,)


def _mask(view: Anatomy) -> tuple[Request, Request]:
    """One for the lengths per row, one for those per query."""
    options = {"part": MASK, "scores": view.scores}
    return (
        Request.make(_TASK, options={**options, "lengths": view.per_row}),
        Request.make(_TASK, options={**options, "lengths": view.per_query}),
    )


def _root(view: Anatomy) -> tuple[Request]:
    return _of_scoring(view, {"part": ROOT, "count": view.count})


def _landscape(view: Anatomy) -> tuple[Request]:
    return _of_scoring(view, {"part": LANDSCAPE, "x": view.x, "y": view.y, **view.options()})


def _of_scoring(view: Anatomy, options: Mapping[str, Scalar]) -> tuple[Request]:
    request = Request.make(
        _TASK,
        scoring=view.scoring,
        parameters=dict(view.parameters),
        options={**options, "hidden": view.hidden},
        seed=view.seed,
    )
    return (request,)


_REQUESTS: dict[str, Callable[[Anatomy], tuple[Request, ...]]] = {
    STEP: _step, MASK: _mask, ROOT: _root, LANDSCAPE: _landscape,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class StepSizes(Field[Anatomy, Sizes]):
    """The sizes of the three tensors, which only the example of random numbers leaves open."""

    def read(self, reader: Reader, view: Anatomy, catalogue: Catalogue) -> Sizes:
        """See :meth:`Field.read`."""
        if view.example != DRAWN:
            return EXAMPLES[view.example].sizes
        return Sizes(*(int(reader.parameter(each, each.name)) for each in bounds.SIZES))

    def write(self, view: Anatomy, catalogue: Catalogue) -> Mapping[str, str]:
        """See :meth:`Field.write`."""
        return write_parameters(bounds.SIZES, sizes_by_name(view)) if view.example == DRAWN else {}


def sizes_by_name(view: Anatomy) -> dict[str, Scalar]:
    """The sizes of the three tensors by the names of their parameters."""
    return {each.name: size for each, size in zip(bounds.SIZES, view.sizes, strict=True)}


def formulas(query: Query, view: Anatomy | None) -> Iterator[str]:
    """Every formula that a link and a view name, without ``=`` in front."""
    yield from formulas_among((given(query, SCORING.name), *([view.scoring] if view else [])))


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


PART: Choice[Anatomy] = Choice(
    name="part", title=gettext_noop("Part"), options=lambda *_: state.PARTS
)
EXAMPLE: Choice[Anatomy] = Choice(
    name="example",
    title=gettext_noop("Example"),
    options=lambda *_: tuple(EXAMPLES),
    titles=lambda name, _: gettext(EXAMPLES[name].title),
)
SCORING: ScoringChoice[Anatomy] = ScoringChoice(
    name="scoring",
    title=gettext_noop("Scoring"),
    options=lambda _, catalogue: tuple(catalogue.scorings_for()),
    default=lambda view, catalogue: state.scoring_of(view.example, catalogue),
    unknown=NAME,
)
PARAMETERS: ForeignSettings[Anatomy] = ForeignSettings(
    name="parameters",
    installed=lambda view, catalogue: view.scoring in catalogue.scorings,
    parameters=lambda view, catalogue: catalogue.scorings[view.scoring].parameters,
    owner=lambda view: "typed" if is_formula(view.scoring) else view.scoring,
    key_of=lambda name: f"scoring.{name}",
)
LAYOUT: Choice[Anatomy] = Choice(
    name="layout",
    title=gettext_noop("What attends"),
    options=lambda _, catalogue: tuple(layouts(catalogue)),
    default=lambda view, _: EXAMPLES[view.example].layout,
    titles=lambda name, catalogue: layouts(catalogue).get(name, name),
    unknown=NAME,
)
HEADS_FIELD, HIDDEN_FIELD = _of_example(bounds.HEAD_COUNT), _of_example(bounds.HIDDEN)
DROPOUT_FIELD: Setting[Anatomy] = Setting(name="dropout", parameter=bounds.DROPOUT)
SEED_FIELD: Setting[Anatomy] = Setting(name="seed", parameter=SEED)
COUNT_FIELD: Setting[Anatomy] = Setting(name="count", parameter=bounds.COUNT)
X_FIELD: Setting[Anatomy] = Setting(name="x", parameter=bounds.AT_X)
Y_FIELD: Setting[Anatomy] = Setting(name="y", parameter=bounds.AT_Y)
# Bounds that hold for every view; an index beyond its tensor is moved inside without a word.
INDICES = (
    _index("row", gettext_noop("Batch row")),
    _index("head", gettext_noop("Head")),
    _index("query", gettext_noop("Query")),
    _index("key", gettext_noop("Key")),
    _index("column", gettext_noop("Column of W q")),
)
LENGTHS: Lengths[Anatomy] = Lengths(
    name="lengths",
    sizes=lambda view: view.sizes[:2],
    kinds=lambda view: "row" if names(view.layout) == "q" else "row query",
    default=state.lengths_of,
)
PER_ROW: Lengths[Anatomy] = Lengths(
    name="per_row", sizes=lambda _: SCORES_SHAPE[:2], kinds=lambda _: "row",
    default=lambda _: state.PER_ROW,
)  # fmt: skip
PER_QUERY: Lengths[Anatomy] = Lengths(
    name="per_query", sizes=lambda _: SCORES_SHAPE[:2], kinds=lambda _: "query",
    default=lambda _: state.PER_QUERY,
)  # fmt: skip
LINK = Link(
    default=state.default_view,
    fields=(
        PART, EXAMPLE, StepSizes(name="sizes"), SCORING, PARAMETERS, *normaliser_fields(), LAYOUT,
        HEADS_FIELD, HIDDEN_FIELD, DROPOUT_FIELD, SEED_FIELD, COUNT_FIELD, X_FIELD, Y_FIELD,
        *(Setting(name=each.name, parameter=each) for each in INDICES),
        *(
            TensorText(
                name=name,
                shape=lambda view, name=name: view.sizes.of(name),
                fixed=lambda view, name=name: not view.editable(name),
            )
            for name in "qkv"
        ),
        LENGTHS,
        TensorText(
            name="scores", shape=lambda _: SCORES_SHAPE, default=state.SCORES,
            refused=gettext_noop("{name}={given}: {error}, so the textbook's are used"),
        ),
        PER_ROW, PER_QUERY,
    ),
    fitted=lambda view, _: replace(view, **state.indices_inside(view)),
)  # fmt: skip

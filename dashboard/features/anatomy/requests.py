"""What workers must compute for each part of the page *Anatomy*."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dashboard.features.anatomy.examples import GIVEN, HEADS, names
from dashboard.features.anatomy.state import LANDSCAPE, MASK, ROOT, STEP, Anatomy, missing
from dashboard.records.catalogue import Catalogue
from dashboard.records.request import Request, Scalar

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

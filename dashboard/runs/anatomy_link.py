"""The page *Anatomy* as a link: an example by its name, and what differs from it.

``?example=heads&scoring=gaussian&scoring.width=0.5&q=1,0/0,1:2,1/0,3&lengths=2,1&row=1``. The
numbers of a tensor stand in the link only where somebody changed them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from dashboard.runs import tensors
from dashboard.runs.anatomy_examples import DRAWN, EXAMPLES, Sizes, names
from dashboard.runs.anatomy_view import (
    AT_X,
    AT_Y,
    COUNT,
    DROPOUT,
    HEAD_COUNT,
    HIDDEN,
    PARTS,
    PER_QUERY,
    PER_ROW,
    SCORES,
    SCORES_SHAPE,
    SIZES,
    Anatomy,
    default_anatomy,
    editable,
    fitted,
    kinds_of,
    layouts,
    usual_lengths,
)
from dashboard.runs.link_parts import SEED, pairs, read_knobs, write_knobs
from dashboard.runs.offers import Catalogue, Knob, shown
from dashboard.runs.reader import Query, Reader, tidy

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")
_NONE = "none"
_SCORING = "scoring."
_SHARED = (HEAD_COUNT, HIDDEN, DROPOUT, SEED, COUNT, AT_X, AT_Y)
_INDICES = tuple(
    Knob(name=name, title=name.capitalize(), default=0, low=0, high=99)
    for name in ("row", "head", "query", "key", "column")
)


def parse_anatomy(query: Query, catalogue: Catalogue) -> tuple[Anatomy, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    reader = Reader(query)
    part = _one_of(reader, "part", PARTS, PARTS[0])
    usual = default_anatomy(catalogue, _one_of(reader, "example", tuple(EXAMPLES), DRAWN))
    view = replace(usual, part=part, sizes=_read_sizes(reader, usual))
    view = _read_scoring(reader, view, catalogue)
    if (layout := reader.take("layout")) is not None:
        if layout not in layouts(catalogue) and not _NAME.match(layout):
            reader.problem(f"layout={shown(layout)} is no name; {view.layout} is used")
        else:
            view = replace(view, layout=layout)
    view = replace(view, **_read_numbers(reader, usual))
    view = replace(view, lengths=usual_lengths(view, view.sizes))
    for name in "qkv":
        view = _read_tensor(reader, view, name)
    view = _read_lengths(reader, view, "lengths", view.lengths, view.sizes, kinds_of(view))
    view = _read_scores(reader, view)
    return fitted(view), reader.finish()


def format_anatomy(view: Anatomy, catalogue: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``, without what is at its default."""
    usual = default_anatomy(catalogue, view.example)
    link = {
        name: getattr(view, name)
        for name, default in (("part", PARTS[0]), ("example", DRAWN))
        if getattr(view, name) != default
    }
    sizes = dict(zip((knob.name for knob in SIZES), view.sizes, strict=True))
    if view.example == DRAWN:
        write_knobs(link, str, SIZES, pairs(sizes))
    _write_scoring(link, view, usual, catalogue)
    if view.layout != usual.layout:
        link["layout"] = view.layout
    knobs = _around(usual)
    write_knobs(link, str, knobs, pairs({knob.name: getattr(view, knob.name) for knob in knobs}))
    link |= {name: text for name in "qkv" if (text := getattr(view, name))}
    if view.lengths != usual_lengths(view, view.sizes):
        link["lengths"] = view.lengths or _NONE
    for name, default in (("scores", SCORES), ("per_row", PER_ROW), ("per_query", PER_QUERY)):
        if getattr(view, name) != default:
            link[name] = getattr(view, name) or _NONE
    return link


def _around(usual: Anatomy) -> tuple[Knob, ...]:
    """What is set by a number, with the example's own value as its default."""
    return tuple(replace(k, default=getattr(usual, k.name)) for k in (*_SHARED, *_INDICES))


def _one_of(reader: Reader, key: str, offered: tuple[str, ...], default: str) -> str:
    given = reader.take(key)
    if given is None or given in offered:
        return given or default
    reader.problem(f"{key}={shown(given)}: need one of {', '.join(offered)}, so {default} is used")
    return default


def _read_sizes(reader: Reader, usual: Anatomy) -> Sizes:
    if usual.example != DRAWN:
        return usual.sizes
    return Sizes(*(reader.knob(knob, knob.name) for knob in SIZES))


def _read_scoring(reader: Reader, view: Anatomy, catalogue: Catalogue) -> Anatomy:
    given = reader.take("scoring")
    if given is not None and not _NAME.match(given):
        reader.problem(f"scoring={shown(given)} is not a scoring's name; {view.scoring} is used")
        given = None
    scoring = given or view.scoring
    if scoring not in catalogue.scorings:
        foreign = reader.below(_SCORING)
        kept = {name: tidy(text) for name, text in foreign.items() if _NAME.match(name)}
        return replace(view, scoring=scoring, parameters=pairs(kept))
    knobs = catalogue.scorings[scoring].knobs
    values = read_knobs(reader, lambda name: _SCORING + name, knobs)
    return replace(view, scoring=scoring, parameters=values)


def _write_scoring(
    link: dict[str, str], view: Anatomy, usual: Anatomy, catalogue: Catalogue
) -> None:
    if view.scoring != usual.scoring:
        link["scoring"] = view.scoring
    if view.scoring not in catalogue.scorings:
        link.update({_SCORING + name: str(value) for name, value in view.parameters})
        return
    knobs = catalogue.scorings[view.scoring].knobs
    write_knobs(link, lambda name: _SCORING + name, knobs, view.parameters)


def _read_numbers(reader: Reader, usual: Anatomy) -> dict[str, int | float]:
    return {knob.name: reader.knob(knob, knob.name) for knob in _around(usual)}


def _read_tensor(reader: Reader, view: Anatomy, name: str) -> Anatomy:
    given = reader.take(name)
    if given is None:
        return view
    if name not in names(view.layout) or not editable(view, name):
        reader.problem(f"{name}: its numbers cannot be changed here, so the example's are used")
        return view
    try:
        text = tensors.write(tensors.read(given, view.sizes.of(name)))
    except tensors.TensorError as error:
        reader.problem(f"{name}={shown(given)}: {error}, so the example's numbers are used")
        return view
    return replace(view, **{name: text})


def _read_lengths(
    reader: Reader, view: Anatomy, key: str, default: str, sizes: Sequence[int], kinds: str
) -> Anatomy:
    given = reader.take(key)
    if given is None:
        return replace(view, **{key: default})
    try:
        read = "" if given == _NONE else tensors.read_lengths(given, *sizes[:2], kinds)
    except tensors.TensorError as error:
        reader.problem(f"{key}={shown(given)}: {error}, so {default or _NONE} is used")
        read = default
    return replace(view, **{key: read})


def _read_scores(reader: Reader, view: Anatomy) -> Anatomy:
    given = reader.take("scores")
    if given is not None:
        try:
            text = tensors.write(tensors.read(given, SCORES_SHAPE))
            view = replace(view, scores=text)
        except tensors.TensorError as error:
            reader.problem(f"scores={shown(given)}: {error}, so the textbook's are used")
    view = _read_lengths(reader, view, "per_row", PER_ROW, SCORES_SHAPE, "row")
    return _read_lengths(reader, view, "per_query", PER_QUERY, SCORES_SHAPE, "query")

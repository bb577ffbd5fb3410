"""The page *Heads*: its view, its link, the requests that it takes.

``/heads?a=transformer.scaled_dot&text=go .&off=cross.2.3,cross.2.4&uniform=encoder.1.all`` and
``&pin=cross.2.1:3>0&kind=decoder&sort=entropy&only=distance<0.1&map=2.3``. The sentence and the
model are written as on the page *Translation*, the changes as in :mod:`dashboard.runs.changes`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from dashboard.runs.changes import (
    ACTIONS,
    KINDS,
    MOST_CHANGES,
    Change,
    in_order,
    read_change,
    write_changes,
)
from dashboard.runs.link_parts import AUTO
from dashboard.runs.offers import Catalogue, Checkpoint, shown
from dashboard.runs.reader import Query, Reader
from dashboard.runs.request import Request
from dashboard.runs.translation_link import (
    SENTENCE,
    Translation,
    default_translation,
    format_translation,
    parse_translation,
    reference,
    translation_request,
)

EVERY_KIND = "all"
SHOWN_KINDS = (*KINDS, EVERY_KIND)
PLACE = "place"  # in the model: layer by layer
FIGURES = (
    "leave_one_out", "entropy", "eos", "stuckness", "diagonality", "distance", "padding",
    "row_error",
)  # fmt: skip
SORTS = (*FIGURES, PLACE)
FINDING, CHANGED = "finding", "changed"
LARGEST = 1e6  # of a filter's number

_OF_TRANSLATION = ("a", "text", "target", "corpus", "device")
_USUAL = "transformer.scaled_dot"
_ONLY = re.compile(rf"({'|'.join(FIGURES)})([<>])(-?[0-9]{{1,7}}(\.[0-9]{{1,9}})?)\Z")
_SPOT = re.compile(r"[1-9][0-9]?\.(mean|[1-9][0-9]?)\Z")


@dataclass(frozen=True, kw_only=True)
class Only:
    """Which heads are listed: those whose ``figure`` is at least (``>``) or at most ``number``.

    The figures :data:`FINDING` and :data:`CHANGED` take no sign: heads of which there is
    something to be said, and heads that are changed.
    """

    figure: str
    sign: str = ""
    number: float = 0.0

    def __str__(self) -> str:
        if not self.sign:
            return self.figure
        return f"{self.figure}{self.sign}{self.number:.9f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, kw_only=True)
class Heads:
    """What the page shows. ``spot`` is the map that is large, ``layer.head`` or ``layer.mean``."""

    checkpoint: str
    corpus: str = ""
    text: str = SENTENCE
    target: str = ""
    device: str = AUTO
    changes: tuple[Change, ...] = ()
    kind: str = KINDS[0]
    sort: str = SORTS[0]
    only: Only | None = None
    spot: str = ""


def default_heads(catalogue: Catalogue, corpus: str = "") -> Heads:
    """A Transformer of the corpus if there is one, since it has many heads."""
    corpus = corpus or default_translation(catalogue).corpus
    names = [reference(catalogue, c) for c in catalogue.checkpoints.values() if c.corpus == corpus]
    usual = default_translation(catalogue, corpus).panels
    chosen = _USUAL if _USUAL in names else next(iter(usual), "")
    return Heads(checkpoint=chosen, corpus=corpus)


def parse_heads(query: Query, catalogue: Catalogue) -> tuple[Heads, list[str]]:
    """The view that a link asks for, and a sentence on everything that was mended."""
    of_translation = {key: query[key] for key in _OF_TRANSLATION if key in query}
    said, problems = parse_translation(of_translation, catalogue)
    reader = Reader({key: value for key, value in query.items() if key not in of_translation})
    usual = default_heads(catalogue, said.corpus)
    named = "a" in query and len(said.panels) == 1
    view = replace(
        usual,
        checkpoint=said.panels[0] if named else usual.checkpoint,
        text=said.text,
        target=said.target,
        device=said.device,
        changes=_read_changes(reader),
        kind=_read_choice(reader, "kind", SHOWN_KINDS),
        sort=_read_choice(reader, "sort", SORTS),
        only=_read_only(reader),
        spot=_read_spot(reader),
    )
    return view, problems + reader.finish()


def format_heads(view: Heads, catalogue: Catalogue) -> dict[str, str]:
    """The parameters of the link to ``view``, without what is at its default."""
    usual = default_heads(catalogue, view.corpus)
    link = format_translation(_as_translation(view), catalogue)
    link.pop("a", None)
    if view.checkpoint != usual.checkpoint:
        link = {"a": view.checkpoint, **link}
    for action in ACTIONS:
        if own := [change.where for change in view.changes if change.action == action]:
            link[action] = ",".join(own)
    if view.kind != usual.kind:
        link["kind"] = view.kind
    if view.sort != usual.sort:
        link["sort"] = view.sort
    if view.only:
        link["only"] = str(view.only)
    if view.spot:
        link["map"] = view.spot
    return link


def heads_request(view: Heads, checkpoint: Checkpoint) -> Request:
    """The figures of every head; they do not depend on the changes."""
    return Request.make(
        "heads",
        data=checkpoint.name,
        options={"text": view.text, "target": view.target},
        device=view.device,
    )


def unchanged_request(view: Heads, checkpoint: Checkpoint) -> Request:
    """The translation as the model gives it, the same as on the page *Translation*."""
    return translation_request(_as_translation(view), checkpoint)


def changed_request(view: Heads, checkpoint: Checkpoint) -> Request:
    """The translation under the changes; the unchanged one where there are none."""
    request = unchanged_request(view, checkpoint)
    if not view.changes:
        return request
    options = dict(request.options) | {"changes": write_changes(view.changes)}
    return replace(request, options=tuple(sorted(options.items())))


def _as_translation(view: Heads) -> Translation:
    return Translation(
        panels=(view.checkpoint,), corpus=view.corpus, text=view.text, target=view.target,
        device=view.device,
    )  # fmt: skip


def _read_changes(reader: Reader) -> tuple[Change, ...]:
    found: list[Change] = []
    for action in ACTIONS:
        for part in (reader.take(action) or "").split(","):
            try:
                found += [read_change(action, part)] if part else []
            except ValueError as error:
                reader.problem(f"{action}={shown(part)}: {error}; ignored")
    if len(found) > MOST_CHANGES:
        reader.problem(f"{len(found):,} changes to heads; the first {MOST_CHANGES} are used")
    return in_order(found[:MOST_CHANGES])


def _read_choice(reader: Reader, key: str, offered: tuple[str, ...]) -> str:
    given = reader.take(key)
    if given is None or given in offered:
        return given or offered[0]
    reader.problem(
        f"{key}={shown(given)}: need one of {', '.join(offered)}, so {offered[0]} is used"
    )
    return offered[0]


def _read_only(reader: Reader) -> Only | None:
    given = reader.take("only")
    if given is None:
        return None
    if given in (FINDING, CHANGED):
        return Only(figure=given)
    found = _ONLY.match(given)
    if found and math.fabs(float(found[3])) <= LARGEST:
        return Only(figure=found[1], sign=found[2], number=float(found[3]))
    reader.problem(
        f"only={shown(given)}: need {FINDING}, {CHANGED}, or a figure and its bound such as "
        f"entropy>0.9 (figures: {', '.join(FIGURES)}); ignored"
    )
    return None


def _read_spot(reader: Reader) -> str:
    given = reader.take("map")
    if given is None or _SPOT.match(given):
        return given or ""
    reader.problem(f"map={shown(given)} is not a layer and a head such as 2.3 or 2.mean; ignored")
    return ""
